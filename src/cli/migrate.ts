// gatehouse migrate: moves an instance from the embedded store to a Redis, or back.
import { Command } from "commander";
import { readEnvironment } from "../config.ts";
import { isPostgresAddress } from "../core/archive-address.ts";
import type { ArchiveMove } from "../maintenance/move-archive.ts";
import { failUsage } from "./exit-codes.ts";
import { findStore } from "./store-address.ts";

const BAR_WIDTH = 30;

export function createMigrateCommand(): Command {
  return new Command("migrate")
    .description(
      "move servers, keys, blocks and waiting commands to another, empty store; or the archive to or from a PostgreSQL",
    )
    .option(
      "--from <store>",
      "sqlite (in the data folder), the address of a Redis or PostgreSQL, or - for standard input",
    )
    .option("--from-file <file>", "file with the address to move from")
    .option("--to <store>", "where to move everything: sqlite, the address of a Redis or PostgreSQL, or -")
    .option("--to-file <file>", "file with the address to move to")
    .option("--data-dir <folder>", "the data folder (GATEHOUSE_DATA_DIR, default ./data)")
    .option("--json", "print the counts as one JSON line")
    .addHelpText(
      "after",
      "\nWith postgres://… as one of the two, the archive is moved (sqlite is then archive.db), else the store.\n" +
        "The one that you leave out is that in GATEHOUSE_STORE, or in GATEHOUSE_ARCHIVE for the archive. An address with a password is not accepted as an argument.\n" +
        "Stop every instance first. The source is not changed. Usage, audit log and finished commands stay behind.\n" +
        "Both stores are encrypted with the same secret: GATEHOUSE_SECRET, or secret.key in the data folder.",
    )
    .action(migrateStore);
}

type MigrateOptions = {
  from?: string;
  fromFile?: string;
  to?: string;
  toFile?: string;
  dataDir?: string;
  json?: boolean;
};

async function migrateStore({ dataDir, json, ...options }: MigrateOptions): Promise<void> {
  const environment = readEnvironment(process.cwd());
  const { from, to } = findStores(options, environment);
  process.umask(0o077);
  const showsProgress = process.stderr.isTTY === true;
  const move = {
    from,
    to,
    dataDir: dataDir ?? environment.GATEHOUSE_DATA_DIR ?? "./data",
    onProgress: (done: number, total: number) => {
      if (showsProgress) process.stderr.write(drawBar(done, total));
    },
  };
  if (isPostgresAddress(from) || isPostgresAddress(to))
    return migrateArchive(move, json === true, showsProgress);
  const { migrate } = await import("../maintenance/migrate.ts");
  const { moved } = await migrate({ ...move, secret: environment.GATEHOUSE_SECRET?.trim() || undefined });
  if (showsProgress) process.stderr.write("\r\x1b[K");
  const { server: servers, key: keys, block: blocks, command: commands } = moved;
  if (json) process.stdout.write(`${JSON.stringify({ servers, keys, blocks, commands })}\n`);
  else {
    process.stdout.write(
      `Moved servers: ${servers}, keys: ${keys}, blocks: ${blocks}, waiting commands: ${commands}.\n` +
        "Everything arrived as it was. Set GATEHOUSE_STORE to the new store and start.\n",
    );
  }
}

async function migrateArchive(move: ArchiveMove, isJson: boolean, showsProgress: boolean): Promise<void> {
  const { moveArchive } = await import("../maintenance/move-archive.ts");
  const { servers, events } = await moveArchive(move);
  if (showsProgress) process.stderr.write("\r\x1b[K");
  if (isJson) process.stdout.write(`${JSON.stringify({ servers, events })}\n`);
  else {
    process.stdout.write(
      `Moved the archive: servers: ${servers}, events: ${events}.\n` +
        "Everything arrived as it was. Set GATEHOUSE_ARCHIVE to the new archive and start.\n",
    );
  }
}

/** What the environment names takes the place of the one that is left out. */
function findStores(
  options: MigrateOptions,
  environment: Readonly<Record<string, string | undefined>>,
): { from: string; to: string } {
  const from = findStore({ option: "--from", argument: options.from, file: options.fromFile });
  const to = findStore({ option: "--to", argument: options.to, file: options.toFile });
  if (from !== undefined && to !== undefined) return { from, to };
  if (from === undefined && to === undefined)
    failUsage("say what to move, with --from, or where to, with --to");
  const setting = isPostgresAddress(from ?? to ?? "") ? "GATEHOUSE_ARCHIVE" : "GATEHOUSE_STORE";
  const configured = environment[setting]?.trim() || undefined;
  if (configured === undefined) {
    failUsage(`no ${from === undefined ? "--from" : "--to"}: give it, or set ${setting}`);
  }
  return { from: from ?? configured, to: to ?? configured };
}

function drawBar(done: number, total: number): string {
  const filled = total === 0 ? BAR_WIDTH : Math.round((done / total) * BAR_WIDTH);
  return `\r[${"#".repeat(filled)}${".".repeat(BAR_WIDTH - filled)}] ${done} of ${total}`;
}
