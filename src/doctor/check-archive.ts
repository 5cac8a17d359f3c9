// The archive: a file in the data folder, or a PostgreSQL that can be reached, is new enough and has tables that we know.
import { SQL } from "bun";
import { hideAddress } from "../core/archive-address.ts";
import { formatBytes } from "../core/byte-size.ts";
import { findFaultWords } from "../core/system-faults.ts";
import type { ArchiveReport } from "../database/archive/inspect-archive.ts";
import { ARCHIVE_MIGRATIONS } from "../database/archive/migrations.ts";
import { SEALED_COLUMNS, type SealedWebhook } from "../database/archive/sealed-webhook.ts";
import { type Finding, fail, ok, skip, warn } from "./finding.ts";

const NAME = "archive";
const ARCHIVE_STEPS = ARCHIVE_MIGRATIONS.steps.length;
const DEADLINE_MS = 5_000;
const VERSION_MIN = 15;

export function judgeArchiveFile(report: ArchiveReport, path: string): Finding[] {
  switch (report.kind) {
    case "absent":
      return [skip(NAME, "There is no archive yet; the first start creates it.")];
    case "empty":
      return [ok(NAME, `${path} is still empty; the next start creates its tables.`)];
    case "foreign":
      return [
        fail(
          NAME,
          `${path} is not an archive of Gatehouse.`,
          "Move it away; Gatehouse then creates a new one, without a restart.",
        ),
      ];
    case "unreadable":
      return [
        fail(
          NAME,
          `${path} cannot be read: ${report.reason}.`,
          "Check its permissions, and run the command as the user that Gatehouse runs as.",
        ),
      ];
    case "damaged":
      return [
        fail(
          NAME,
          `${path} is damaged: ${report.problem}.`,
          "Move the file and its -wal away: Gatehouse then begins with an empty archive, without a restart. Or restore a backup.",
        ),
      ];
    case "newer":
      return [
        fail(
          NAME,
          `${path} was made by a newer Gatehouse (schema ${report.schema}, this one knows ${report.knownSchema}).`,
          "Update Gatehouse.",
        ),
      ];
    case "usable": {
      const { servers, events, sizeBytes } = report;
      return [
        ok(
          NAME,
          `The archive is undamaged; servers: ${servers}, events: ${events}, in ${formatBytes(sizeBytes)}.`,
        ),
      ];
    }
  }
}

export type PostgresFacts =
  | { readonly kind: "unreachable"; readonly reason: string }
  | {
      readonly kind: "reached";
      readonly version: number;
      /** The newest step of the schema; undefined when there are no tables of ours. */
      readonly schema: number | undefined;
      readonly canWrite: boolean;
      readonly webhooks: readonly SealedWebhook[];
    };

/** Changes nothing. */
export async function inspectPostgres(url: string): Promise<PostgresFacts> {
  const sql = new SQL(url, { max: 1, connectionTimeout: DEADLINE_MS / 1000 });
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    late.reject(new Error(`no answer within ${DEADLINE_MS / 1000} s`));
  }, DEADLINE_MS);
  try {
    return await Promise.race([askPostgres(sql), late.promise]);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { kind: "unreachable", reason: hideAddress(findFaultWords(error) ?? message, url) };
  } finally {
    clearTimeout(timer);
    void sql.close({ timeout: 0 }).catch(() => {});
  }
}

async function askPostgres(sql: SQL): Promise<PostgresFacts> {
  const [row] = await sql<
    { version: string; has_tables: boolean; has_webhooks: boolean; is_read_only: boolean }[]
  >`
    SELECT current_setting('server_version_num') AS version, to_regclass('gatehouse.migrations') IS NOT NULL AS has_tables,
      to_regclass('gatehouse.webhooks') IS NOT NULL AS has_webhooks,
      pg_is_in_recovery() OR current_setting('default_transaction_read_only') = 'on' AS is_read_only`;
  const [steps] = row?.has_tables
    ? await sql<
        { steps: string }[]
      >`SELECT count(*) AS steps FROM gatehouse.migrations WHERE list = 'archive'`
    : [];
  const webhooks: SealedWebhook[] = row?.has_webhooks
    ? await sql.unsafe(`SELECT ${SEALED_COLUMNS} FROM gatehouse.webhooks ORDER BY created_at, webhook_id`)
    : [];
  return {
    kind: "reached",
    version: Math.floor(Number(row?.version ?? 0) / 10_000),
    schema: steps && Number(steps.steps),
    canWrite: row?.is_read_only === false,
    webhooks: [...webhooks],
  };
}

export function judgePostgres(facts: PostgresFacts): Finding[] {
  if (facts.kind === "unreachable") {
    const remedy =
      "Check that PostgreSQL runs, and the address, user and password in GATEHOUSE_ARCHIVE. Events wait in memory meanwhile.";
    return [fail(NAME, `PostgreSQL cannot be used: ${facts.reason}.`, remedy)];
  }
  const { version, schema, canWrite } = facts;
  const findings: Finding[] = [];
  if (version < VERSION_MIN)
    findings.push(fail(NAME, `PostgreSQL ${version} is too old.`, `Update to ${VERSION_MIN} or newer.`));
  if (schema !== undefined && schema > ARCHIVE_STEPS)
    findings.push(
      fail(
        NAME,
        `The tables were made by a newer Gatehouse (schema ${schema}, this one knows ${ARCHIVE_STEPS}).`,
        "Update Gatehouse.",
      ),
    );
  if (!canWrite)
    findings.push(
      fail(NAME, "PostgreSQL is read-only.", "Use the address of the primary, with a user that may write."),
    );
  if (findings.length > 0) return findings;
  if (schema === undefined)
    return [
      warn(NAME, `PostgreSQL ${version} has no tables of Gatehouse yet.`, "The next start creates them."),
    ];
  return [ok(NAME, `PostgreSQL ${version} can be used, with schema ${schema}.`)];
}
