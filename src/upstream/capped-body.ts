// Reads the body of an answer that is not trusted: limits the bytes that arrive and the bytes that unpacking makes, and
// unpacks in chunks on another thread. Nothing here knows the game API, so any outgoing call can use it.
import type { Transform } from "node:stream";
import {
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
  constants as zlib,
} from "node:zlib";

/** What a caller of `fetchPacked` can read. */
const ACCEPTED_ENCODINGS = "gzip, deflate, br, zstd";
/** At most this much is unpacked at a time. */
const CHUNK_BYTES = 64 * 1024;
/** The largest window that zstd may use over HTTP, 8 MiB (RFC 9659). The decoder's own maximum is 128 MiB. */
const ZSTD_WINDOW_LOG_MAX = 23;

export type CappedBody = { readonly text: string } | { readonly problem: "too-large" | "unknown-encoding" | "damaged" };

/** Like fetch, but leaves the body packed: the runtime would unpack it without a limit. Read it with `readCappedText`. */
export function fetchPacked(url: string, init: BunFetchRequestInit): Promise<Response> {
  const headers = new Headers(init.headers);
  if (!headers.has("accept-encoding")) headers.set("accept-encoding", ACCEPTED_ENCODINGS);
  return fetch(url, { ...init, headers, decompress: false });
}

/**
 * The body as text, if it has at most `maxBytes`, packed and unpacked. Stops at the first chunk beyond that. Rejects when the
 * connection breaks or `signal` is aborted.
 */
export async function readCappedText(response: Response, maxBytes: number, signal: AbortSignal): Promise<CappedBody> {
  const encoding = (response.headers.get("content-encoding") ?? "").trim().toLowerCase();
  const isPacked = encoding !== "" && encoding !== "identity";
  if (isPacked && !UNPACKERS.has(encoding)) {
    await response.body?.cancel();
    return { problem: "unknown-encoding" };
  }
  if (!response.body) return { text: "" };
  if (!isPacked) {
    // Reading a short body at once takes a fraction of the time.
    if (readLength(response.headers) <= maxBytes) return { text: await response.text() };
    return decodeText(response.body, maxBytes);
  }
  const packed = await collectBytes(response.body, maxBytes);
  if (!packed) return { problem: "too-large" };
  if (packed.length === 0) return { text: "" };
  return unpackText(encoding, packed, maxBytes, signal);
}

/** NaN when no length holds: in chunks a body may have more bytes than it says. */
function readLength(headers: Headers): number {
  return headers.has("transfer-encoding") ? Number.NaN : Number(headers.get("content-length") ?? Number.NaN);
}

const UNPACKERS: ReadonlyMap<string, (packed: Uint8Array) => Transform> = new Map([
  ["gzip", openGunzip],
  ["x-gzip", openGunzip],
  ["deflate", openInflate],
  ["br", () => createBrotliDecompress({ chunkSize: CHUNK_BYTES })],
  ["zstd", openZstd],
]);

function openGunzip(): Transform {
  return createGunzip({ chunkSize: CHUNK_BYTES });
}

/** Some servers leave out the zlib header, which begins with the method 8. */
function openInflate(packed: Uint8Array): Transform {
  const hasHeader = ((packed[0] ?? 0) & 0x0f) === 8;
  return hasHeader ? createInflate({ chunkSize: CHUNK_BYTES }) : createInflateRaw({ chunkSize: CHUNK_BYTES });
}

function openZstd(): Transform {
  const params = { [zlib.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG_MAX };
  return createZstdDecompress({ chunkSize: CHUNK_BYTES, params });
}

/** Undefined when there are more bytes; the rest is not read. */
async function collectBytes(chunks: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Uint8Array | undefined> {
  const collected: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.byteLength;
    if (size > maxBytes) return undefined;
    collected.push(chunk);
  }
  return Buffer.concat(collected);
}

async function decodeText(chunks: AsyncIterable<Uint8Array>, maxBytes: number): Promise<CappedBody> {
  const decoder = new TextDecoder();
  let size = 0;
  let text = "";
  for await (const chunk of chunks) {
    size += chunk.byteLength;
    if (size > maxBytes) return { problem: "too-large" };
    text += decoder.decode(chunk, { stream: true });
  }
  return { text: text + decoder.decode() };
}

async function unpackText(
  encoding: string,
  packed: Uint8Array,
  maxBytes: number,
  signal: AbortSignal,
): Promise<CappedBody> {
  const unpacker = UNPACKERS.get(encoding)?.(packed);
  if (!unpacker) return { problem: "unknown-encoding" };
  const cancel = () => unpacker.destroy();
  signal.addEventListener("abort", cancel, { once: true });
  try {
    unpacker.end(packed);
    const body = await decodeText(unpacker, maxBytes);
    signal.throwIfAborted();
    return body;
  } catch {
    signal.throwIfAborted();
    return { problem: "damaged" };
  } finally {
    signal.removeEventListener("abort", cancel);
    // Leaving the loop early stops the unpacking.
    unpacker.destroy();
  }
}
