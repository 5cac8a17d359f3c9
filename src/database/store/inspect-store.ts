// Reads the store's file without changing it, also beside a running instance: for `doctor` and `backup`. A file of an older
// version is read as it is, because the doctor runs before the first start of a new version too.
import type { Database } from "bun:sqlite";
import { statSync } from "node:fs";
import { parseNotes, type SavedNotes } from "../../core/readings/upstream-notes.ts";
import { isRightSecret, SECRET_CHECK, type Sealer } from "../sealer.ts";
import { findDamage } from "../sqlite-file/database-file.ts";
import { type FileReport, inspectFile } from "../sqlite-file/inspect-file.ts";
import { withReadOnlyDatabase } from "../sqlite-file/read-only-database.ts";
import { STORE_FORMAT } from "./open-store-file.ts";

const NO_NOTES: SavedNotes = { pause: undefined, liftedAt: 0, refusedKeys: [], globalKeyFailure: null };
const ADDRESS_LISTS_MAX = 10_000;

export type DatabaseReport = FileReport<{
  readonly servers: number;
  /** Without revoked keys. */
  readonly keys: number;
  /** Undefined when nothing was sealed yet, or no sealer was given. */
  readonly isSecretRight: boolean | undefined;
}>;

export type ServerWithKey = { readonly serverId: string; readonly name: string; readonly serverKey: string };
export type ServerMark = { readonly name: string; readonly isSimulated: boolean };
export type KeyAddresses = { readonly label: string; readonly addresses: readonly string[] };

export function inspectDatabase(path: string, sealer?: Sealer): DatabaseReport {
  return inspectFile(path, {
    format: STORE_FORMAT,
    findDamage,
    readContents: (db) => ({
      sizeBytes: readNumber(db, "SELECT page_count * page_size AS n FROM pragma_page_count, pragma_page_size"),
      ...countContents(db),
      isSecretRight: sealer && checkSecret(db, sealer),
    }),
  });
}

export function countContents(db: Database): { servers: number; keys: number } {
  return {
    servers: readNumber(db, "SELECT count(*) AS n FROM servers"),
    keys: readNumber(db, "SELECT count(*) AS n FROM keys WHERE revoked_at IS NULL"),
  };
}

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
    const isReal = hasColumn(db, "simulated") ? "simulated = 0" : "1";
    // 0.1 and 0.2 stored the bytes themselves.
    const sealed = hasColumn(db, "sealed_key") ? "sealed_key" : "hex(server_key)";
    const query = `SELECT server_id, name, ${sealed} AS sealed_key FROM servers WHERE ${isReal} ORDER BY seq`;
    return db
      .query<{ server_id: string; name: string; sealed_key: string }, []>(query)
      .all()
      .map(({ server_id: serverId, name, sealed_key: hex }) => {
        return { serverId, name, serverKey: sealer.open(Buffer.from(hex, "hex"), serverId) };
      })
      .filter(({ serverKey }) => !isExcluded(serverKey));
  });
}

/** Every server with its mark, oldest first; none when the database is of a version that had no marks. */
export function readServerMarks(path: string): ServerMark[] {
  return withReadOnlyDatabase(path, (db) => {
    if (!hasColumn(db, "simulated")) return [];
    const rows = db
      .query<{ name: string; simulated: number }, []>("SELECT name, simulated FROM servers ORDER BY seq")
      .all();
    return rows.map(({ name, simulated }) => ({ name, isSimulated: simulated !== 0 }));
  });
}

/** The keys that have an address list and are not revoked, oldest first. */
export function readAddressLists(path: string): KeyAddresses[] {
  return withReadOnlyDatabase(path, (db) => {
    const rows = db
      .query<{ label: string; ip_allow: string }, [number]>(
        "SELECT label, ip_allow FROM keys WHERE ip_allow <> '[]' AND revoked_at IS NULL ORDER BY seq LIMIT ?",
      )
      .all(ADDRESS_LISTS_MAX);
    return rows.map(({ label, ip_allow }) => ({ label, addresses: JSON.parse(ip_allow) as string[] }));
  });
}

/** The notes about the game API: the doctor calls only when they allow it. Throws when there is a file that cannot be read. */
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

function hasColumn(db: Database, column: string): boolean {
  const query = "SELECT 1 FROM pragma_table_info('servers') WHERE name = ?";
  return db.query<unknown, [string]>(query).get(column) !== null;
}

function checkSecret(db: Database, sealer: Sealer): boolean | undefined {
  const row = db.query<{ value: string }, [string]>("SELECT value FROM settings WHERE name = ?").get(SECRET_CHECK);
  return row ? isRightSecret(row.value, sealer) : undefined;
}

function readNumber(db: Database, query: string): number {
  return db.query<{ n: number }, []>(query).get()?.n ?? 0;
}
