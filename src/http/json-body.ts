// Reads the body of a write, with a deadline and a maximum: 8 KiB for JSON.
import { ERRORS, type Refusal, refuse } from "../core/errors.ts";
import type { Call } from "./call.ts";

export const BODY_BYTES_MAX = 8_192;
export const BODY_DEADLINE_MS = 10_000;
/**
 * Part of a body that is too large is read and discarded before it is refused. A client that is still sending may otherwise
 * see a broken connection instead of the answer, and a proxy would turn that into a 502.
 */
const DISCARDED_BYTES_MAX = 16_777_216;
const DISCARD_MS = 500;

/** Closes the connection: the unread rest of a body would be taken for the next request. */
const CLOSE = { Connection: "close" };
const TOO_LARGE = refuse(ERRORS.payloadTooLarge, undefined, CLOSE);
const TOO_SLOW = refuse(ERRORS.invalidRequest, { details: { body: "did not arrive in time" } }, CLOSE);
/** Never arrives, because the client has disconnected. */
const CUT_OFF = refuse(ERRORS.invalidRequest, { details: { body: "was cut off" } }, CLOSE);
const WRONG_TYPE = refuse(ERRORS.unsupportedMediaType);
const INVALID_JSON = refuse(ERRORS.invalidJson);
const JSON_TYPE = /^\s*application\/json\s*(?:;|$)/i;

export type BodyLimits = {
  readonly bytesMax: number;
  /** For the whole body: a sender that drips single bytes never counts as idle. */
  readonly deadlineMs: number;
};

const JSON_LIMITS: BodyLimits = { bytesMax: BODY_BYTES_MAX, deadlineMs: BODY_DEADLINE_MS };

export type JsonBody = { readonly json: unknown };
type Reader = Pick<ReadableStreamDefaultReader<Uint8Array>, "read">;

/** Undefined for a request without a body. */
export async function readJsonBody(call: Call): Promise<JsonBody | Refusal | undefined> {
  const { headers } = call.request;
  const bytes = await readBody(call, JSON_LIMITS);
  if ("refused" in bytes) return bytes;
  const type = headers.get("content-type");
  const encoding = headers.get("content-encoding") ?? "identity";
  if (bytes.length === 0 && type === null) return undefined;
  if (type === null || !JSON_TYPE.test(type) || encoding.trim().toLowerCase() !== "identity")
    return WRONG_TYPE;
  try {
    return { json: JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)) as unknown };
  } catch {
    return INVALID_JSON;
  }
}

/** The bytes of the body; none for a request without one. */
export async function readBody({ request }: Call, limits: BodyLimits): Promise<Uint8Array | Refusal> {
  const bytes = await readBytes(request, Number(request.headers.get("content-length") ?? 0), limits);
  return "refused" in bytes || !(await isCutOff(request)) ? bytes : CUT_OFF;
}

/**
 * Whether the runtime has already answered 400 and closed the connection, as it does for trailers and for bytes after the body
 * that are not HTTP. It reports that one turn of the event loop later. A write that was answered 400 must not happen.
 */
async function isCutOff({ signal }: Request): Promise<boolean> {
  await new Promise((resolve) => setImmediate(resolve));
  return signal.aborted;
}

async function readBytes(
  request: Request,
  announced: number,
  { bytesMax, deadlineMs }: BodyLimits,
): Promise<Uint8Array | Refusal> {
  if (announced > DISCARDED_BYTES_MAX) return TOO_LARGE;
  if (!request.body) return new Uint8Array();
  const reader = request.body.getReader();
  if (announced > bytesMax) return refuseTooLarge(reader);
  const { promise: late, resolve } = Promise.withResolvers<"late">();
  const timer = setTimeout(() => resolve("late"), deadlineMs);
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for (;;) {
      const read = await Promise.race([reader.read().catch(() => "gone" as const), late]);
      if (read === "late") return TOO_SLOW;
      if (read === "gone") return CUT_OFF;
      if (read.done) return Buffer.concat(chunks);
      size += read.value.length;
      if (size > bytesMax) return await refuseTooLarge(reader);
      chunks.push(read.value);
    }
  } finally {
    clearTimeout(timer);
    reader.releaseLock();
  }
}

async function refuseTooLarge(reader: Reader): Promise<Refusal> {
  await Promise.race([discardBody(reader).catch(() => "gone"), Bun.sleep(DISCARD_MS)]);
  return TOO_LARGE;
}

async function discardBody(reader: Reader): Promise<void> {
  for (let left = DISCARDED_BYTES_MAX; left > 0; ) {
    const read = await reader.read();
    if (read.done) return;
    left -= read.value.length;
  }
}
