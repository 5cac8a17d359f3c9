// Reads a database that an instance may be using, and creates no files beside it. A plain read-only connection would leave
// files that the instance's user may not be allowed to open.
import { constants, Database } from "bun:sqlite";
import { copyFileSync, existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { StartRefused } from "../../core/errors.ts";

const BUSY_MS = 5_000;
const ATTEMPTS_MAX = 3;
/** Files that a killed process leaves. The database is complete only together with them. */
const JOURNAL_SUFFIXES = ["-wal", "-journal"];

/**
 * Calls `read` with a connection that sees a consistent state of the database. Retries when the files changed meanwhile,
 * because then an instance has started and the state may be inconsistent.
 */
export function withReadOnlyDatabase<T>(path: string, read: (db: Database) => T, lockPath = lockPathOf(path)): T {
  for (let attempt = 1; ; attempt++) {
    if (isLocked(lockPath)) return readAndClose(openLive(path), read);
    const before = fileStampsOf(path);
    let outcome: { value: T } | { error: unknown };
    try {
      outcome = { value: hasJournal(path) ? readCopy(path, read) : readAndClose(openImmutable(path), read) };
    } catch (error) {
      outcome = { error };
    }
    if (fileStampsOf(path) !== before && attempt < ATTEMPTS_MAX) continue;
    if ("error" in outcome) throw outcome.error;
    return outcome.value;
  }
}

/** The lock of a database with one of its own. */
export function lockPathOf(path: string): string {
  return `${path}.lock`;
}

/** Whether an instance holds the lock of this database. Creates no file and does not wait. */
export function isInstanceRunning(path: string): boolean {
  return isLocked(lockPathOf(path));
}

function isLocked(lockPath: string): boolean {
  if (!existsSync(lockPath)) return false;
  let lock: Database | undefined;
  try {
    lock = new Database(lockPath, { readonly: true });
    lock.query("SELECT 1 FROM sqlite_schema").get();
    return false;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "SQLITE_BUSY") return true;
    const reason = error instanceof Error ? error.message : String(error);
    throw new StartRefused(`${lockPath} cannot be read: ${reason} — check its permissions`);
  } finally {
    lock?.close();
  }
}

function readAndClose<T>(db: Database, read: (db: Database) => T): T {
  try {
    return read(db);
  } finally {
    db.close();
  }
}

/** For a running instance, which has created the write-ahead log and its index already. */
function openLive(path: string): Database {
  const db = new Database(path, { readonly: true });
  db.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
  return db;
}

/** For a database that nobody writes to and that has no journal. Uses no locks and creates no files. */
function openImmutable(path: string): Database {
  const flags = constants.SQLITE_OPEN_READONLY | constants.SQLITE_OPEN_URI;
  return new Database(`${pathToFileURL(path).href}?immutable=1`, flags);
}

/** After a crash the journal must be applied before reading, which would change the files. So it is applied to a copy. */
function readCopy<T>(path: string, read: (db: Database) => T): T {
  const folder = mkdtempSync(join(tmpdir(), "gatehouse-read-"));
  try {
    const copy = join(folder, "copy.db");
    for (const suffix of ["", ...JOURNAL_SUFFIXES]) {
      if (existsSync(path + suffix)) copyFileSync(path + suffix, copy + suffix);
    }
    return readAndClose(new Database(copy, { readwrite: true }), read);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function hasJournal(path: string): boolean {
  return JOURNAL_SUFFIXES.some((suffix) => (statSync(path + suffix, { throwIfNoEntry: false })?.size ?? 0) > 0);
}

function fileStampsOf(path: string): string {
  const stamps = ["", ...JOURNAL_SUFFIXES].map((suffix) => {
    const found = statSync(path + suffix, { throwIfNoEntry: false });
    return found ? `${found.ino} ${found.size} ${found.mtimeMs}` : "absent";
  });
  return stamps.join();
}
