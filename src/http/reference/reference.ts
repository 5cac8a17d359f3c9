// GET /docs: the API reference for people, from files of our own. Nothing is read before somebody asks for it, and the
// page may load and ask nothing but this server.
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { ERRORS, refuse } from "../../core/errors.ts";
import { answerRefusal } from "../answers.ts";
import type { Call, Handler } from "../call.ts";
import { isMatchingEtag } from "../conditional.ts";
import { ASK_AGAIN, KEEP_FOR_EVER, PAGE_HEADERS } from "../page-headers.ts";
import { wantsGzip } from "../read-server.ts";
import { PAGE, SCALAR_FILE, START_FILE, START_SCRIPT } from "./reference-page.ts";
import { findScalarPath, SCALAR_VERSION } from "./scalar-file.ts";

export type Reference = { readonly page: Handler; readonly file: Handler };

const NOT_FOUND = refuse(ERRORS.notFound);

export const reference: Reference = {
  page: (call) => answerText(call, PAGE, "text/html; charset=utf-8"),
  file: (call) => {
    const { file } = call.target.params;
    if (file === START_FILE) return answerText(call, START_SCRIPT, "text/javascript; charset=utf-8");
    return file === SCALAR_FILE ? answerScalar(call) : answerRefusal(call, NOT_FOUND);
  },
};

function answerText(call: Call, text: string, type: string): Response {
  const etag = `"${Bun.hash(text).toString(36)}"`;
  const headers = { ...PAGE_HEADERS, "Content-Type": type, "Cache-Control": ASK_AGAIN, ETag: etag };
  const isKnown = isMatchingEtag(call.request.headers.get("if-none-match"), etag);
  return isKnown ? new Response(null, { status: 304, headers }) : new Response(text, { headers });
}

async function answerScalar(call: Call): Promise<Response> {
  const { headers: asked } = call.request;
  const etag = `"scalar-${SCALAR_VERSION}"`;
  const headers = {
    ...PAGE_HEADERS,
    "Content-Type": "text/javascript; charset=utf-8",
    "Cache-Control": KEEP_FOR_EVER,
    Vary: "Accept-Encoding",
    ETag: etag,
  };
  if (isMatchingEtag(asked.get("if-none-match"), etag)) return new Response(null, { status: 304, headers });
  if (!wantsGzip(asked.get("accept-encoding") ?? "")) {
    return new Response(Bun.file(await findScalarPath()), { headers });
  }
  packedScalar ??= packScalar();
  return new Response(await packedScalar, { headers: { ...headers, "Content-Encoding": "gzip" } });
}

/** Packed once, when the page is first opened. */
let packedScalar: Promise<Uint8Array<ArrayBuffer>> | undefined;
const pack = promisify(gzip);

async function packScalar(): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await pack(await Bun.file(await findScalarPath()).bytes()));
}
