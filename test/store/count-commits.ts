// Counts the commits in a database's write-ahead log, from the file itself: those that a start after a crash would find. The
// format is at https://www.sqlite.org/fileformat2.html, "The Write-Ahead Log".
import { readFileSync } from "node:fs";

const HEADER_BYTES = 32;
const PAGE_SIZE_AT = 8;
const SALT_AT = 16;
const SALT_BYTES = 8;
const FRAME_HEADER_BYTES = 24;
/** The size of the database after the commit; 0 in frames that do not end one. */
const FRAME_COMMIT_AT = 4;
const FRAME_SALT_AT = 8;

export function countCommits(databasePath: string): number {
  const log = readFileSync(`${databasePath}-wal`);
  const salt = log.subarray(SALT_AT, SALT_AT + SALT_BYTES);
  const frameBytes = FRAME_HEADER_BYTES + log.readUInt32BE(PAGE_SIZE_AT);
  let commits = 0;
  for (let at = HEADER_BYTES; at + frameBytes <= log.length; at += frameBytes) {
    // Frames from before the last restart of the log have another salt.
    if (!log.subarray(at + FRAME_SALT_AT, at + FRAME_SALT_AT + SALT_BYTES).equals(salt)) break;
    if (log.readUInt32BE(at + FRAME_COMMIT_AT) !== 0) commits++;
  }
  return commits;
}
