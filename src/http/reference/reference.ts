// GET /docs: the API reference for people, from files of our own. Nothing is read before somebody asks for it, and the
// page may load and ask nothing but this server.
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { ERRORS, refuse } from "../../core/errors.ts";
import { answerRefusal } from "../answers.ts";
import type { Call, Handler } from "../call.ts";
import { isMatchingEtag } from "../conditional.ts";
import type { FindBuiltFile } from "../dashboard.ts";
import { answerNotice } from "../notice-page.ts";
import { ASK_AGAIN, KEEP_FOR_EVER, PAGE_HEADERS } from "../page-headers.ts";
import { wantsGzip } from "../read-server.ts";
import { PAGE, START_FILE, START_SCRIPT } from "./reference-page.ts";
import { SCALAR, SCALAR_FILE } from "./scalar-package.ts";

export type Reference = { readonly page: Handler; readonly file: Handler };

const NOT_FOUND = refuse(ERRORS.notFound);
const pack = promisify(gzip);

export function createReference(findFile: FindBuiltFile): Reference {
  /** Packed once, when the page is first opened. */
  let packed: Promise<Uint8Array<ArrayBuffer>> | undefined;

  /** Looked for each time: it may be fetched while Gatehouse runs. */
  async function findScalar(): Promise<Bun.BunFile | undefined> {
    const file = findFile(SCALAR_FILE);
    return (await file?.exists()) ? file : undefined;
  }

  async function answerScalar(call: Call): Promise<Response> {
    const scalar = await findScalar();
    if (!scalar) return answerRefusal(call, NOT_FOUND);
    const { headers: asked } = call.request;
    const etag = `"scalar-${SCALAR.version}"`;
    const headers = {
      ...PAGE_HEADERS,
      "Content-Type": "text/javascript; charset=utf-8",
      "Cache-Control": KEEP_FOR_EVER,
      Vary: "Accept-Encoding",
      ETag: etag,
    };
    if (isMatchingEtag(asked.get("if-none-match"), etag)) return new Response(null, { status: 304, headers });
    if (!wantsGzip(asked.get("accept-encoding") ?? "")) return new Response(scalar, { headers });
    packed ??= packFile(scalar).catch((error) => {
      // Without file descriptors the file cannot be read; the next request tries again.
      packed = undefined;
      throw error;
    });
    return new Response(await packed, { headers: { ...headers, "Content-Encoding": "gzip" } });
  }

  return {
    page: async (call) => {
      return (await findScalar()) ? answerText(call, PAGE, "text/html; charset=utf-8") : answerMissing();
    },
    file: (call) => {
      const { file } = call.target.params;
      if (file === START_FILE) return answerText(call, START_SCRIPT, "text/javascript; charset=utf-8");
      return file === SCALAR_FILE ? answerScalar(call) : answerRefusal(call, NOT_FOUND);
    },
  };
}

async function packFile(file: Blob): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await pack(await file.bytes()));
}

function answerMissing(): Response {
  return answerNotice("The API reference is missing", [
    "The program that shows it comes from npm and could not be downloaded. In the folder of Gatehouse, with a " +
      "connection to the internet, run <code>npm run reference</code>, then reload this page.",
    'Everything it would show is also in <a href="/openapi.json">openapi.json</a>. The API is not affected.',
  ]);
}

function answerText(call: Call, text: string, type: string): Response {
  const etag = `"${Bun.hash(text).toString(36)}"`;
  const headers = { ...PAGE_HEADERS, "Content-Type": type, "Cache-Control": ASK_AGAIN, ETag: etag };
  const isKnown = isMatchingEtag(call.request.headers.get("if-none-match"), etag);
  return isKnown ? new Response(null, { status: 304, headers }) : new Response(text, { headers });
}
