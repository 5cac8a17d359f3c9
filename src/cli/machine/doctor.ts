// gatehouse doctor: checks for common faults, and says how to fix each.
import { Command } from "commander";
import { StartRefused } from "../../core/errors.ts";
import { type Finding, hasFailure } from "../../doctor/finding.ts";
import { parseConfig, readEnvironment, readProcessEnvironment } from "../../instance/config.ts";
import { canShowColours } from "../terminal/printer.ts";
import { escapeUnsafe } from "../terminal/safe-text.ts";

export function createDoctorCommand(): Command {
  return new Command("doctor")
    .description("check settings, data folder, store, clock, TLS and game API, and say how to fix what is wrong")
    .option("--data-dir <folder>", "the data folder (GATEHOUSE_DATA_DIR, default ./data)")
    .option("--ask-keys", "also test the stored server keys with the game API, 10 at most")
    .option("--ready", "only check whether the running instance is ready, for health checks")
    .option("--json", "print {checks: [{name, result, finding, remedy}]}")
    .addHelpText(
      "after",
      "\nNothing is changed, and an instance may be running. Exit codes: 0 nothing is broken, 1 something is broken.",
    )
    .action(diagnose);
}

type DoctorOptions = { dataDir?: string; askKeys?: boolean; ready?: boolean; json?: boolean };

async function diagnose(options: DoctorOptions): Promise<void> {
  const overrides: Record<string, string> =
    options.dataDir === undefined ? {} : { GATEHOUSE_DATA_DIR: options.dataDir };
  if (options.ready) return reportReadiness(overrides, options.json === true);
  // Loaded here, so that the other commands start faster.
  const { runChecks } = await import("../../doctor/run-checks.ts");
  const testsKeys = options.askKeys === true;
  const environment = readProcessEnvironment();
  const acceptsAllCertificates = environment.NODE_TLS_REJECT_UNAUTHORIZED === "0";
  const checks = await runChecks({ folder: process.cwd(), overrides, testsKeys, acceptsAllCertificates });
  const hasColours = canShowColours(process.stdout, environment);
  process.stdout.write(options.json ? `${JSON.stringify({ checks })}\n` : describe(checks, hasColours));
  process.exitCode = hasFailure(checks) ? 1 : 0;
}

async function reportReadiness(overrides: Record<string, string>, isJson: boolean): Promise<void> {
  const { callInstance, findInstanceUrl } = await import("../../doctor/call-instance.ts");
  const url = findInstanceUrl(parseConfig(readEnvironment(process.cwd(), overrides)));
  const answer = await callInstance(url);
  const isReady = "status" in answer && answer.status === 200;
  if (isJson) process.stdout.write(`${JSON.stringify({ ready: isReady, url })}\n`);
  if (!isReady) {
    const reason = "error" in answer ? answer.error : `HTTP ${answer.status}`;
    throw new StartRefused(`the instance at ${url} is not ready (${reason})`);
  }
  if (!isJson) process.stdout.write(`The instance at ${url} is ready.\n`);
}

const COLOURS: Readonly<Record<Finding["result"], number>> = { ok: 32, warning: 33, failure: 31, skipped: 90 };

const RESULT_WIDTH = 9;
const NAME_WIDTH = 15;

function describe(checks: readonly Finding[], hasColours: boolean): string {
  const paint = (text: string, colour: number) => (hasColours ? `\x1b[${colour}m${text}\x1b[0m` : text);
  const lines = checks.flatMap(({ name, result, finding, remedy }) => {
    const line = `${paint(result.padEnd(RESULT_WIDTH), COLOURS[result])}${name.padEnd(NAME_WIDTH)}${escapeUnsafe(finding)}`;
    return remedy === null ? [line] : [line, `${" ".repeat(RESULT_WIDTH + NAME_WIDTH)}→ ${escapeUnsafe(remedy)}`];
  });
  return `${lines.join("\n")}\n\n${summarise(checks)}\n`;
}

function summarise(checks: readonly Finding[]): string {
  const count = (result: Finding["result"]) => checks.filter((check) => check.result === result).length;
  const [failures, warnings] = [count("failure"), count("warning")];
  if (failures === 0 && warnings === 0) return "All is well.";
  const plural = (number: number, noun: string) => `${number} ${noun}${number === 1 ? "" : "s"}`;
  return `${plural(failures, "failure")}, ${plural(warnings, "warning")}.`;
}
