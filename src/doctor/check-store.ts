// The database: made by Gatehouse, undamaged, of a schema that this version knows, and encrypted with our secret.
import { formatBytes } from "../core/byte-size.ts";
import type { DatabaseReport } from "../store/sqlite/inspect-database.ts";
import { type Finding, fail, ok, skip, warn } from "./finding.ts";

const NAME = "store";

export function judgeStore(report: DatabaseReport, path: string, hasSecret: boolean): Finding[] {
  switch (report.kind) {
    case "absent":
      return [skip(NAME, "There is no database yet; the first start creates it.")];
    case "empty":
      return [ok(NAME, `${path} is still empty; the next start creates its tables.`)];
    case "foreign":
      return [
        fail(
          NAME,
          `${path} is not a Gatehouse database.`,
          "Move it away, or set GATEHOUSE_DATA_DIR to another folder.",
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
          "Stop Gatehouse, move the file and its -wal away, and restore a backup with gatehouse restore.",
        ),
      ];
    case "newer":
      return [
        fail(
          NAME,
          `${path} was made by a newer Gatehouse (schema ${report.schema}, this one knows ${report.knownSchema}).`,
          "Update Gatehouse, or restore a backup that was made with this version.",
        ),
      ];
    case "usable":
      return judgeUsable(report, hasSecret);
  }
}

function judgeUsable(report: DatabaseReport & { kind: "usable" }, hasSecret: boolean): Finding[] {
  const { schema, knownSchema, servers, keys, sizeBytes, isSecretRight } = report;
  const findings: Finding[] = [];
  if (schema < knownSchema) {
    findings.push(
      warn(
        NAME,
        `The database is of schema ${schema}; the next start brings it to ${knownSchema}.`,
        "Make a backup first: older versions cannot open it afterwards.",
      ),
    );
  }
  if (!hasSecret) {
    findings.push(
      fail(
        NAME,
        "The secret that the stored server keys are encrypted with is missing.",
        "Put secret.key back into the data folder, or set GATEHOUSE_SECRET.",
      ),
    );
  } else if (isSecretRight === false) {
    findings.push(
      fail(
        NAME,
        "The secret is not the one this database was made with; the stored server keys cannot be read.",
        "Put the old secret.key back, or set GATEHOUSE_SECRET to the old secret.",
      ),
    );
  }
  if (findings.length > 0) return findings;
  const contents = `${count(servers, "server")} and ${count(keys, "key")} in ${formatBytes(sizeBytes)}`;
  return [ok(NAME, `The database is undamaged, of schema ${schema}, with ${contents}; the secret fits.`)];
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
