// Sends bodies that may be large or are shared by many answers: compressed when that is asked for and saves something.
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { ERRORS, refuse } from "../../core/errors.ts";
import { memoize } from "../../core/memoize.ts";
import { type Body, GZIP_MIN_BYTES } from "../../gateway/body.ts";
import type { LimitReport } from "../../gateway/keys/admit.ts";
import { answerRefusal, respond } from "../answers.ts";
import type { Call } from "../call.ts";
import { ACCEPT_ENCODING_LENGTH_MAX, acceptsGzip } from "./conditional.ts";
import type { UnsentAnswers } from "./unsent-answers.ts";

/** For smaller bodies it makes little difference. */
export const SHARED_BYTES_MIN = 2_048;

const blobs = new WeakMap<Uint8Array, Blob>();

/**
 * The same blob for the same array; a small array as it is. The runtime copies an array for each answer, and then collects
 * garbage several times as often; a blob is copied once.
 */
export function shareBody(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> | Blob {
  if (bytes.length < SHARED_BYTES_MIN) return bytes;
  const shared = blobs.get(bytes);
  if (shared) return shared;
  const blob = new Blob([bytes]);
  blobs.set(bytes, blob);
  return blob;
}

/** Up to this size the runtime sends the headers and body of an asynchronous answer together. */
const SENT_TOGETHER_BYTES_MAX = 15_000;
/** Up to this size a streamed body fits into the socket's buffer. The runtime must know the length of a larger one. */
const STREAMED_BYTES_MAX = 32_768;
/** Readers that stop reading are cut after 10 seconds or a little more. */
export const TOO_MUCH_UNSENT = refuse(ERRORS.unavailable, { retry_after: 5 }, { "Retry-After": "5" });

/** Cached, because clients send the same few values again and again. */
export const wantsGzip = memoize(acceptsGzip, 200, ACCEPT_ENCODING_LENGTH_MAX);

/** The compressed form of the body. Null when the client does not accept it, or it saves nothing. */
export function findGzipped(requested: Headers, body: Body): Uint8Array<ArrayBuffer> | null {
  const isPacked = body.isCompressible && wantsGzip(requested.get("accept-encoding") ?? "");
  return isPacked ? body.gzipped : null;
}

/**
 * The bytes as the runtime gets them, counted for the key until they are sent. Undefined means that too much is unsent already:
 * answer with TOO_MUCH_UNSENT.
 */
export function toPayload(
  call: Call,
  bytes: Uint8Array<ArrayBuffer>,
  keyId: string,
  unsent: Pick<UnsentAnswers, "add">,
): Uint8Array<ArrayBuffer> | Blob | ReadableStream | undefined {
  const isHead = call.request.method === "HEAD";
  const isStreamed = call.isAsync && bytes.length > SENT_TOGETHER_BYTES_MAX && bytes.length <= STREAMED_BYTES_MAX;
  if (isStreamed && !isHead) return streamBytes(bytes);
  const payload = shareBody(bytes);
  const isCounted = !isHead && payload instanceof Blob;
  return isCounted && !unsent.add(call, keyId, payload) ? undefined : payload;
}

/**
 * Works around a slow path of the runtime: it sends the headers of a larger asynchronous answer in many small packets, unless
 * the body is a stream. The cost is a chunked answer instead of one with Content-Length.
 */
function streamBytes(bytes: Uint8Array<ArrayBuffer>): ReadableStream {
  return new ReadableStream({
    type: "direct",
    pull(controller) {
      controller.write(bytes);
      controller.end();
    },
  });
}

const gzipLater = promisify(gzip);
const encoder = new TextEncoder();

/** `keyId` is undefined for an operator, `report` is null when the request did not count. */
export type PackedReader = { readonly keyId: string | undefined; readonly report: LimitReport | null };

/** Answers with a JSON text that is made for one reader and may be large. */
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
