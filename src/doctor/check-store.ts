// The databases in the data folder, store and archive: made by Gatehouse, undamaged, of a schema that this version knows, and
// the store encrypted with our secret. For a PostgreSQL see check-postgres.ts.
import { formatBytes } from "../core/human-units.ts";
import { NAMES_MAX, sayNotice } from "../core/notices.ts";
import type { ArchiveReport } from "../database/archive/inspect-archive.ts";
import type { DatabaseReport, ServerMark } from "../database/store/inspect-store.ts";
import { type Finding, reportAs } from "./finding.ts";

type Unusable = Exclude<DatabaseReport, { readonly kind: "usable" }>;

/** How the two files are called, and what to do when one of them cannot be used. */
const STORE = {
  ...reportAs("store"),
  file: "database",
  nameOfOurs: "a Gatehouse database",
  foreign: "Move it away, or set GATEHOUSE_DATA_DIR to another folder.",
  damaged: "Stop Gatehouse, move the file and its -wal away, and restore a backup with gatehouse restore.",
  newer: "Update Gatehouse, or restore a backup that was made with this version.",
};
const ARCHIVE: typeof STORE = {
  ...reportAs("archive"),
  file: "archive",
  nameOfOurs: "an archive of Gatehouse",
  foreign: "Move it away; Gatehouse then creates a new one, without a restart.",
  damaged:
    "Move the file and its -wal away: Gatehouse then begins with an empty archive, without a restart. Or restore a backup.",
  newer: "Update Gatehouse.",
};

export function judgeStore(report: DatabaseReport, path: string, hasSecret: boolean): Finding[] {
  return report.kind === "usable" ? judgeUsable(report, hasSecret) : judgeUnusable(report, path, STORE);
}

export function judgeArchiveFile(report: ArchiveReport, path: string): Finding[] {
  if (report.kind !== "usable") return judgeUnusable(report, path, ARCHIVE);
  const { servers, events, sizeBytes } = report;
  const size = formatBytes(sizeBytes);
  return ARCHIVE.ok(`The archive is undamaged; servers: ${servers}, events: ${events}, in ${size}.`);
}

function judgeUnusable(report: Unusable, path: string, texts: typeof STORE): Finding[] {
  const { ok, fail, skip } = texts;
  switch (report.kind) {
    case "absent":
      return skip(`There is no ${texts.file} yet; the first start creates it.`);
    case "empty":
      return ok(`${path} is still empty; the next start creates its tables.`);
    case "foreign":
      return fail(`${path} is not ${texts.nameOfOurs}.`, texts.foreign);
    case "unreadable":
      return fail(
        `${path} cannot be read: ${report.reason}.`,
        "Check its permissions, and run the command as the user that Gatehouse runs as.",
      );
    case "damaged":
      return fail(`${path} is damaged: ${report.problem}.`, texts.damaged);
    case "newer": {
      const schemas = `(schema ${report.schema}, this one knows ${report.knownSchema})`;
      return fail(`${path} was made by a newer Gatehouse ${schemas}.`, texts.newer);
    }
  }
}

function judgeUsable(report: DatabaseReport & { kind: "usable" }, hasSecret: boolean): Finding[] {
  const { ok, fail, warn } = STORE;
  const { schema, knownSchema, servers, keys, sizeBytes, isSecretRight } = report;
  const findings: Finding[] = [];
  if (schema < knownSchema) {
    findings.push(
      ...warn(
        `The database is of schema ${schema}; the next start brings it to ${knownSchema}.`,
        "Make a backup first: older versions cannot open it afterwards. If a start has refused to, its last line says why, and the version before still works.",
      ),
    );
  }
  if (!hasSecret) {
    findings.push(
      ...fail(
        "The secret that the stored server keys are encrypted with is missing.",
        "Put secret.key back into the data folder, or set GATEHOUSE_SECRET.",
      ),
    );
  } else if (isSecretRight === false) {
    findings.push(
      ...fail(
        "The secret is not the one this database was made with; the stored server keys cannot be read.",
        "Put the old secret.key back, or set GATEHOUSE_SECRET to the old secret.",
      ),
    );
  }
  if (findings.length > 0) return findings;
  const contents = `${count(servers, "server")} and ${count(keys, "key")} in ${formatBytes(sizeBytes)}`;
  return ok(`The database is undamaged, of schema ${schema}, with ${contents}; the secret fits.`);
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

/** Finds the stored servers that do not belong to the upstream that the settings name: they would be parked. */
export function judgeServerMarks(servers: readonly ServerMark[], isSimulatorInUse: boolean): Finding[] {
  const parked = servers.filter(({ isSimulated }) => isSimulated !== isSimulatorInUse).map(({ name }) => name);
  if (parked.length === 0) return [];
  const about = { count: parked.length, servers: parked.slice(0, NAMES_MAX), simulated: !isSimulatorInUse };
  const { message, remedy } = sayNotice({ code: "parked_servers", ...about });
  return reportAs("servers").warn(message, remedy);
}
