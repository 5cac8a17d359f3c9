// PostgreSQL as the store, or as the archive: reachable, new enough, writable, with tables that we know, and sealed with our
// secret.
import { SQL } from "bun";
import { NOTE_NAMES, parseNotes, type SavedNotes } from "../core/readings/upstream-notes.ts";
import { findFaultWords } from "../core/system-faults.ts";
import { SEALED_COLUMNS, type SealedWebhook } from "../database/archive/inspect-archive.ts";
import { ARCHIVE_MIGRATIONS } from "../database/archive/migrations.ts";
import { hideAddress } from "../database/postgres.ts";
import { isRightSecret, SECRET_CHECK, type Sealer } from "../database/sealer.ts";
import { STORE_MIGRATIONS } from "../database/store/migrations.ts";
import { type Finding, reportAs } from "./finding.ts";

const DEADLINE_MS = 5_000;
const VERSION_MIN = 15;

/** What is in the database. */
export type PostgresRole = "store" | "archive";
const STEPS = { store: STORE_MIGRATIONS.steps.length, archive: ARCHIVE_MIGRATIONS.steps.length } as const;
const SETTINGS = { store: "GATEHOUSE_STORE", archive: "GATEHOUSE_ARCHIVE" } as const;

export type PostgresFacts =
  | { readonly kind: "unreachable"; readonly reason: string }
  | {
      readonly kind: "reached";
      readonly version: number;
      /** The newest step of the schema; undefined when there are no tables of ours. */
      readonly schema: number | undefined;
      readonly canWrite: boolean;
    };

export type StoreContents = {
  readonly servers: number;
  /** Without revoked keys. */
  readonly keys: number;
  /** Undefined when nothing was sealed yet, or no sealer was given. */
  readonly isSecretRight: boolean | undefined;
};

/** Changes nothing. `read` is for databases that have tables of this role. */
export async function inspectPostgres<T>(
  url: string,
  role: PostgresRole,
  read: (sql: SQL) => Promise<T>,
): Promise<{ readonly facts: PostgresFacts; readonly found: T | undefined }> {
  try {
    return await withPostgres(url, async (sql) => {
      const facts = await askPostgres(sql, role);
      const isKnown = facts.schema !== undefined && facts.schema <= STEPS[role];
      return { facts, found: isKnown ? await read(sql) : undefined };
    });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const reason = hideAddress(findFaultWords(error) ?? message, url);
    return { facts: { kind: "unreachable", reason }, found: undefined };
  }
}

async function withPostgres<T>(url: string, work: (sql: SQL) => Promise<T>): Promise<T> {
  const sql = new SQL(url, { max: 1, connectionTimeout: DEADLINE_MS / 1000 });
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    late.reject(new Error(`no answer within ${DEADLINE_MS / 1000} s`));
  }, DEADLINE_MS);
  try {
    return await Promise.race([work(sql), late.promise]);
  } finally {
    clearTimeout(timer);
    void sql.close({ timeout: 0 }).catch(() => {});
  }
}

async function askPostgres(sql: SQL, role: PostgresRole): Promise<PostgresFacts & { kind: "reached" }> {
  const [row] = await sql<{ version: string; has_tables: boolean; is_read_only: boolean }[]>`
    SELECT current_setting('server_version_num') AS version, to_regclass('gatehouse.migrations') IS NOT NULL AS has_tables,
      pg_is_in_recovery() OR current_setting('default_transaction_read_only') = 'on' AS is_read_only`;
  const [counted] = row?.has_tables
    ? await sql<{ steps: string }[]>`SELECT nullif(count(*), 0) AS steps FROM gatehouse.migrations WHERE list = ${role}`
    : [];
  return {
    kind: "reached",
    version: Math.floor(Number(row?.version ?? 0) / 10_000),
    schema: counted?.steps ? Number(counted.steps) : undefined,
    canWrite: row?.is_read_only === false,
  };
}

export async function readWebhooks(sql: SQL): Promise<readonly SealedWebhook[]> {
  const text = `SELECT ${SEALED_COLUMNS} FROM gatehouse.webhooks ORDER BY created_at, webhook_id`;
  return [...(await sql.unsafe(text))];
}

export async function readStoreContents(sql: SQL, sealer: Sealer | undefined): Promise<StoreContents> {
  const [row] = await sql<{ servers: string; keys: string; sealed: string | null }[]>`
    SELECT (SELECT count(*) FROM gatehouse.servers) AS servers,
      (SELECT count(*) FROM gatehouse.keys WHERE revoked_at IS NULL) AS keys,
      (SELECT value FROM gatehouse.settings WHERE name = ${SECRET_CHECK}) AS sealed`;
  const sealed = row?.sealed ?? undefined;
  return {
    servers: Number(row?.servers ?? 0),
    keys: Number(row?.keys ?? 0),
    isSecretRight: sealed !== undefined && sealer ? isRightSecret(sealed, sealer) : undefined,
  };
}

/** What all instances have noted about the game API. Throws when PostgreSQL cannot be read. */
export async function readPostgresNotes(url: string, identity: string): Promise<SavedNotes> {
  const read = async (sql: SQL) => {
    const settings = await sql<{ name: string; value: string }[]>`SELECT name, value FROM gatehouse.settings`;
    const revisions = await sql<
      { server_id: string; key_revision: string }[]
    >`SELECT server_id, key_revision FROM gatehouse.servers`;
    return { settings, revisions };
  };
  const { facts, found } = await inspectPostgres(url, "store", read);
  if (facts.kind === "unreachable") throw new Error(facts.reason);
  const texts = new Map(found?.settings.map(({ name, value }) => [name, value]));
  const revisions = new Map(found?.revisions.map((row) => [row.server_id, Number(row.key_revision)]));
  return parseNotes(
    (name) => (NOTE_NAMES.includes(name) ? texts.get(name) : undefined),
    (serverId) => revisions.get(serverId),
    identity,
  );
}

export function judgePostgres(facts: PostgresFacts, role: PostgresRole): Finding[] {
  const { ok, warn, fail } = reportAs(role);
  if (facts.kind === "unreachable") {
    const meanwhile =
      role === "archive"
        ? " Events wait in memory meanwhile."
        : " Reads of known keys go on meanwhile (database_away).";
    const remedy = `Check that PostgreSQL runs, and the address, user and password in ${SETTINGS[role]}.${meanwhile}`;
    return fail(`PostgreSQL cannot be used: ${facts.reason}.`, remedy);
  }
  const { version, schema, canWrite } = facts;
  const findings: Finding[] = [];
  if (version < VERSION_MIN)
    findings.push(...fail(`PostgreSQL ${version} is too old.`, `Update to ${VERSION_MIN} or newer.`));
  if (schema !== undefined && schema > STEPS[role])
    findings.push(
      ...fail(
        `The tables were made by a newer Gatehouse (schema ${schema}, this one knows ${STEPS[role]}).`,
        "Update Gatehouse.",
      ),
    );
  if (!canWrite)
    findings.push(...fail("PostgreSQL is read-only.", "Use the address of the primary, with a user that may write."));
  if (findings.length > 0) return findings;
  if (schema === undefined)
    return warn(`PostgreSQL ${version} has no tables of Gatehouse yet.`, "The next start creates them.");
  return ok(`PostgreSQL ${version} can be used, with schema ${schema}.`);
}

export function judgeStoreContents({ servers, keys, isSecretRight }: StoreContents): Finding[] {
  const { ok, fail } = reportAs("store");
  if (isSecretRight === false) {
    const remedy = "Set GATEHOUSE_SECRET to the same on all instances.";
    return fail("The secret is not the one that this database was made with.", remedy);
  }
  return ok(`It holds servers: ${servers}, keys: ${keys}.`);
}
