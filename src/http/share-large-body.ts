// Hands large bodies to the runtime as blobs. The runtime copies the rest of an array for every reader that does not take it
// at once; a blob is shared by all of its readers.

/** Smaller bodies fit into the socket's buffer, where nothing is copied and an array is faster. */
export const LARGE_BODY_BYTES_MIN = 65_536;

const blobs = new WeakMap<Uint8Array, Blob>();

/** The same blob for the same large array; a small array as it is. */
export function shareLargeBody(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> | Blob {
  if (bytes.length < LARGE_BODY_BYTES_MIN) return bytes;
  const shared = blobs.get(bytes);
  if (shared) return shared;
  const blob = new Blob([bytes]);
  blobs.set(bytes, blob);
  return blob;
}
