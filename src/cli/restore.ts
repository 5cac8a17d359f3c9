// gatehouse restore: copies a backup into a data folder that has no database.
import { Command } from "commander";
import { parseConfig, readEnvironment } from "../config.ts";
import { formatBytes } from "../core/byte-size.ts";
import { describeArchiveCopy, hasPostgresArchive, toArchiveJson } from "./describe-archive.ts";

export function createRestoreCommand(): Command {
  return new Command("restore")
    .description("restore a backup into a data folder without a database; nothing is ever overwritten")
    .argument("<file>", "the backup")
    .option("--data-dir <folder>", "the data folder (GATEHOUSE_DATA_DIR, default ./data)")
    .option("--json", "print the result as one JSON line")
    .addHelpText(
      "after",
      "\nThe archive is restored from the file name.archive.db beside name.db, if it is there.\n" +
        "The secret.key that belongs to the backup must be in the data folder first, or GATEHOUSE_SECRET be set.",
    )
    .action(restore);
}

type RestoreOptions = { dataDir?: string; json?: boolean };

async function restore(file: string, options: RestoreOptions): Promise<void> {
  const config = parseConfig(
    readEnvironment(process.cwd(), {
      ...(options.dataDir !== undefined && { GATEHOUSE_DATA_DIR: options.dataDir }),
    }),
  );
  process.umask(0o077);
  const { restoreBackup } = await import("../maintenance/backup.ts");
  const restored = restoreBackup(config, file);
  if (options.json) {
    const { dataDir, sizeBytes, servers, keys } = restored;
    const archive = toArchiveJson(restored.archive);
    process.stdout.write(
      `${JSON.stringify({ data_dir: dataDir, size_bytes: sizeBytes, servers, keys, archive })}\n`,
    );
    return;
  }
  const noArchive = hasPostgresArchive(config)
    ? "not in it: it is a PostgreSQL, which pg_restore restores"
    : "the backup has none: there is no file name.archive.db beside it";
  const lines = [
    `Restored into ${restored.dataDir}`,
    "",
    `  holds    servers: ${restored.servers}, keys: ${restored.keys}`,
    `  size     ${formatBytes(restored.sizeBytes)}, checked; the secret fits`,
    "  keys     as they were when the backup was made: later changes and revocations have to be made again",
    ...describeArchiveCopy(restored.archive, noArchive),
    "  next     gatehouse serve",
  ];
  process.stdout.write(`${lines.join("\n")}\n`);
}
