// GET /openapi.json: each document is built at its first request and cached as text, with its ETag and compressed.
import { gzipSync } from "node:zlib";
import Type from "typebox";
import type { Call } from "../call.ts";
import type { Definition } from "../operation.ts";
import { IF_NONE_MATCH } from "../requests/parameters.ts";
import type { Route } from "../router.ts";
import { isMatchingEtag } from "../sending/conditional.ts";
import { shareBody, wantsGzip } from "../sending/send-body.ts";
import { NO_SNIFFING } from "../web/page-headers.ts";
import type { HeaderName } from "./headers.ts";
import type { Audience } from "./introduction.ts";

/** A longer query is not parsed, so that it costs no time. */
const QUERY_LENGTH_MAX = 256;

const HEADERS: readonly HeaderName[] = ["ETag", "CacheControl", "Vary"];
const OpenApi = Type.Object(
  { openapi: Type.String({ pattern: "^3\\.1\\.\\d+$" }) },
  { additionalProperties: true, description: "An OpenAPI document" },
);

export const readOpenApi: Definition = {
  id: "tellOpenApi",
  tag: "Service",
  summary: "This document",
  description: "The same as a page for people is at `/docs`.",
  parameters: [
    {
      name: "for",
      in: "query",
      description:
        "`callers` leaves out what an API key gives no access to, signing in from a browser, and version 1. `facade` has the paths of the game API instead.",
      schema: Type.String(),
      example: "callers",
    },
    IF_NONE_MATCH,
  ],
  answers: {
    200: {
      description: "OpenAPI 3.1.",
      headers: HEADERS,
      schema: OpenApi,
      examples: { beginning: { summary: "Its beginning", value: { openapi: "3.1.1" } } },
    },
    304: { description: "You have the newest one.", headers: HEADERS },
  },
};

type RenderedDocument = {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly gzipped: Uint8Array<ArrayBuffer>;
  readonly etag: string;
};

export class OpenApiHandler {
  readonly #rendered = new Map<Audience, Promise<RenderedDocument>>();

  /** With the audience "callers" nobody is told about what is for operators. */
  constructor(
    private readonly version: string,
    private readonly audience: Audience = "everybody",
  ) {}

  /** Describes the given routes, which must be the same in every call. */
  async answer(call: Call, routes: readonly Route[]): Promise<Response> {
    const audience = findAudience(call.target.query) ?? this.audience;
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
    if (isMatchingEtag(requested.get("if-none-match"), etag)) return new Response(null, { status: 304, headers });
    if (!wantsGzip(requested.get("accept-encoding") ?? "")) return new Response(shareBody(bytes), { headers });
    return new Response(shareBody(gzipped), { headers: { ...headers, "Content-Encoding": "gzip" } });
  }

  async #render(routes: readonly Route[], audience: Audience): Promise<RenderedDocument> {
    // Loaded with the first request, because most instances never need it.
    const { buildDocument } = await import("./document.ts");
    const text = JSON.stringify(buildDocument(routes, this.version, audience));
    const bytes = new TextEncoder().encode(text);
    return { bytes, gzipped: gzipSync(bytes), etag: `"${Bun.hash(text).toString(36)}"` };
  }
}

function findAudience(query: string): Audience | undefined {
  const asked = query.length <= QUERY_LENGTH_MAX ? new URLSearchParams(query).get("for") : null;
  return asked === "callers" || asked === "facade" ? asked : undefined;
}
