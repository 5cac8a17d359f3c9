// Hands bodies to the runtime as blobs, because a blob is shared by all of its readers. The runtime counts an array as new memory
// for each answer, so it collects garbage several times as often, and copies the rest of it for every slow reader.

/** For smaller bodies an array makes no difference. */
export const SHARED_BYTES_MIN = 2_048;

const blobs = new WeakMap<Uint8Array, Blob>();

/** The same blob for the same array; a small array as it is. */
export function shareBody(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> | Blob {
  if (bytes.length < SHARED_BYTES_MIN) return bytes;
  const shared = blobs.get(bytes);
  if (shared) return shared;
  const blob = new Blob([bytes]);
  blobs.set(bytes, blob);
  return blob;
}
