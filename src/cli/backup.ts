// gatehouse backup: copies the database of an instance, running or not, into one file.
import { Command } from "commander";
import { parseConfig, readEnvironment } from "../config.ts";
import { formatBytes } from "../core/byte-size.ts";
import { describeArchiveCopy, hasPostgresArchive, toArchiveJson } from "./describe-archive.ts";

export function createBackupCommand(): Command {
  return new Command("backup")
    .description(
      "copy the database into a file, and the archive beside it, while an instance runs or while none does",
    )
    .argument("[file]", "the file to write (default gatehouse-backup-<UTC time>.db in this folder)")
    .option("--data-dir <folder>", "the data folder (GATEHOUSE_DATA_DIR, default ./data)")
    .option("--json", "print the result as one JSON line")
    .addHelpText(
      "after",
      "\nThe archive goes into a second file, name.archive.db beside name.db. A PostgreSQL archive is backed up with pg_dump.\n" +
        "secret.key is not in the copy: keep it in another place, because a backup without it cannot be restored.",
    )
    .action(backUp);
}

type BackupOptions = { dataDir?: string; json?: boolean };

async function backUp(file: string | undefined, options: BackupOptions): Promise<void> {
  const config = parseConfig(
    readEnvironment(process.cwd(), {
      ...(options.dataDir !== undefined && { GATEHOUSE_DATA_DIR: options.dataDir }),
    }),
  );
  process.umask(0o077);
  const { makeBackup, nameBackup } = await import("../maintenance/backup.ts");
  const startedAt = performance.now();
  const made = makeBackup(config, file ?? nameBackup(Date.now()));
  const tookMs = Math.round(performance.now() - startedAt);
  if (options.json) {
    const facts = { file: made.file, size_bytes: made.sizeBytes, servers: made.servers, keys: made.keys };
    process.stdout.write(
      `${JSON.stringify({ ...facts, instance_running: made.wasRunning, took_ms: tookMs, archive: toArchiveJson(made.archive) })}\n`,
    );
    return;
  }
  const secret = config.secret === undefined ? "secret.key of the data folder" : "GATEHOUSE_SECRET";
  const noArchive = hasPostgresArchive(config)
    ? "not in it: it is a PostgreSQL, which pg_dump backs up"
    : "there is none yet";
  const lines = [
    `Backed up to ${made.file}`,
    "",
    `  holds    servers: ${made.servers}, keys: ${made.keys}`,
    `  size     ${formatBytes(made.sizeBytes)}, in ${tookMs} ms, ${made.wasRunning ? "while an instance was running" : "no instance was running"}`,
    "  checked  every page and every index of the copy is undamaged",
    ...describeArchiveCopy(made.archive, noArchive),
    `  secret   not in it: keep ${secret} too, in another place.`,
    "           Without it the backup cannot be restored; with it, the server keys can be read.",
  ];
  process.stdout.write(`${lines.join("\n")}\n`);
}
