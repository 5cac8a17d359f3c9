// Reads a database that belongs to somebody else, running or not, and leaves its folder exactly as it was: plain
// read-only connections leave files behind, which the owner might not be able to open.
import { constants, Database } from "bun:sqlite";
import { copyFileSync, existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { StartRefused } from "../../core/errors.ts";

const BUSY_MS = 5_000;
const ATTEMPTS_MAX = 3;
/** What a killed process leaves beside its database; only together are they whole. */
const LEFTOVERS = ["-wal", "-journal"];

/**
 * Calls `read` with a connection that sees one state of the database. Again, when an instance started meanwhile: then
 * what was seen may not be one state.
 */
export function readDatabase<T>(path: string, read: (db: Database) => T): T {
  for (let attempt = 1; ; attempt++) {
    if (isInstanceRunning(path)) return use(openShared(path), read);
    const before = stampOf(path);
    let outcome: { value: T } | { error: unknown };
    try {
      outcome = { value: hasLeftovers(path) ? readCopy(path, read) : use(openUnshared(path), read) };
    } catch (error) {
      outcome = { error };
    }
    if (stampOf(path) !== before && attempt < ATTEMPTS_MAX) continue;
    if ("error" in outcome) throw outcome.error;
    return outcome.value;
  }
}

/** Whether a Gatehouse holds the lock of this database's folder. Creates nothing, and waits for nobody. */
export function isInstanceRunning(path: string): boolean {
  const lockPath = `${path}.lock`;
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

function use<T>(db: Database, read: (db: Database) => T): T {
  try {
    return read(db);
  } finally {
    db.close();
  }
}

/** The write-ahead log and its index are there, made by the instance that runs. */
function openShared(path: string): Database {
  const db = new Database(path, { readonly: true });
  db.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
  return db;
}

/** Nobody writes: the file is all there is, and is read without locks or files of our own. */
function openUnshared(path: string): Database {
  const flags = constants.SQLITE_OPEN_READONLY | constants.SQLITE_OPEN_URI;
  return new Database(`${pathToFileURL(path).href}?immutable=1`, flags);
}

/** A killed instance's files have to be put in order before they can be read; that is done to a copy. */
function readCopy<T>(path: string, read: (db: Database) => T): T {
  const folder = mkdtempSync(join(tmpdir(), "gatehouse-read-"));
  try {
    const copy = join(folder, "copy.db");
    for (const suffix of ["", ...LEFTOVERS]) {
      if (existsSync(path + suffix)) copyFileSync(path + suffix, copy + suffix);
    }
    return use(new Database(copy, { readwrite: true }), read);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function hasLeftovers(path: string): boolean {
  return LEFTOVERS.some((suffix) => (statSync(path + suffix, { throwIfNoEntry: false })?.size ?? 0) > 0);
}

function stampOf(path: string): string {
  const stamps = ["", ...LEFTOVERS].map((suffix) => {
    const found = statSync(path + suffix, { throwIfNoEntry: false });
    return found ? `${found.ino} ${found.size} ${found.mtimeMs}` : "absent";
  });
  return stamps.join();
}
