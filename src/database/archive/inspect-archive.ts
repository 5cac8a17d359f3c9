// Looks at the file of the embedded archive without changing it, also while an instance uses it.
import type { Database } from "bun:sqlite";
import { dirname, join } from "node:path";
import { type FileReport, inspectFile } from "../sqlite-file/inspect-file.ts";
import { lockPathOf, withReadOnlyDatabase } from "../sqlite-file/read-only-database.ts";
import { REMOVED_PREFIX } from "./ledger.ts";
import { ARCHIVE_FORMAT } from "./open-archive-file.ts";

export type ArchiveContents = { readonly servers: number; readonly events: number };

export type ArchiveReport = FileReport<ArchiveContents>;

/** The archive has no lock of its own: an instance locks its data folder with that of the store. */
export function archiveLockPath(path: string): string {
  return lockPathOf(join(dirname(path), "gatehouse.db"));
}

export function inspectArchive(path: string, lockPath = archiveLockPath(path)): ArchiveReport {
  return inspectFile(path, { format: ARCHIVE_FORMAT, lockPath, findDamage: checkQuickly, readContents: countArchive });
}

export function countArchive(db: Database): ArchiveContents {
  const row = db
    .query<{ servers: number; events: number | null }, [string, string]>(
      `SELECT count(*) AS servers, sum(last_number - floor_number) AS events FROM ledgers
       WHERE substr(server_id, 1, length(?1)) <> ?2`,
    )
    .get(REMOVED_PREFIX, REMOVED_PREFIX);
  return { servers: row?.servers ?? 0, events: row?.events ?? 0 };
}

/** Only for a usable file. One of an older version has no webhooks. */
export function readSealedWebhooks(path: string, lockPath = archiveLockPath(path)): SealedWebhook[] {
  return withReadOnlyDatabase(
    path,
    (db) => {
      const hasTable = db.query("SELECT 1 FROM sqlite_schema WHERE name = 'webhooks'").get() !== null;
      if (!hasTable) return [];
      return db
        .query<SealedWebhook, []>(`SELECT ${SEALED_COLUMNS} FROM webhooks ORDER BY created_at, webhook_id`)
        .all();
    },
    lockPath,
  );
}

/** Without the indexes, because that takes too long for a large archive. */
function checkQuickly(db: Database): string | undefined {
  const row = db.query<{ quick_check: string }, []>("PRAGMA quick_check(1)").get();
  const verdict = (row?.quick_check ?? "no answer").replaceAll("\n", " ");
  return verdict === "ok" ? undefined : verdict;
}

/** What doctor reads of a webhook. `disabled_reason` is null while it is enabled, or when the operator disabled it. */
export type SealedWebhook = {
  readonly webhook_id: string;
  readonly label: string;
  readonly sealed_url: string;
  readonly sealed_secret: string;
  readonly sealed_old_secret: string | null;
  readonly disabled_reason: string | null;
};

export const SEALED_COLUMNS = "webhook_id, label, sealed_url, sealed_secret, sealed_old_secret, disabled_reason";
