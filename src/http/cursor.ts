// Cursors as callers see them: opaque texts with a checksum over the list's name, so that a damaged cursor, or one of another
// list, is refused.

const SHAPE = /^[A-Za-z0-9_-]{11,300}$/;
const CHECKSUM_LENGTH = 8;

export function encodeCursor(list: string, cursor: string): string {
  return Buffer.from(checksumOf(list, cursor) + cursor).toString("base64url");
}

/** Undefined when it is damaged or belongs to another list. */
export function decodeCursor(list: string, encoded: string): string | undefined {
  if (!SHAPE.test(encoded)) return undefined;
  const text = Buffer.from(encoded, "base64url").toString();
  const cursor = text.slice(CHECKSUM_LENGTH);
  return encodeCursor(list, cursor) === encoded ? cursor : undefined;
}

function checksumOf(list: string, cursor: string): string {
  return Bun.hash.crc32(`${list} ${cursor}`).toString(16).padStart(CHECKSUM_LENGTH, "0");
}
