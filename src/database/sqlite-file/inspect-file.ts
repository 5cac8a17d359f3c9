// Looks at the file of an embedded database without changing it, also while an instance uses it.
import type { Database } from "bun:sqlite";
import { statSync } from "node:fs";
import { type DatabaseFormat, isOurHeader, readHeader } from "./database-file.ts";
import { codeInVerdict, isDamage } from "./explain-open-error.ts";
import { withReadOnlyDatabase } from "./read-only-database.ts";

export type FileReport<Contents> =
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
    } & Contents);

type Inspection<Contents> = {
  readonly format: DatabaseFormat;
  /** The lock of the instance that uses the file, when it is not its own. */
  readonly lockPath?: string;
  /** Looks for damage; undefined when there is none. */
  readonly findDamage: (db: Database) => string | undefined;
  readonly readContents: (db: Database) => Contents;
};

export function inspectFile<Contents>(path: string, inspection: Inspection<Contents>): FileReport<Contents> {
  const file = statSync(path, { throwIfNoEntry: false });
  if (!file) return { kind: "absent" };
  if (file.size === 0) return { kind: "empty" };
  try {
    if (!isOurHeader(readHeader(path), inspection.format)) return { kind: "foreign" };
    return withReadOnlyDatabase(path, (db) => inspectOpen(db, file.size, inspection), inspection.lockPath);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return isDamage(error) ? { kind: "damaged", problem: reason } : { kind: "unreadable", reason };
  }
}

function inspectOpen<Contents>(
  db: Database,
  sizeBytes: number,
  { format: { schemaVersion: knownSchema }, findDamage, readContents }: Inspection<Contents>,
): FileReport<Contents> {
  const problem = findDamage(db);
  if (problem !== undefined) {
    const isUnread = codeInVerdict(problem) !== undefined;
    return isUnread ? { kind: "unreadable", reason: problem } : { kind: "damaged", problem };
  }
  const schema = db.query<{ user_version: number }, []>("PRAGMA user_version").get()?.user_version ?? 0;
  if (schema > knownSchema) return { kind: "newer", schema, knownSchema };
  if (schema === 0) return { kind: "empty" };
  return { kind: "usable", schema, knownSchema, sizeBytes, ...readContents(db) };
}
