// Opens the file of the embedded archive with full durability: an event is on disk before anybody is told of it. A file
// that is not ours, newer or damaged is refused and not changed.
import { Database } from "bun:sqlite";
import { statSync } from "node:fs";
import {
  type DatabaseFormat,
  isEmptyDatabase,
  refuseUnusableFile,
  UnusableFile,
} from "../../sqlite/database-file.ts";
import { migrateSqlite } from "../sqlite.ts";
import { ARCHIVE_MIGRATIONS } from "./migrations.ts";

/** "GTHA": marks the file as an archive in SQLite's own header. */
const ARCHIVE_APPLICATION_ID = 0x47544841;
/** Larger files are not looked through when they are opened, because that takes too long; `doctor` does. */
const CHECKED_BYTES_MAX = 256 * 1024 * 1024;
const REMEDY = "move it away to begin with an empty archive";

export const ARCHIVE_FORMAT: DatabaseFormat = {
  name: "an archive of Gatehouse",
  applicationId: ARCHIVE_APPLICATION_ID,
  schemaVersion: ARCHIVE_MIGRATIONS.steps.length,
  foreignRemedy: `${REMEDY}, or set GATEHOUSE_DATA_DIR`,
};

/**
 * Why the file must not be used: not ours, newer or damaged. Undefined when it is usable, absent, or cannot be read now,
 * which may pass.
 */
export function findRefusal(path: string): string | undefined {
  try {
    refuseUnusable(path, CHECKED_BYTES_MAX);
    return undefined;
  } catch (error) {
    return error instanceof UnusableFile ? error.message : undefined;
  }
}

export function openArchiveFile(path: string): Database {
  refuseUnusable(path, 0);
  const db = new Database(path, { create: true, strict: true });
  try {
    db.exec("PRAGMA busy_timeout = 2000");
    db.exec("PRAGMA synchronous = FULL");
    // Overwrites what is deleted, so that a forgotten player is not left in unused parts of the file.
    db.exec("PRAGMA secure_delete = ON");
    // Before the switch to WAL, so that the id is in the file itself, where the next start reads it.
    if (isEmptyDatabase(db)) db.exec(`PRAGMA application_id = ${ARCHIVE_APPLICATION_ID}`);
    db.exec("PRAGMA journal_mode = WAL");
    migrateSqlite(db, ARCHIVE_MIGRATIONS);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

function refuseUnusable(path: string, checkedBytesMax: number): void {
  const file = statSync(path, { throwIfNoEntry: false });
  if (!file || file.size === 0) return;
  refuseUnusableFile(path, ARCHIVE_FORMAT, checkedBytesMax);
}
