// Reads the notes about the game API, also while an instance is running. The doctor calls only when they allow it.
import { statSync } from "node:fs";
import { parseNotes, type SavedNotes } from "../../core/upstream-notes.ts";
import { withReadOnlyDatabase } from "../../sqlite/read-only-database.ts";

const NO_NOTES: SavedNotes = { pause: undefined, refusedKeys: [], globalKeyFailure: null };

/** Throws when there is a database that cannot be read. */
export function readUpstreamNotes(path: string, identity: string): SavedNotes {
  const file = statSync(path, { throwIfNoEntry: false });
  if (!file || file.size === 0) return NO_NOTES;
  return withReadOnlyDatabase(path, (db) => {
    const hasSettings = db.query("SELECT 1 FROM sqlite_schema WHERE name = 'settings'").get() !== null;
    // A first start that was interrupted has made no tables yet.
    if (!hasSettings) return NO_NOTES;
    const setting = db.query<{ value: string }, [string]>("SELECT value FROM settings WHERE name = ?");
    const revision = db.query<{ key_revision: number }, [string]>(
      "SELECT key_revision FROM servers WHERE server_id = ?",
    );
    return parseNotes(
      (name) => setting.get(name)?.value,
      (serverId) => revision.get(serverId)?.key_revision,
      identity,
    );
  });
}
