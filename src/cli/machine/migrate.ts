// gatehouse migrate: moves everything that lasts from the data folder to a PostgreSQL, or back. An address with a password is
// refused as an argument, because other users of the machine can read arguments.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { Command } from "commander";
import { findFaultWords } from "../../core/system-faults.ts";
import { DATA_DIR_DEFAULT, readEnvironment } from "../../instance/config.ts";
import type { Migration, MigrationSettings, Progress } from "../../maintenance/migrate.ts";
import { failUsage } from "../exit-codes.ts";
import { readInputLine } from "../terminal/prompts.ts";

const BAR_WIDTH = 30;
const LEFT_BEHIND = ["windows of the limit", "the list of instances and their leases"];

export function createMigrateCommand(): Command {
  return new Command("migrate")
    .description("move everything that lasts, the archive too, to another, empty place: sqlite or a PostgreSQL")
    .option("--from <place>", "sqlite (in the data folder), the address of a PostgreSQL, or - for standard input")
    .option("--from-file <file>", "file with the address to move from")
    .option("--to <place>", "where to move everything: sqlite, the address of a PostgreSQL, or -")
    .option("--to-file <file>", "file with the address to move to")
    .option("--data-dir <folder>", "the data folder (GATEHOUSE_DATA_DIR, default ./data)")
    .option("--json", "print what was moved as one JSON line")
    .addHelpText(
      "after",
      "\nThe one that you leave out is that in GATEHOUSE_STORE. An address with a password is not accepted as an argument.\n" +
        "Stop every instance first. The source keeps everything. A move that was interrupted goes on when you run it again;\n" +
        "until then no instance starts on the new place. An archive for which GATEHOUSE_ARCHIVE names another place stays there.\n" +
        "Both places are encrypted with the same secret: GATEHOUSE_SECRET, or secret.key in the data folder.",
    )
    .action(moveEverything);
}

type MigrateOptions = {
  from?: string;
  fromFile?: string;
  to?: string;
  toFile?: string;
  dataDir?: string;
  json?: boolean;
};

async function moveEverything({ dataDir, json, ...options }: MigrateOptions): Promise<void> {
  const environment = readEnvironment(process.cwd());
  const { from, to } = findPlaces(options, environment.GATEHOUSE_STORE?.trim() || undefined);
  process.umask(0o077);
  const showsProgress = process.stderr.isTTY === true;
  const settings: MigrationSettings = {
    from,
    to,
    dataDir: dataDir ?? environment.GATEHOUSE_DATA_DIR ?? DATA_DIR_DEFAULT,
    secret: environment.GATEHOUSE_SECRET?.trim() || undefined,
    archive: environment.GATEHOUSE_ARCHIVE?.trim() || undefined,
    onProgress: (progress) => {
      if (showsProgress) process.stderr.write(drawBar(progress));
    },
  };
  const { migrate } = await import("../../maintenance/migrate.ts");
  const migration = await migrate(settings);
  if (showsProgress) process.stderr.write("\r\x1b[K");
  process.stdout.write(json ? `${toJson(migration)}\n` : `${describe(migration, settings).join("\n")}\n`);
}

function toJson({ wasDone, isResumed, moved, whyNoArchive }: Migration): string {
  return JSON.stringify({
    was_done: wasDone,
    resumed: isResumed,
    moved,
    not_moved: listLeft(whyNoArchive),
  });
}

function listLeft(whyNoArchive: string | undefined): string[] {
  return [...LEFT_BEHIND, ...(whyNoArchive === undefined ? [] : [`the archive: ${whyNoArchive}`])];
}

function describe({ wasDone, isResumed, moved, whyNoArchive }: Migration, settings: MigrationSettings): string[] {
  const { to, secret, dataDir } = settings;
  const rows = Object.entries(moved).filter(([, count]) => count > 0);
  const title = isResumed ? "Moved, after an interruption" : "Moved";
  return [
    wasDone ? "This was moved before, completely. Nothing was changed." : `${title}: every row arrived as it was.`,
    "",
    ...rows.map(([table, count]) => `  ${String(count).padStart(9)}  ${table}`),
    "",
    ...listLeft(whyNoArchive).map((left) => `Not moved: ${left}.`),
    "",
    `Set GATEHOUSE_STORE to ${to === "sqlite" ? "sqlite" : "the new address"}, and start.`,
    ...(to !== "sqlite" && secret === undefined
      ? [
          `Every instance needs the secret, and the master key: set GATEHOUSE_SECRET and GATEHOUSE_MASTER_KEY to what is in`,
          `secret.key and master.key in ${resolve(dataDir)}.`,
        ]
      : []),
  ];
}

/** GATEHOUSE_STORE takes the place of the one that is left out. */
function findPlaces(options: MigrateOptions, configured: string | undefined): { from: string; to: string } {
  const from = findStore({ option: "--from", argument: options.from, file: options.fromFile });
  const to = findStore({ option: "--to", argument: options.to, file: options.toFile });
  if (from !== undefined && to !== undefined) return { from, to };
  if (from === undefined && to === undefined) failUsage("say what to move, with --from, or where to, with --to");
  if (configured === undefined)
    failUsage(`no ${from === undefined ? "--from" : "--to"}: give it, or set GATEHOUSE_STORE`);
  return { from: from ?? configured, to: to ?? configured };
}

function drawBar({ step, done, total }: Progress): string {
  const filled = total === 0 ? BAR_WIDTH : Math.round((done / total) * BAR_WIDTH);
  const words = step === "move" ? "rows" : "rows compared";
  return `\r\x1b[K[${"#".repeat(filled)}${".".repeat(BAR_WIDTH - filled)}] ${done} of ${total} ${words}`;
}

type GivenStore = {
  /** The option's name, such as "--to". */
  readonly option: string;
  readonly argument: string | undefined;
  readonly file: string | undefined;
};

/** Undefined when neither the option nor the file is given. */
function findStore({ option, argument, file }: GivenStore): string | undefined {
  if (argument !== undefined && file !== undefined) failUsage(`give ${option} or ${option}-file, not both`);
  if (file !== undefined) return readAddressFile(file, option);
  if (argument === "-") return readInputLine() || failUsage(`${option} - reads standard input, which is empty`);
  if (argument !== undefined && hasPassword(argument)) {
    failUsage(
      `${option} has a password, which other users of this machine can read in the list of processes: ` +
        `put the address into a file (${option}-file), standard input (${option} -) or GATEHOUSE_STORE, and change the password`,
    );
  }
  return argument;
}

function hasPassword(address: string): boolean {
  return /:\/\/[^@]*:[^@]*@/.test(address);
}

function readAddressFile(path: string, option: string): string {
  try {
    return readFileSync(path, "utf8").trim() || failUsage(`${path} (${option}-file) is empty`);
  } catch (error) {
    const words = findFaultWords(error);
    if (words === undefined) throw error;
    return failUsage(`${path} (${option}-file) cannot be read: ${words}`);
  }
}
