// gatehouse sign-records: signs the servers and keys that an older version has written to a Redis.
import { Command } from "commander";
import { parseConfig, readEnvironment } from "../config.ts";

export function createSignRecordsCommand(): Command {
  return new Command("sign-records")
    .description("sign the servers and keys in Redis, once after an update from a version without signatures")
    .option("--data-dir <folder>", "the data folder (GATEHOUSE_DATA_DIR, default ./data)")
    .option("--json", "print the counts as one JSON line")
    .addHelpText(
      "after",
      "\nStop every instance first. GATEHOUSE_STORE names the Redis. Every record without a signature becomes valid:\n" +
        "use it only when nobody else can have written to this Redis. Records with a wrong signature are left alone.",
    )
    .action(sign);
}

type SignOptions = { dataDir?: string; json?: boolean };

async function sign({ dataDir, json }: SignOptions): Promise<void> {
  const overrides: Record<string, string> = dataDir === undefined ? {} : { GATEHOUSE_DATA_DIR: dataDir };
  const config = parseConfig(readEnvironment(process.cwd(), overrides));
  const { signRecords } = await import("../maintenance/sign-records.ts");
  const counts = await signRecords(config);
  if (json) {
    process.stdout.write(`${JSON.stringify(counts)}\n`);
    return;
  }
  const { servers, keys, altered } = counts;
  process.stdout.write(`Signed servers: ${servers}, keys: ${keys}.\n`);
  if (altered > 0) {
    process.stdout.write(
      `Left alone because their signature is wrong: ${altered}. Somebody else has changed them; Gatehouse ignores them.\n`,
    );
  }
}
