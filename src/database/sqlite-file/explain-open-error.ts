// Says in words what is wrong when the database cannot be opened, and what to do. Only a database that really is damaged is
// called damaged: whoever restores a backup because the disk is full loses data.
import { statfsSync } from "node:fs";
import { dirname } from "node:path";
import { StartRefused } from "../../core/errors.ts";

/** SQLite's result codes; extended codes have the same number in their lowest byte. */
const CODES = {
  error: 1,
  perm: 3,
  busy: 5,
  locked: 6,
  noMemory: 7,
  readOnly: 8,
  ioError: 10,
  corrupt: 11,
  full: 13,
  cannotOpen: 14,
  protocol: 15,
  auth: 23,
  notADatabase: 26,
} as const;

/** With less free space than this, SQLite cannot create its log and index. */
const ROOM_BYTES_MIN = 256 * 1024;
const NOT_DAMAGED = "the database itself was not found to be damaged, so do not restore a backup because of this";

export function refuseToOpen(path: string, error: unknown): StartRefused {
  if (error instanceof StartRefused) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new StartRefused(explain(path, primaryCodeOf(error), reason));
}

/** The result of an integrity check that is not "ok": damage, unless SQLite could not read the file. */
export function refuseVerdict(path: string, verdict: string): StartRefused {
  return new StartRefused(explain(path, codeInVerdict(verdict) ?? CODES.corrupt, verdict));
}

export function isDamage(error: unknown): boolean {
  const code = primaryCodeOf(error);
  return code === CODES.corrupt || code === CODES.notADatabase;
}

/** Codes of mistakes in our own queries: bad SQL, constraint, mismatch, misuse, range. */
const BUG_CODES: ReadonlySet<number> = new Set([CODES.error, 19, 20, 21, 25]);

/** Whether SQLite failed because of the file or its disk, and not because of a mistake in a query. */
export function isDiskFault(error: unknown): boolean {
  const code = primaryCodeOf(error);
  return code !== undefined && !BUG_CODES.has(code);
}

/** SQLite's code for a query that does not fit the schema. */
export function isMissingTable(error: unknown): boolean {
  return primaryCodeOf(error) === CODES.error;
}

/** An integrity check reports a page that it could not read as a problem of the page, with the number of the error. */
export function codeInVerdict(verdict: string): number | undefined {
  const codes = Array.from(verdict.matchAll(/error code[ =]*(\d+)/g), ([, code]) => Number(code) & 0xff);
  return codes.find((code) => code !== CODES.corrupt && code !== CODES.notADatabase);
}

/** Undefined when the error is not SQLite's. */
function primaryCodeOf(error: unknown): number | undefined {
  const isNumbered = error instanceof Error && "errno" in error && typeof error.errno === "number";
  return isNumbered && error.name === "SQLiteError" ? (error.errno as number) & 0xff : undefined;
}

function explain(path: string, code: number | undefined, reason: string): string {
  switch (code) {
    case CODES.corrupt:
    case CODES.notADatabase:
      return `${path} is damaged (${reason}); it was left untouched — restore a backup`;
    case CODES.full:
      return explainFull(path, reason);
    case CODES.ioError:
      if (isDiskFull(path)) return explainFull(path, reason);
      return (
        `${path} cannot be read or written: the disk reports an error (${reason}) — ` +
        `check the disk, its quota and the system's log, then start again; ${NOT_DAMAGED}`
      );
    case CODES.readOnly:
      return (
        `${path} cannot be written: it is read-only (${reason}) — ` +
        `make the file, its folder and its disk writable for the user who runs Gatehouse; ${NOT_DAMAGED}`
      );
    case CODES.cannotOpen:
    case CODES.perm:
    case CODES.auth:
      if (isDiskFull(path)) return explainFull(path, reason);
      return `${path} cannot be opened: ${reason} — check the folder and its permissions; ${NOT_DAMAGED}`;
    case CODES.busy:
    case CODES.locked:
    case CODES.protocol:
      return `${path} is locked by another program (${reason}) — end that program, then start again; ${NOT_DAMAGED}`;
    case CODES.noMemory:
      return `${path} cannot be opened: there is not enough memory — free some, then start again; ${NOT_DAMAGED}`;
    default:
      return `${path} cannot be used: ${reason} — check the disk and its permissions`;
  }
}

function explainFull(path: string, reason: string): string {
  return (
    `${path} cannot be written: its disk is full (${reason}) — ` +
    `free some space on the disk, then start again; ${NOT_DAMAGED}`
  );
}

/** A full disk often shows as another error, because not every write of SQLite reports it as such. */
function isDiskFull(path: string): boolean {
  try {
    const { bavail, bsize, files, ffree } = statfsSync(dirname(path));
    // Some file systems do not count files; they report 0 of 0.
    return bavail * bsize < ROOM_BYTES_MIN || (files > 0 && ffree === 0);
  } catch {
    return false;
  }
}
