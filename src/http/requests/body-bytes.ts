// Reads the bytes of a body, with a maximum and a deadline.
import { ERRORS, type Refusal, refuse } from "../../core/errors.ts";
import type { Call } from "../call.ts";

export const BODY_DEADLINE_MS = 10_000;
/** The runtime counts idle time from the beginning of the request, in steps of 4 s, and would cut a slow body unanswered. */
const IDLE_MARGIN_MS = 4_000;
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
export const CUT_OFF = refuse(ERRORS.invalidRequest, { details: { body: "was cut off" } }, CLOSE);
export const NO_ROOM = refuse(ERRORS.unavailable, { retry_after: 1 }, { ...CLOSE, "Retry-After": "1" });

export type BodyLimits = {
  readonly bytesMax: number;
  /** For the whole body: a sender that drips single bytes never counts as idle. */
  readonly deadlineMs: number;
};

type Reader = Pick<ReadableStreamDefaultReader<Uint8Array>, "read">;

/** Where the bytes of a body that is being read are counted. */
export type ByteHold = {
  /** Called with the size of each piece. */
  take(bytes: number): void;
  /** Resolves when the bytes must be given up, to make room for others. */
  readonly givenUp: Promise<"given up">;
};

/** Counts nothing and keeps nothing: for a body that is refused anyway, unless it is too large. */
export const KEEP_NOTHING: unique symbol = Symbol("keep nothing");

/**
 * Whether the runtime has already answered 400 and closed the connection, as it does for trailers and for bytes after the body
 * that are not HTTP. It reports that one turn of the event loop later. A write that was answered 400 must not happen.
 */
export async function isCutOff({ signal }: Request): Promise<boolean> {
  await new Promise((resolve) => setImmediate(resolve));
  return signal.aborted;
}

/** The whole body; empty for a request without one. What comes after it is judged by the time of then. */
export async function readBody(call: Call, limits: BodyLimits): Promise<Uint8Array | Refusal> {
  const bytes = await readBytes(call, limits);
  call.readClock();
  return "refused" in bytes || !(await isCutOff(call.request)) ? bytes : CUT_OFF;
}

/** With KEEP_NOTHING the result is empty. */
export async function readBytes(
  call: Call,
  { bytesMax, deadlineMs }: BodyLimits,
  hold?: ByteHold | typeof KEEP_NOTHING,
): Promise<Uint8Array | Refusal> {
  const { request } = call;
  const announced = Number(request.headers.get("content-length") ?? 0);
  if (announced > DISCARDED_BYTES_MAX) return TOO_LARGE;
  if (!request.body) return new Uint8Array();
  const reader = request.body.getReader();
  if (announced > bytesMax) return refuseTooLarge(reader);
  const { promise: late, resolve } = Promise.withResolvers<"late">();
  const timer = setTimeout(() => resolve("late"), deadlineMs);
  const ends: Promise<"late" | "given up">[] = [late];
  if (typeof hold === "object") ends.push(hold.givenUp);
  const chunks: Uint8Array[] = [];
  let size = 0;
  call.extendIdleTimeout(deadlineMs + IDLE_MARGIN_MS);
  try {
    for (;;) {
      const read = await Promise.race([reader.read().catch(() => "gone" as const), ...ends]);
      if (read === "late") return TOO_SLOW;
      if (read === "given up") return NO_ROOM;
      if (read === "gone") return CUT_OFF;
      if (read.done) return Buffer.concat(chunks);
      size += read.value.length;
      if (size > bytesMax) return await refuseTooLarge(reader);
      if (hold === KEEP_NOTHING) continue;
      chunks.push(read.value);
      hold?.take(read.value.length);
    }
  } finally {
    clearTimeout(timer);
    call.resetIdleTimeout();
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
