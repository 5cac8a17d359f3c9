// Reads the servers with their decrypted upstream keys, also while an instance is running. The doctor tests these keys.
import type { Sealer } from "../sealer.ts";
import { withReadOnlyDatabase } from "./read-only-database.ts";

export type ServerWithKey = { readonly serverId: string; readonly name: string; readonly serverKey: string };

/** Oldest first. Throws when the sealer has another secret than the database. */
export function readServerKeys(
  path: string,
  sealer: Sealer,
  limit: number,
): { total: number; servers: ServerWithKey[] } {
  return withReadOnlyDatabase(path, (db) => {
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
