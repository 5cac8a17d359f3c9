// GET /openapi.json: each document is built at its first request and cached as text, with its ETag and compressed.
import { gzipSync } from "node:zlib";
import type { Call } from "../call.ts";
import { isMatchingEtag } from "../conditional.ts";
import { NO_SNIFFING } from "../page-headers.ts";
import type { Route } from "../router.ts";
import { wantsGzip } from "../send-body.ts";
import { shareBody } from "../share-body.ts";
import type { Audience } from "./operation.ts";

/** A longer query is not parsed, so that it costs no time. */
const QUERY_LENGTH_MAX = 256;

type RenderedDocument = {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly gzipped: Uint8Array<ArrayBuffer>;
  readonly etag: string;
};

export class OpenApiHandler {
  readonly #version: string;
  readonly #audience: Audience;
  readonly #rendered = new Map<Audience, Promise<RenderedDocument>>();

  /** With the audience "callers" nobody is told about what is for operators. */
  constructor(version: string, audience: Audience = "everybody") {
    this.#version = version;
    this.#audience = audience;
  }

  /** Describes the given routes, which must be the same in every call. */
  async answer(call: Call, routes: readonly Route[]): Promise<Response> {
    const audience = isForCallers(call.target.query) ? "callers" : this.#audience;
    const rendering = this.#rendered.get(audience) ?? this.#render(routes, audience);
    this.#rendered.set(audience, rendering);
    const { bytes, gzipped, etag } = await rendering.catch((error) => {
      // Retried with the next request: loading fails while there are no file descriptors.
      this.#rendered.delete(audience);
      throw error;
    });
    const { headers: requested } = call.request;
    const headers = {
      "Content-Type": "application/json",
      "Cache-Control": "public, no-cache",
      ...NO_SNIFFING,
      Vary: "Accept-Encoding",
      ETag: etag,
    };
    if (isMatchingEtag(requested.get("if-none-match"), etag))
      return new Response(null, { status: 304, headers });
    if (!wantsGzip(requested.get("accept-encoding") ?? ""))
      return new Response(shareBody(bytes), { headers });
    return new Response(shareBody(gzipped), { headers: { ...headers, "Content-Encoding": "gzip" } });
  }

  async #render(routes: readonly Route[], audience: Audience): Promise<RenderedDocument> {
    // Loaded with the first request, because most instances never need it.
    const { buildDocument } = await import("./document.ts");
    const text = JSON.stringify(buildDocument(routes, this.#version, audience));
    const bytes = new TextEncoder().encode(text);
    return { bytes, gzipped: gzipSync(bytes), etag: `"${Bun.hash(text).toString(36)}"` };
  }
}

function isForCallers(query: string): boolean {
  return query.length <= QUERY_LENGTH_MAX && new URLSearchParams(query).get("for") === "callers";
}
