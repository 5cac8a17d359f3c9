// What answers with a body share: whether it goes out compressed, how the runtime gets it, and when too much is unsent.
import { ERRORS, refuse } from "../core/errors.ts";
import { memoize } from "../core/memoize.ts";
import type { Body } from "../gateway/body.ts";
import type { Call } from "./call.ts";
import { ACCEPT_ENCODING_LENGTH_MAX, acceptsGzip } from "./conditional.ts";
import { shareBody } from "./share-body.ts";
import type { UnsentAnswers } from "./unsent-answers.ts";

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
  const isStreamed =
    call.isAsync && bytes.length > SENT_TOGETHER_BYTES_MAX && bytes.length <= STREAMED_BYTES_MAX;
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
