// Reads the address lists of keys, also while an instance is running. The doctor checks them.
import { withReadOnlyDatabase } from "../../sqlite/read-only-database.ts";

const KEYS_MAX = 10_000;

export type KeyAddresses = { readonly label: string; readonly addresses: readonly string[] };

/** The keys that have an address list and are not revoked, oldest first. */
export function readAddressLists(path: string): KeyAddresses[] {
  return withReadOnlyDatabase(path, (db) => {
    const rows = db
      .query<{ label: string; ip_allow: string }, [number]>(
        "SELECT label, ip_allow FROM keys WHERE ip_allow <> '[]' AND revoked_at IS NULL ORDER BY seq LIMIT ?",
      )
      .all(KEYS_MAX);
    return rows.map(({ label, ip_allow }) => ({ label, addresses: JSON.parse(ip_allow) as string[] }));
  });
}
