// Deletes the ledgers that deleted servers still have: the archive was away when they were deleted, or another instance has
// recorded a last reading since.
import type { Archive } from "../../core/ports/archive.ts";
import type { ServerStore } from "../../core/ports/servers.ts";

/** The most servers that one query asks for. */
const BATCH_MAX = 500;

/**
 * Only servers that this store has deleted itself are looked for. A store that does not answer, or that shares the archive
 * with another store, so never deletes a ledger that somebody needs.
 */
export async function removeDeletedLedgers(
  servers: Pick<ServerStore, "listDeleted" | "find">,
  archive: Pick<Archive, "findLast" | "removeServer">,
): Promise<void> {
  const deleted = await servers.listDeleted();
  for (let start = 0; start < deleted.length; start += BATCH_MAX) {
    const found = await archive.findLast(deleted.slice(start, start + BATCH_MAX));
    for (const serverId of found.keys()) {
      // A restored server has its id again.
      if (!servers.find(serverId)) await archive.removeServer(serverId);
    }
  }
}
