// gatehouse migrate: moves an instance from the embedded store to a Redis, or back.
import { Command } from "commander";
import { readEnvironment } from "../config.ts";

const BAR_WIDTH = 30;

export function createMigrateCommand(): Command {
  return new Command("migrate")
    .description("move servers, keys, blocks and waiting commands from one store to another, empty one")
    .requiredOption("--from <store>", "sqlite (in the data folder) or the address of a Redis")
    .requiredOption("--to <store>", "where to move everything: sqlite or the address of a Redis")
    .option("--data-dir <folder>", "the data folder (GATEHOUSE_DATA_DIR, default ./data)")
    .option("--json", "print the counts as one JSON line")
    .addHelpText(
      "after",
      "\nStop every instance first. The source is not changed. Usage, audit log and finished commands stay behind.\n" +
        "Both stores are encrypted with the same secret: GATEHOUSE_SECRET, or secret.key in the data folder.",
    )
    .action(migrateStore);
}

type MigrateOptions = { from: string; to: string; dataDir?: string; json?: boolean };

async function migrateStore({ from, to, dataDir, json }: MigrateOptions): Promise<void> {
  const environment = readEnvironment(process.cwd());
  process.umask(0o077);
  const { migrate } = await import("../maintenance/migrate.ts");
  const showsProgress = process.stderr.isTTY === true;
  const { moved } = await migrate({
    from,
    to,
    dataDir: dataDir ?? environment.GATEHOUSE_DATA_DIR ?? "./data",
    secret: environment.GATEHOUSE_SECRET?.trim() || undefined,
    onProgress: (done, total) => {
      if (showsProgress) process.stderr.write(drawBar(done, total));
    },
  });
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

function drawBar(done: number, total: number): string {
  const filled = total === 0 ? BAR_WIDTH : Math.round((done / total) * BAR_WIDTH);
  return `\r[${"#".repeat(filled)}${".".repeat(BAR_WIDTH - filled)}] ${done} of ${total}`;
}
