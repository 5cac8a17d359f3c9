// Cursors as callers see them: opaque words that only fit the list they came from. A mangled one is told from a good one,
// so that nobody pages in circles.

const SHAPE = /^[A-Za-z0-9_-]{11,300}$/;
const CHECK_LENGTH = 8;

export function sealCursor(list: string, cursor: string): string {
  return Buffer.from(checkOf(list, cursor) + cursor).toString("base64url");
}

/** Undefined when it did not come from that list. */
export function openCursor(list: string, sealed: string): string | undefined {
  if (!SHAPE.test(sealed)) return undefined;
  const text = Buffer.from(sealed, "base64url").toString();
  const cursor = text.slice(CHECK_LENGTH);
  return sealCursor(list, cursor) === sealed ? cursor : undefined;
}

function checkOf(list: string, cursor: string): string {
  return Bun.hash.crc32(`${list} ${cursor}`).toString(16).padStart(CHECK_LENGTH, "0");
}
