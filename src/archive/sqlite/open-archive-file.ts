// Opens the file of the embedded archive with full durability: an event is on disk before anybody is told of it.
import { Database } from "bun:sqlite";
import { migrateArchive } from "./schema.ts";

/** "GTHA": marks the file as an archive in SQLite's own header. */
export const ARCHIVE_APPLICATION_ID = 0x47544841;

export function openArchiveFile(path: string): Database {
  const db = new Database(path, { create: true, strict: true });
  try {
    db.exec("PRAGMA busy_timeout = 2000");
    db.exec("PRAGMA synchronous = FULL");
    const isNew = db.query("SELECT 1 FROM sqlite_schema LIMIT 1").get() === null;
    if (isNew) db.exec(`PRAGMA application_id = ${ARCHIVE_APPLICATION_ID}`);
    db.exec("PRAGMA journal_mode = WAL");
    migrateArchive(db);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}
