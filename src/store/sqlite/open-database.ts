// Opens the database with full durability. Refuses, without changing the file, when it is not ours, newer, damaged or in
// use by another process.
import { Database } from "bun:sqlite";
import { existsSync, statSync } from "node:fs";
import { StartRefused } from "../../core/errors.ts";
import { type DatabaseFormat, isEmptyDatabase, refuseUnusableFile } from "../../sqlite/database-file.ts";
import { isDamage, isMissingTable, refuseToOpen } from "../../sqlite/explain-open-error.ts";
import { migrate, SCHEMA_VERSION } from "./migrations.ts";

/** "GTHS": marks the file as ours in SQLite's own header. */
const APPLICATION_ID = 0x47544853;
const LOCK_WAIT_MS = 2_000;

export const STORE_FORMAT: DatabaseFormat = {
  name: "a Gatehouse database",
  applicationId: APPLICATION_ID,
  schemaVersion: SCHEMA_VERSION,
  foreignRemedy: "move it away, or set GATEHOUSE_DATA_DIR",
};

export function openDatabase(path: string): Database {
  if (existsSync(path) && statSync(path).size > 0) refuseUnusableFile(path, STORE_FORMAT);
  const db = new Database(path, { create: true, strict: true });
  try {
    db.exec("PRAGMA busy_timeout = 2000");
    db.exec("PRAGMA synchronous = FULL");
    // Overwrites what is deleted, so that a forgotten player is not left in unused parts of the file.
    db.exec("PRAGMA secure_delete = ON");
    // Before the switch to WAL, so that the id is in the file itself, where the next start reads it.
    if (isEmptyDatabase(db)) db.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
    db.exec("PRAGMA journal_mode = WAL");
    migrate(db);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
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
  refuseUnusableFile(path, STORE_FORMAT);
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
