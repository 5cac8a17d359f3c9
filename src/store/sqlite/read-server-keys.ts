// Reads the servers of a database, also while an instance is running. The doctor judges them and tests their upstream keys.
import type { Database } from "bun:sqlite";
import { withReadOnlyDatabase } from "../../sqlite/read-only-database.ts";
import type { Sealer } from "../sealer.ts";

export type ServerWithKey = { readonly serverId: string; readonly name: string; readonly serverKey: string };
export type ServerMark = { readonly name: string; readonly isSimulated: boolean };

/**
 * Without the servers of the simulator, and those whose key is excluded. Oldest first. Throws when the sealer has another
 * secret than the database.
 */
export function readServerKeys(
  path: string,
  sealer: Sealer,
  isExcluded: (serverKey: string) => boolean,
): ServerWithKey[] {
  return withReadOnlyDatabase(path, (db) => {
    const isReal = hasMarks(db) ? "simulated = 0" : "1";
    const query = `SELECT server_id, name, server_key FROM servers WHERE ${isReal} ORDER BY seq`;
    const rows = db.query<{ server_id: string; name: string; server_key: Uint8Array }, []>(query).all();
    return rows
      .map(({ server_id, name, server_key }) => {
        return { serverId: server_id, name, serverKey: sealer.open(server_key, server_id) };
      })
      .filter(({ serverKey }) => !isExcluded(serverKey));
  });
}

/** Every server with its mark, oldest first; none when the database is of a version that had no marks. */
export function readServerMarks(path: string): ServerMark[] {
  return withReadOnlyDatabase(path, (db) => {
    if (!hasMarks(db)) return [];
    const rows = db
      .query<{ name: string; simulated: number }, []>("SELECT name, simulated FROM servers ORDER BY seq")
      .all();
    return rows.map(({ name, simulated }) => ({ name, isSimulated: simulated !== 0 }));
  });
}

function hasMarks(db: Database): boolean {
  return db.query("SELECT 1 FROM pragma_table_info('servers') WHERE name = 'simulated'").get() !== null;
}
