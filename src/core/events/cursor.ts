// The cursor: a place in the ledger of one server, as text that readers keep. It names an event by its number and its mark,
// so that a number which was given out again after a restore is recognised.

/** `mark` is random for every event. Number 0 is the place before the first event. */
export type LedgerPosition = { readonly number: number; readonly mark: number };

/** `foreign`: a cursor of another server. */
export type ParsedCursor = LedgerPosition | "foreign" | "invalid";

/** Number, mark, checksum of the server, checksum of all that. Written anew for each cursor, because many are written at once. */
const BYTES = Buffer.alloc(18);
const CHECKED_BYTES = BYTES.subarray(0, 14);
const CURSOR = /^[A-Za-z0-9_-]{24}$/;
export const MARK_MAX = 0xffff_ffff;

export function writeCursor(serverId: string, { number, mark }: LedgerPosition): string {
  BYTES.writeUIntBE(number, 0, 6);
  BYTES.writeUInt32BE(mark, 6);
  BYTES.writeUInt32BE(Bun.hash.crc32(serverId), 10);
  BYTES.writeUInt32BE(Bun.hash.crc32(CHECKED_BYTES), 14);
  return BYTES.toString("base64url");
}

export function parseCursor(text: string, serverId: string): ParsedCursor {
  if (!CURSOR.test(text)) return "invalid";
  const bytes = Buffer.from(text, "base64url");
  if (bytes.readUInt32BE(14) !== Bun.hash.crc32(bytes.subarray(0, 14))) return "invalid";
  if (bytes.readUInt32BE(10) !== Bun.hash.crc32(serverId)) return "foreign";
  return { number: bytes.readUIntBE(0, 6), mark: bytes.readUInt32BE(6) };
}
