// Answers with a JSON text that is made for one reader and may be large: compressed when that is asked for and saves something.
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { GZIP_MIN_BYTES } from "../gateway/body.ts";
import type { LimitReport } from "../gateway/keys/admit.ts";
import { answerRefusal, respond } from "./answers.ts";
import type { Call } from "./call.ts";
import { TOO_MUCH_UNSENT, toPayload, wantsGzip } from "./send-body.ts";
import type { UnsentAnswers } from "./unsent-answers.ts";

const gzipLater = promisify(gzip);
const encoder = new TextEncoder();

/** `keyId` is undefined for an operator, `report` is null when the request did not count. */
export type PackedReader = { readonly keyId: string | undefined; readonly report: LimitReport | null };

export async function answerPacked(
  call: Call,
  json: string,
  { keyId, report }: PackedReader,
  unsent: Pick<UnsentAnswers, "add">,
): Promise<Response> {
  const bytes = encoder.encode(json);
  const packed = await pack(call, bytes);
  const payload = toPayload(call, packed ?? bytes, keyId ?? "", unsent);
  if (!payload) return answerRefusal(call, TOO_MUCH_UNSENT, report);
  const response = respond(payload, 200, report);
  response.headers.set("Vary", "Accept-Encoding");
  if (packed) response.headers.set("Content-Encoding", "gzip");
  return response;
}

/** Undefined when it is not asked for, or saves nothing. */
async function pack(call: Call, bytes: Uint8Array): Promise<Uint8Array<ArrayBuffer> | undefined> {
  if (bytes.length < GZIP_MIN_BYTES) return undefined;
  if (!wantsGzip(call.request.headers.get("accept-encoding") ?? "")) return undefined;
  // Outside of the event loop's thread: every answer is another one, and may be large.
  const packed = new Uint8Array(await gzipLater(bytes));
  return packed.length < bytes.length ? packed : undefined;
}
