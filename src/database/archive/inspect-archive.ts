// Looks at the file of the embedded archive without changing it, also while an instance uses it.
import type { Database } from "bun:sqlite";
import { statSync } from "node:fs";
import { dirname, join } from "node:path";
import { isOurHeader, readHeader } from "../../sqlite/database-file.ts";
import { codeInVerdict, isDamage } from "../../sqlite/explain-open-error.ts";
import { lockPathOf, withReadOnlyDatabase } from "../../sqlite/read-only-database.ts";
import { REMOVED_PREFIX } from "./ledger.ts";
import { ARCHIVE_FORMAT } from "./open-archive-file.ts";
import { SEALED_COLUMNS, type SealedWebhook } from "./sealed-webhook.ts";

export type ArchiveContents = { readonly servers: number; readonly events: number };

export type ArchiveReport =
  | { readonly kind: "absent" }
  /** Has no tables yet: a first start was interrupted. */
  | { readonly kind: "empty" }
  | { readonly kind: "foreign" }
  | { readonly kind: "unreadable"; readonly reason: string }
  | { readonly kind: "damaged"; readonly problem: string }
  | { readonly kind: "newer"; readonly schema: number; readonly knownSchema: number }
  | ({
      readonly kind: "usable";
      readonly schema: number;
      readonly knownSchema: number;
      readonly sizeBytes: number;
    } & ArchiveContents);

/** The archive has no lock of its own: an instance locks its data folder with that of the store. */
export function archiveLockPath(path: string): string {
  return lockPathOf(join(dirname(path), "gatehouse.db"));
}

export function inspectArchive(path: string, lockPath = archiveLockPath(path)): ArchiveReport {
  const file = statSync(path, { throwIfNoEntry: false });
  if (!file) return { kind: "absent" };
  if (file.size === 0) return { kind: "empty" };
  try {
    if (!isOurHeader(readHeader(path), ARCHIVE_FORMAT)) return { kind: "foreign" };
    return withReadOnlyDatabase(path, (db) => inspectOpen(db, file.size), lockPath);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return isDamage(error) ? { kind: "damaged", problem: reason } : { kind: "unreadable", reason };
  }
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

function inspectOpen(db: Database, sizeBytes: number): ArchiveReport {
  const row = db.query<{ quick_check: string }, []>("PRAGMA quick_check(1)").get();
  const verdict = (row?.quick_check ?? "no answer").replaceAll("\n", " ");
  if (verdict !== "ok") {
    return codeInVerdict(verdict) === undefined
      ? { kind: "damaged", problem: verdict }
      : { kind: "unreadable", reason: verdict };
  }
  const { schemaVersion: knownSchema } = ARCHIVE_FORMAT;
  const found = db.query<{ user_version: number }, []>("PRAGMA user_version").get();
  const schema = found?.user_version ?? 0;
  if (schema > knownSchema) return { kind: "newer", schema, knownSchema };
  if (schema === 0) return { kind: "empty" };
  return { kind: "usable", schema, knownSchema, sizeBytes, ...countArchive(db) };
}
