// Opens the file of the embedded archive with full durability: an event is on disk before anybody is told of it. A file
// that is not ours, newer or damaged is refused and not changed.
import type { Database } from "bun:sqlite";
import { statSync } from "node:fs";
import { openDatabaseFile } from "../sqlite.ts";
import { type DatabaseFormat, refuseUnusableFile, UnusableFile } from "../sqlite-file/database-file.ts";
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
  return openDatabaseFile(path, ARCHIVE_FORMAT, ARCHIVE_MIGRATIONS);
}

function refuseUnusable(path: string, checkedBytesMax: number): void {
  const file = statSync(path, { throwIfNoEntry: false });
  if (!file || file.size === 0) return;
  refuseUnusableFile(path, ARCHIVE_FORMAT, checkedBytesMax);
}
