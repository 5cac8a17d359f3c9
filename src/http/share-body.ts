// Hands bodies to the runtime as blobs. The runtime copies an array for each answer, and then collects garbage several times as
// often. A blob is copied once, and shared by all of its answers.

/** For smaller bodies it makes little difference. */
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
