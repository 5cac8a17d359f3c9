// The JSON body of a write: read whole within its deadline and its 8 KiB, or refused.
import { ERRORS, type Refusal, refuse } from "../core/errors.ts";
import type { Call } from "./call.ts";

export const BODY_BYTES_MAX = 8_192;
/** A sender that drips is never silent; this is for the whole body. */
export const BODY_DEADLINE_MS = 10_000;

/** A body that was not read to its end would be taken for the next request. */
const CLOSE = { Connection: "close" };
const TOO_LARGE = refuse(ERRORS.payloadTooLarge, undefined, CLOSE);
const TOO_SLOW = refuse(ERRORS.invalidRequest, { details: { body: "did not arrive in time" } }, CLOSE);
/** For nobody: whoever sent it has hung up. */
const CUT_OFF = refuse(ERRORS.invalidRequest, { details: { body: "was cut off" } }, CLOSE);
const WRONG_TYPE = refuse(ERRORS.unsupportedMediaType);
const NO_JSON = refuse(ERRORS.invalidJson);
const JSON_TYPE = /^\s*application\/json\s*(?:;|$)/i;

export type JsonBody = { readonly json: unknown };

/** Undefined for a request without a body. */
export async function readJsonBody(call: Call): Promise<JsonBody | Refusal | undefined> {
  const { headers } = call.request;
  if (Number(headers.get("content-length") ?? 0) > BODY_BYTES_MAX) return TOO_LARGE;
  const bytes = await readBytes(call.request);
  if ("refused" in bytes) return bytes;
  const type = headers.get("content-type");
  const encoding = headers.get("content-encoding") ?? "identity";
  if (bytes.length === 0 && type === null) return undefined;
  if (type === null || !JSON_TYPE.test(type) || encoding.trim().toLowerCase() !== "identity")
    return WRONG_TYPE;
  try {
    return { json: JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)) as unknown };
  } catch {
    return NO_JSON;
  }
}

async function readBytes(request: Request): Promise<Uint8Array | Refusal> {
  if (!request.body) return new Uint8Array();
  const reader = request.body.getReader();
  const { promise: late, resolve } = Promise.withResolvers<"late">();
  const timer = setTimeout(() => resolve("late"), BODY_DEADLINE_MS);
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for (;;) {
      const read = await Promise.race([reader.read().catch(() => "gone" as const), late]);
      if (read === "late") return TOO_SLOW;
      if (read === "gone") return CUT_OFF;
      if (read.done) return Buffer.concat(chunks);
      size += read.value.length;
      if (size > BODY_BYTES_MAX) return TOO_LARGE;
      chunks.push(read.value);
    }
  } finally {
    clearTimeout(timer);
    reader.releaseLock();
  }
}
