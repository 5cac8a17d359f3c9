// gatehouse backup copies the database of an instance, running or not, into one file; gatehouse restore copies it back,
// into a data folder that has no database.
import { statSync } from "node:fs";
import { dirname, join } from "node:path";
import { Command, InvalidArgumentError } from "commander";
import { formatBytes } from "../../core/human-units.ts";
import { type Config, parseConfig, readEnvironment } from "../../instance/config.ts";
import type { Backup } from "../../maintenance/backup.ts";
import { failUsage } from "../exit-codes.ts";

type Options = { readonly dataDir?: string; readonly keep?: number; readonly json?: boolean };
type ArchiveCopy = Backup["archive"];

export function createBackupCommand(): Command {
  return addOptions(
    new Command("backup")
      .description(
        "copy the database into a file, and the archive beside it, while an instance runs or while none does",
      )
      .argument("[file]", "the file to write, or a folder (default gatehouse-backup-<UTC time>.db in this folder)")
      .option("--keep <number>", "then delete older backups in that folder, all but so many", parseKeep),
    "\nThe archive goes into a second file, name.archive.db beside name.db. A PostgreSQL archive is backed up with pg_dump.\n" +
      "secret.key is not in the copy: keep it in another place, because a backup without it cannot be restored.",
  ).action(backUp);
}

export function createRestoreCommand(): Command {
  return addOptions(
    new Command("restore")
      .description("restore a backup into a data folder without a database; nothing is ever overwritten")
      .argument("<file>", "the backup"),
    "\nThe archive is restored from the file name.archive.db beside name.db, if it is there.\n" +
      "The secret.key that belongs to the backup must be in the data folder first, or GATEHOUSE_SECRET be set.",
  ).action(restore);
}

function addOptions(command: Command, helpText: string): Command {
  return command
    .option("--data-dir <folder>", "the data folder (GATEHOUSE_DATA_DIR, default ./data)")
    .option("--json", "print the result as one JSON line")
    .addHelpText("after", helpText);
}

async function backUp(file: string | undefined, options: Options): Promise<void> {
  const config = prepare(options);
  const { makeBackup, nameBackup, removeOldBackups } = await import("../../maintenance/backup.ts");
  const isFolder = file === undefined || isDirectory(file);
  if (options.keep !== undefined && !isFolder) failUsage(`--keep needs a folder, and ${file} is none`);
  const startedAt = performance.now();
  const made = makeBackup(config, isFolder ? join(file ?? ".", nameBackup(Date.now())) : file);
  const removed = options.keep === undefined ? [] : removeOldBackups(dirname(made.file), options.keep);
  const tookMs = Math.round(performance.now() - startedAt);
  const { sizeBytes, servers, keys, wasRunning, archive } = made;
  const facts = { file: made.file, size_bytes: sizeBytes, servers, keys, instance_running: wasRunning };
  const secret = config.secret === undefined ? "secret.key of the data folder" : "GATEHOUSE_SECRET";
  print(options, { ...facts, took_ms: tookMs, removed, archive: toArchiveJson(archive) }, [
    `Backed up to ${made.file}`,
    "",
    `  holds    servers: ${servers}, keys: ${keys}`,
    `  size     ${formatBytes(sizeBytes)}, in ${tookMs} ms, ${wasRunning ? "while an instance was running" : "no instance was running"}`,
    "  checked  every page and every index of the copy is undamaged",
    ...describeArchive(config, archive, "pg_dump backs up", "there is none yet"),
    ...(removed.length > 0 ? [`  removed  older backups: ${removed.length}`] : []),
    `  secret   not in it: keep ${secret} too, in another place.`,
    "           Without it the backup cannot be restored; with it, the server keys can be read.",
  ]);
}

async function restore(file: string, options: Options): Promise<void> {
  const config = prepare(options);
  const { restoreBackup } = await import("../../maintenance/backup.ts");
  const { dataDir, sizeBytes, servers, keys, archive } = restoreBackup(config, file);
  const noArchive = "the backup has none: there is no file name.archive.db beside it";
  print(options, { data_dir: dataDir, size_bytes: sizeBytes, servers, keys, archive: toArchiveJson(archive) }, [
    `Restored into ${dataDir}`,
    "",
    `  holds    servers: ${servers}, keys: ${keys}`,
    `  size     ${formatBytes(sizeBytes)}, checked; the secret fits`,
    "  keys     as they were when the backup was made: later changes and revocations have to be made again",
    ...describeArchive(config, archive, "pg_restore restores", noArchive),
    "  next     gatehouse serve",
  ]);
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function parseKeep(text: string): number {
  if (!/^[1-9]\d{0,3}$/.test(text)) throw new InvalidArgumentError("It must be a whole number, 1 to 9999.");
  return Number(text);
}

/** What it writes is for its owner only. */
function prepare({ dataDir }: Options): Config {
  const config = parseConfig(readEnvironment(process.cwd(), { GATEHOUSE_DATA_DIR: dataDir }));
  process.umask(0o077);
  return config;
}

function print({ json }: Options, facts: object, lines: readonly string[]): void {
  process.stdout.write(`${json ? JSON.stringify(facts) : lines.join("\n")}\n`);
}

/** A PostgreSQL archive has its own means. */
function describeArchive(config: Config, copy: ArchiveCopy, means: string, absence: string): string[] {
  if (!copy) {
    const isPostgres = typeof config.archive === "object";
    return [`  archive  ${isPostgres ? `not in it: it is a PostgreSQL, which ${means}` : absence}`];
  }
  const { file, sizeBytes, servers, events } = copy;
  return [`  archive  ${file}`, `           servers: ${servers}, events: ${events}, ${formatBytes(sizeBytes)}`];
}

function toArchiveJson(copy: ArchiveCopy): Record<string, unknown> | null {
  if (!copy) return null;
  const { file, sizeBytes, servers, events } = copy;
  return { file, size_bytes: sizeBytes, servers, events };
}
