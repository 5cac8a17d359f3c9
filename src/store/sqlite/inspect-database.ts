// Inspects a database without changing it: whether it is ours, its schema, its integrity and its contents.
import type { Database } from "bun:sqlite";
import { statSync } from "node:fs";
import { isOurHeader, readHeader } from "../../sqlite/database-file.ts";
import { codeInVerdict, isDamage } from "../../sqlite/explain-open-error.ts";
import { findDamage } from "../../sqlite/find-damage.ts";
import { withReadOnlyDatabase } from "../../sqlite/read-only-database.ts";
import type { Sealer } from "../sealer.ts";
import { isRightSecret, SECRET_CHECK } from "../secret-check.ts";
import { SCHEMA_VERSION } from "./migrations.ts";
import { STORE_FORMAT } from "./open-database.ts";

export type DatabaseReport =
  | { readonly kind: "absent" }
  /** Has no tables yet: a first start was interrupted. */
  | { readonly kind: "empty" }
  | { readonly kind: "foreign" }
  | { readonly kind: "unreadable"; readonly reason: string }
  | { readonly kind: "damaged"; readonly problem: string }
  | { readonly kind: "newer"; readonly schema: number; readonly knownSchema: number }
  | {
      readonly kind: "usable";
      readonly schema: number;
      readonly knownSchema: number;
      readonly sizeBytes: number;
      readonly servers: number;
      /** Without revoked keys. */
      readonly keys: number;
      /** Undefined when nothing was sealed yet, or no sealer was given. */
      readonly isSecretRight: boolean | undefined;
    };

export function inspectDatabase(path: string, sealer?: Sealer): DatabaseReport {
  const file = statSync(path, { throwIfNoEntry: false });
  if (!file) return { kind: "absent" };
  if (file.size === 0) return { kind: "empty" };
  try {
    if (!isOurHeader(readHeader(path), STORE_FORMAT)) return { kind: "foreign" };
  } catch (error) {
    return { kind: "unreadable", reason: messageOf(error) };
  }
  try {
    return withReadOnlyDatabase(path, (db) => inspectOpen(db, sealer));
  } catch (error) {
    return isDamage(error)
      ? { kind: "damaged", problem: messageOf(error) }
      : { kind: "unreadable", reason: messageOf(error) };
  }
}

function inspectOpen(db: Database, sealer: Sealer | undefined): DatabaseReport {
  const problem = findDamage(db);
  if (problem !== undefined) {
    const isUnread = codeInVerdict(problem) !== undefined;
    return isUnread ? { kind: "unreadable", reason: problem } : { kind: "damaged", problem };
  }
  const schema = readNumber(db, "SELECT user_version AS n FROM pragma_user_version");
  if (schema > SCHEMA_VERSION) return { kind: "newer", schema, knownSchema: SCHEMA_VERSION };
  if (schema === 0) return { kind: "empty" };
  return {
    kind: "usable",
    schema,
    knownSchema: SCHEMA_VERSION,
    sizeBytes: readNumber(db, "SELECT page_count * page_size AS n FROM pragma_page_count, pragma_page_size"),
    ...countContents(db),
    isSecretRight: sealer && checkSecret(db, sealer),
  };
}

export function countContents(db: Database): { servers: number; keys: number } {
  return {
    servers: readNumber(db, "SELECT count(*) AS n FROM servers"),
    keys: readNumber(db, "SELECT count(*) AS n FROM keys WHERE revoked_at IS NULL"),
  };
}

function checkSecret(db: Database, sealer: Sealer): boolean | undefined {
  const row = db
    .query<{ value: string }, [string]>("SELECT value FROM settings WHERE name = ?")
    .get(SECRET_CHECK);
  return row ? isRightSecret(row.value, sealer) : undefined;
}

function readNumber(db: Database, query: string): number {
  return db.query<{ n: number }, []>(query).get()?.n ?? 0;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
