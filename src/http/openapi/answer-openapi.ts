// GET /openapi.json: the document is built at the first request and cached as text, with its ETag and compressed.
import { gzipSync } from "node:zlib";
import type { Call } from "../call.ts";
import { isMatchingEtag } from "../conditional.ts";
import { wantsGzip } from "../read-server.ts";
import type { Route } from "../router.ts";
import { shareLargeBody } from "../share-large-body.ts";

type RenderedDocument = {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly gzipped: Uint8Array<ArrayBuffer>;
  readonly etag: string;
};

export class OpenApiHandler {
  readonly #version: string;
  #rendered: Promise<RenderedDocument> | undefined;

  constructor(version: string) {
    this.#version = version;
  }

  /** Describes the given routes, which must be the same in every call. */
  async answer(call: Call, routes: readonly Route[]): Promise<Response> {
    this.#rendered ??= this.#render(routes);
    const { bytes, gzipped, etag } = await this.#rendered.catch((error) => {
      // Retried with the next request: loading fails while there are no file descriptors.
      this.#rendered = undefined;
      throw error;
    });
    const { headers: requested } = call.request;
    const headers = {
      "Content-Type": "application/json",
      "Cache-Control": "public, no-cache",
      Vary: "Accept-Encoding",
      ETag: etag,
    };
    if (isMatchingEtag(requested.get("if-none-match"), etag))
      return new Response(null, { status: 304, headers });
    if (!wantsGzip(requested.get("accept-encoding") ?? ""))
      return new Response(shareLargeBody(bytes), { headers });
    return new Response(shareLargeBody(gzipped), { headers: { ...headers, "Content-Encoding": "gzip" } });
  }

  async #render(routes: readonly Route[]): Promise<RenderedDocument> {
    // Loaded with the first request, because most instances never need it.
    const { buildDocument } = await import("./document.ts");
    const text = JSON.stringify(buildDocument(routes, this.#version));
    const bytes = new TextEncoder().encode(text);
    return { bytes, gzipped: gzipSync(bytes), etag: `"${Bun.hash(text).toString(36)}"` };
  }
}
