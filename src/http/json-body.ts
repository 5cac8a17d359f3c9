// The JSON body of a write: read whole within its deadline and its 8 KiB, or refused.
import { ERRORS, type Refusal, refuse } from "../core/errors.ts";
import type { Call } from "./call.ts";

export const BODY_BYTES_MAX = 8_192;
/** A sender that drips is never silent; this is for the whole body. */
export const BODY_DEADLINE_MS = 10_000;
/**
 * Who is refused while still sending may see a broken connection instead of the answer, and a proxy makes a 502 of it:
 * so much of what is too large is read away first, for so long.
 */
const READ_AWAY_BYTES_MAX = 16_777_216;
const READ_AWAY_MS = 500;

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
type Reader = Pick<ReadableStreamDefaultReader<Uint8Array>, "read">;

/** Undefined for a request without a body. */
export async function readJsonBody(call: Call): Promise<JsonBody | Refusal | undefined> {
  const { headers } = call.request;
  const bytes = await readBytes(call.request, Number(headers.get("content-length") ?? 0));
  if ("refused" in bytes) return bytes;
  if (await isCutOff(call.request)) return CUT_OFF;
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

/**
 * Bytes behind the body that are no HTTP, or trailers, make the runtime answer 400 and hang up, and it tells us only in its
 * next turn. Whoever got that answer must be able to rely on it.
 */
async function isCutOff({ signal }: Request): Promise<boolean> {
  await new Promise((resolve) => setImmediate(resolve));
  return signal.aborted;
}

async function readBytes(request: Request, announced: number): Promise<Uint8Array | Refusal> {
  if (announced > READ_AWAY_BYTES_MAX) return TOO_LARGE;
  if (!request.body) return new Uint8Array();
  const reader = request.body.getReader();
  if (announced > BODY_BYTES_MAX) return refuseTooLarge(reader);
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
      if (size > BODY_BYTES_MAX) return await refuseTooLarge(reader);
      chunks.push(read.value);
    }
  } finally {
    clearTimeout(timer);
    reader.releaseLock();
  }
}

async function refuseTooLarge(reader: Reader): Promise<Refusal> {
  await Promise.race([readAway(reader).catch(() => "gone"), Bun.sleep(READ_AWAY_MS)]);
  return TOO_LARGE;
}

async function readAway(reader: Reader): Promise<void> {
  for (let left = READ_AWAY_BYTES_MAX; left > 0; ) {
    const read = await reader.read();
    if (read.done) return;
    left -= read.value.length;
  }
}
