// Opens the database file with full durability, or refuses without touching it: a foreign, newer or broken file, or
// one that another Gatehouse is using.
import { Database } from "bun:sqlite";
import { closeSync, existsSync, openSync, readSync, statSync } from "node:fs";
import { StartRefused, StoreUnavailable } from "../../core/errors.ts";
import { migrate, SCHEMA_VERSION } from "./migrations.ts";

/** "GTHS": marks the file as ours in SQLite's own header. */
const APPLICATION_ID = 0x47544853;
const HEADER_BYTES = 100;
const LOCK_WAIT_MS = 2_000;

export function openDatabase(path: string): Database {
  if (existsSync(path) && statSync(path).size > 0) refuseUnusableFile(path);
  const db = new Database(path, { create: true, strict: true });
  try {
    db.exec("PRAGMA busy_timeout = 2000");
    db.exec("PRAGMA synchronous = FULL");
    // Before the log is switched on: our mark must be in the file itself, where the next start looks for it.
    if (isEmpty(db)) db.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
    db.exec("PRAGMA journal_mode = WAL");
    migrate(db);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/**
 * Throws once the file is no longer the one that is open: a file that was deleted, replaced or emptied under us takes writes
 * without complaint, and loses them.
 */
export function createFileCheck(path: string): () => void {
  const { ino } = statSync(path);
  return () => {
    const found = statSync(path, { throwIfNoEntry: false });
    if (!found || found.ino !== ino || found.size === 0) throw new StoreUnavailable(`${path} is gone`);
  };
}

/**
 * Two processes on one embedded database would each count for themselves. The lock lives on a file of its own, so
 * that a backup may read the database; it is the operating system's, so a killed process leaves none behind.
 */
export function lockDataFolder(path: string): Database {
  let lock: Database | undefined;
  try {
    lock = new Database(path, { create: true });
    lock.exec(`PRAGMA busy_timeout = ${LOCK_WAIT_MS}; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE`);
    return lock;
  } catch (error) {
    lock?.close();
    const isTaken = error instanceof Error && "code" in error && error.code === "SQLITE_BUSY";
    if (!isTaken)
      throw new StartRefused(`${path} cannot be used: ${error instanceof Error ? error.message : error}`);
    throw new StartRefused(
      `another Gatehouse is using ${path.replace(/[^/]*$/, "")} — stop it first, or set GATEHOUSE_DATA_DIR to another folder`,
    );
  }
}

/** Whether the file holds something that was sealed with a secret. Refuses a file that is not ours, unopened. */
export function isSealedDatabase(path: string): boolean {
  if (!existsSync(path) || statSync(path).size === 0) return false;
  refuseUnusableFile(path);
  if (existsSync(`${path}-journal`)) return false;
  const db = new Database(path, { readonly: true });
  try {
    return db.query("SELECT 1 FROM settings LIMIT 1").get() !== null;
  } catch {
    // A first start that was killed before it made its tables.
    return false;
  } finally {
    db.close();
  }
}

/** Asked of the open database: the first start may have been killed, and its half of a file rolled back to nothing. */
function isEmpty(db: Database): boolean {
  return db.query("SELECT 1 FROM sqlite_schema LIMIT 1").get() === null;
}

/** Reads the header by hand: opening the file with SQLite could already change it. */
function refuseUnusableFile(path: string): void {
  const header = getHeader(path);
  if (!isOurHeader(header)) {
    throw new StartRefused(
      `${path} is not a Gatehouse database; it was left untouched — move it away, or set GATEHOUSE_DATA_DIR`,
    );
  }
  const version = header.readUInt32BE(60);
  if (version > SCHEMA_VERSION) {
    throw new StartRefused(
      `${path} was made by a newer Gatehouse (schema ${version}, this one knows ${SCHEMA_VERSION}) — update Gatehouse`,
    );
  }
  // A killed first start leaves a journal that only a writer can roll back; there is nothing of worth in the file yet.
  if (!existsSync(`${path}-journal`)) refuseDamagedFile(path);
}

export function isOurHeader(header: Buffer): boolean {
  const isSqlite = header.length === HEADER_BYTES && header.toString("latin1", 0, 16) === "SQLite format 3\0";
  return isSqlite && header.readUInt32BE(68) === APPLICATION_ID;
}

/** As much of it as there is. */
export function readHeader(path: string): Buffer {
  const file = openSync(path, "r");
  try {
    const header = Buffer.alloc(HEADER_BYTES);
    return header.subarray(0, readSync(file, header, 0, HEADER_BYTES, 0));
  } finally {
    closeSync(file);
  }
}

function getHeader(path: string): Buffer {
  try {
    return readHeader(path);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StartRefused(`${path} cannot be read: ${reason} — check what it is, and its permissions`);
  }
}

/** Looks through a connection that cannot write, not even the log that a crash has left. */
function refuseDamagedFile(path: string): void {
  let verdict: string;
  let db: Database | undefined;
  try {
    db = new Database(path, { readonly: true });
    const row = db.query<{ quick_check: string }, []>("PRAGMA quick_check(1)").get();
    verdict = row?.quick_check ?? "no answer";
  } catch (error) {
    verdict = error instanceof Error ? error.message : String(error);
    // Without the right to write beside it, a whole file cannot be opened either.
    const isUnopened = error instanceof Error && "code" in error && error.code === "SQLITE_CANTOPEN";
    if (isUnopened)
      throw new StartRefused(`${path} cannot be opened: ${verdict} — check the folder and its permissions`);
  } finally {
    db?.close();
  }
  if (verdict !== "ok") {
    throw new StartRefused(`${path} is damaged (${verdict}); it was left untouched — restore a backup`);
  }
}
