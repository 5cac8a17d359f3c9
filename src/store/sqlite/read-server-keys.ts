// The servers with their upstream keys in the clear, read past a running instance. For whoever has to try the keys.
import type { Sealer } from "../sealer.ts";
import { readDatabase } from "./read-database.ts";

export type ServerWithKey = { readonly serverId: string; readonly name: string; readonly serverKey: string };

/** The oldest first. Throws when the sealer's secret is not the database's. */
export function readServerKeys(
  path: string,
  sealer: Sealer,
  limit: number,
): { total: number; servers: ServerWithKey[] } {
  return readDatabase(path, (db) => {
    const total = db.query<{ n: number }, []>("SELECT count(*) AS n FROM servers").get()?.n ?? 0;
    const rows = db
      .query<{ server_id: string; name: string; server_key: Uint8Array }, [number]>(
        "SELECT server_id, name, server_key FROM servers ORDER BY seq LIMIT ?",
      )
      .all(limit);
    const servers = rows.map((row) => ({
      serverId: row.server_id,
      name: row.name,
      serverKey: sealer.open(row.server_key, row.server_id),
    }));
    return { total, servers };
  });
}
