// Opens the database with full durability. Refuses, without changing the file, when it is not ours, newer, damaged or in
// use by another process.
import { Database } from "bun:sqlite";
import { closeSync, existsSync, openSync, readSync, statSync } from "node:fs";
import { StartRefused, StoreUnavailable } from "../../core/errors.ts";
import { isDamage, isMissingTable, refuseToOpen, refuseVerdict } from "./explain-open-error.ts";
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
    // Before the switch to WAL, so that the id is in the file itself, where the next start reads it.
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
 * Throws when the path no longer leads to the open file. SQLite would go on writing to a file that was deleted, replaced or
 * emptied, and the writes would be lost.
 */
export function createFileCheck(path: string): () => void {
  const { ino } = statSync(path);
  return () => {
    const found = statSync(path, { throwIfNoEntry: false });
    if (!found || found.ino !== ino || found.size === 0) throw new StoreUnavailable(`${path} is gone`);
  };
}

/**
 * Only one process may use an embedded database, because limits are counted in memory. The lock is on a separate file, so
 * that a backup can read the database. The operating system releases it when the process dies.
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
    if (isDamage(error))
      throw new StartRefused(`${path} is not a lock file of Gatehouse — delete it; it holds no data`);
    if (!isTaken) throw refuseToOpen(path, error);
    throw new StartRefused(
      `another Gatehouse is using ${path.replace(/[^/]*$/, "")} — stop it first, or set GATEHOUSE_DATA_DIR to another folder`,
    );
  }
}

/** Whether the file holds data that was sealed with a secret. Refuses a file that is not ours, without opening it. */
export function isSealedDatabase(path: string): boolean {
  if (!existsSync(path) || statSync(path).size === 0) return false;
  refuseUnusableFile(path);
  if (existsSync(`${path}-journal`)) return false;
  const db = new Database(path, { readonly: true });
  try {
    return db.query("SELECT 1 FROM settings LIMIT 1").get() !== null;
  } catch (error) {
    // A first start was killed before it created its tables.
    if (isMissingTable(error)) return false;
    throw refuseToOpen(path, error);
  } finally {
    db.close();
  }
}

/** Needs the open database: opening may have rolled back the file of a first start that was killed. */
function isEmpty(db: Database): boolean {
  return db.query("SELECT 1 FROM sqlite_schema LIMIT 1").get() === null;
}

/** Reads the header without SQLite, because opening the file with SQLite could change it. */
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
  // A first start that was killed leaves a journal that only a writer can roll back. The file holds no data yet.
  if (!existsSync(`${path}-journal`)) refuseDamagedFile(path);
}

export function isOurHeader(header: Buffer): boolean {
  const isSqlite = header.length === HEADER_BYTES && header.toString("latin1", 0, 16) === "SQLite format 3\0";
  return isSqlite && header.readUInt32BE(68) === APPLICATION_ID;
}

/** Shorter than HEADER_BYTES when the file is. */
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
    throw new StartRefused(`${path} cannot be read: ${reason} — check the file and its permissions`);
  }
}

/** Uses a read-only connection, which cannot even write back the log that a crash has left. */
function refuseDamagedFile(path: string): void {
  let db: Database | undefined;
  let verdict: string;
  try {
    db = new Database(path, { readonly: true });
    const row = db.query<{ quick_check: string }, []>("PRAGMA quick_check(1)").get();
    verdict = row?.quick_check ?? "no answer";
  } catch (error) {
    throw refuseToOpen(path, error);
  } finally {
    db?.close();
  }
  if (verdict !== "ok") throw refuseVerdict(path, verdict.replaceAll("\n", " "));
}
