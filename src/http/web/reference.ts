// GET /docs: the API reference for people. Its files are read with the first request, and the page may load from and call
// only this server.
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { ERRORS, refuse } from "../../core/errors.ts";
import type { MaybePromise } from "../../core/maybe-promise.ts";
import { answerRefusal } from "../answers.ts";
import type { Call } from "../call.ts";
import { isMatchingEtag } from "../sending/conditional.ts";
import { shareBody, wantsGzip } from "../sending/send-body.ts";
import type { FindBuiltFile } from "./dashboard.ts";
import { answerNotice, CACHE_FOR_EVER, PAGE_HEADERS, REVALIDATE } from "./page-headers.ts";
import { SCALAR, SCALAR_FILE } from "./scalar-package.ts";

const NOT_FOUND = refuse(ERRORS.notFound);
const compress = promisify(gzip);

export class ReferenceHandlers {
  /** Compressed once, when the page is first opened. */
  #gzipped: Promise<Uint8Array<ArrayBuffer>> | undefined;

  constructor(private readonly findFile: FindBuiltFile) {}

  async answerPage(call: Call): Promise<Response> {
    const scalar = await this.#findScalar();
    return scalar ? answerText(call, PAGE, "text/html; charset=utf-8") : answerMissing();
  }

  answerFile(call: Call): MaybePromise<Response> {
    const { file } = call.target.params;
    if (file === START_FILE) return answerText(call, START_SCRIPT, "text/javascript; charset=utf-8");
    return file === SCALAR_FILE ? this.#answerScalar(call) : answerRefusal(call, NOT_FOUND);
  }

  /** Looked up for each request, because it may be fetched while Gatehouse runs. */
  async #findScalar(): Promise<Bun.BunFile | undefined> {
    const file = this.findFile(SCALAR_FILE);
    return (await file?.exists()) ? file : undefined;
  }

  async #answerScalar(call: Call): Promise<Response> {
    const scalar = await this.#findScalar();
    if (!scalar) return answerRefusal(call, NOT_FOUND);
    const { headers: requested } = call.request;
    const etag = `"scalar-${SCALAR.version}"`;
    const headers = {
      ...PAGE_HEADERS,
      "Content-Type": "text/javascript; charset=utf-8",
      "Cache-Control": CACHE_FOR_EVER,
      Vary: "Accept-Encoding",
      ETag: etag,
    };
    if (isMatchingEtag(requested.get("if-none-match"), etag)) {
      return new Response(null, { status: 304, headers });
    }
    if (!wantsGzip(requested.get("accept-encoding") ?? "")) return new Response(scalar, { headers });
    this.#gzipped ??= compressFile(scalar).catch((error) => {
      // Without file descriptors the file cannot be read; the next request tries again.
      this.#gzipped = undefined;
      throw error;
    });
    return new Response(shareBody(await this.#gzipped), { headers: { ...headers, "Content-Encoding": "gzip" } });
  }
}

async function compressFile(file: Blob): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await compress(await file.bytes()));
}

function answerMissing(): Response {
  return answerNotice("The API reference is missing", [
    "The program that shows it comes from npm. The first start downloads it, which takes a moment: reload this page. If it " +
      "stays missing, run <code>npm run reference</code> in the folder of Gatehouse, with a connection to the internet.",
    'Everything it would show is also in <a href="/openapi.json">openapi.json</a>. The API is not affected.',
  ]);
}

function answerText(call: Call, text: string, type: string): Response {
  const etag = `"${Bun.hash(text).toString(36)}"`;
  const headers = { ...PAGE_HEADERS, "Content-Type": type, "Cache-Control": REVALIDATE, ETag: etag };
  const isKnown = isMatchingEtag(call.request.headers.get("if-none-match"), etag);
  return isKnown ? new Response(null, { status: 304, headers }) : new Response(text, { headers });
}

export const START_FILE = "start.js";

export const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Gatehouse API reference</title>
<link rel="icon" href="data:,">
</head>
<body>
<div id="reference"></div>
<noscript>This page needs JavaScript. The same is in <a href="/openapi.json">openapi.json</a>.</noscript>
<script src="/docs/${SCALAR_FILE}"></script>
<script src="/docs/${START_FILE}"></script>
</body>
</html>
`;

/** Switches off everything that would call another host. Keys are kept in the page's memory only. */
export const START_SCRIPT = `Scalar.createApiReference("#reference", {
  url: "/openapi.json",
  baseServerURL: location.origin,
  pageTitle: "Gatehouse API reference",
  withDefaultFonts: false,
  telemetry: false,
  proxyUrl: "",
  agent: { disabled: true },
  mcp: { disabled: true },
  persistAuth: false,
  showDeveloperTools: "never",
  hideClientButton: true,
  documentDownloadType: "json",
  operationTitleSource: "summary",
  defaultOpenFirstTag: true,
});
`;
