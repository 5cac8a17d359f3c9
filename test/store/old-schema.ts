// Takes a database back to the schema of older versions, for tests of the migration. Each later migration step belongs here.
import type { Database } from "bun:sqlite";

/** Schema 4 did not mark the servers of the simulator and those that are watched or public, and had no limits for the history of commands. */
export function makeSchema4(db: Database): void {
  db.exec(`DROP INDEX servers_by_status_slug; ALTER TABLE servers DROP COLUMN status_slug;
           ALTER TABLE servers DROP COLUMN status_join_key; ALTER TABLE servers DROP COLUMN simulated; ALTER TABLE servers DROP COLUMN watch; DROP INDEX commands_of_key;
           DROP TRIGGER command_finished; DROP TRIGGER command_deleted; DROP TABLE command_counts;
           DROP TABLE devices; DROP TABLE links; DROP TABLE receipts; DROP TABLE receipt_counts; PRAGMA user_version = 4`);
}
