// GET /openapi.json: the document as text, built at the first request and kept with its ETag and its compressed form.
import { gzipSync } from "node:zlib";
import type { Call } from "../call.ts";
import { isMatchingEtag } from "../conditional.ts";
import { wantsGzip } from "../read-server.ts";
import type { Route } from "../router.ts";

type Printed = {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly gzipped: Uint8Array<ArrayBuffer>;
  readonly etag: string;
};

export class OpenApiHandler {
  readonly #version: string;
  #printed: Promise<Printed> | undefined;

  constructor(version: string) {
    this.#version = version;
  }

  /** Describes the given routes; they are always the same. */
  async answer(call: Call, routes: readonly Route[]): Promise<Response> {
    this.#printed ??= this.#print(routes);
    const { bytes, gzipped, etag } = await this.#printed.catch((error) => {
      // Try again for the next reader: without file descriptors nothing can be loaded.
      this.#printed = undefined;
      throw error;
    });
    const { headers: asked } = call.request;
    const headers = {
      "Content-Type": "application/json",
      "Cache-Control": "public, no-cache",
      Vary: "Accept-Encoding",
      ETag: etag,
    };
    if (isMatchingEtag(asked.get("if-none-match"), etag)) return new Response(null, { status: 304, headers });
    if (!wantsGzip(asked.get("accept-encoding") ?? "")) return new Response(bytes, { headers });
    return new Response(gzipped, { headers: { ...headers, "Content-Encoding": "gzip" } });
  }

  async #print(routes: readonly Route[]): Promise<Printed> {
    // Loaded with the first reader: an instance that only serves bots never needs it.
    const { buildDocument } = await import("./document.ts");
    const text = JSON.stringify(buildDocument(routes, this.#version));
    const bytes = new TextEncoder().encode(text);
    return { bytes, gzipped: gzipSync(bytes), etag: `"${Bun.hash(text).toString(36)}"` };
  }
}
