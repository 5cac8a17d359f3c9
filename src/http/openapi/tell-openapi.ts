// GET /openapi.json: the document as text, made at the first request and kept with its ETag and its compressed form.
import { gzipSync } from "node:zlib";
import type { Handler } from "../call.ts";
import { isMatchingEtag } from "../conditional.ts";
import { wantsGzip } from "../read-server.ts";
import type { Route } from "../router.ts";

type Printed = {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly gzipped: Uint8Array<ArrayBuffer>;
  readonly etag: string;
};

export function createTellOpenApi(parts: {
  readonly listRoutes: () => readonly Route[];
  readonly version: string;
}): Handler {
  let printed: Promise<Printed> | undefined;

  async function print(): Promise<Printed> {
    // Loaded with the first reader: whoever only serves bots does not pay for it.
    const { buildDocument } = await import("./document.ts");
    const text = JSON.stringify(buildDocument(parts.listRoutes(), parts.version));
    const bytes = new TextEncoder().encode(text);
    return { bytes, gzipped: gzipSync(bytes), etag: `"${Bun.hash(text).toString(36)}"` };
  }

  return async (call) => {
    printed ??= print();
    const { bytes, gzipped, etag } = await printed.catch((error) => {
      // The next reader may have more luck: without descriptors, nothing can be loaded.
      printed = undefined;
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
  };
}
