// Finds the master key: in a file or standard input, in the environment, or in the data folder of this machine.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DATA_DIR_DEFAULT } from "../../instance/config.ts";
import { CommandFailed, EXIT_CODES } from "../exit-codes.ts";
import { readInputLine } from "../terminal/prompts.ts";
import { type Environment, findSetting } from "./admin-address.ts";

export type MasterKey = {
  readonly key: string;
  /** Where it came from; ends the phrase "the master key …". */
  readonly source: string;
};

export function findMasterKey(file: string | undefined, environment: Environment): MasterKey {
  if (file === "-") return checkMasterKey(readInputLine(), "from standard input");
  if (file !== undefined) return checkMasterKey(readKeyFile(file), `in ${file}`);
  const configured = findSetting(environment, "GATEHOUSE_MASTER_KEY");
  if (configured !== undefined) return checkMasterKey(configured, "in GATEHOUSE_MASTER_KEY");
  const kept = join(findSetting(environment, "GATEHOUSE_DATA_DIR") ?? DATA_DIR_DEFAULT, "master.key");
  return checkMasterKey(readKeyFile(kept), `in ${kept}`);
}

function readKeyFile(path: string): string {
  try {
    return readFileSync(path, "utf8").trim();
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    const reason =
      code === "ENOENT"
        ? `${path} does not exist`
        : `${path} cannot be read (${code === "EACCES" ? "only the user that Gatehouse runs as may" : code})`;
    throw new CommandFailed(
      `no master key: ${reason}; name its file with --master-key-file, or set GATEHOUSE_MASTER_KEY or --data-dir`,
      EXIT_CODES.masterKey,
    );
  }
}

/** Throws when the text cannot be a master key. */
export function checkMasterKey(key: string, source: string): MasterKey {
  if (key === "") throw new CommandFailed(`the master key ${source} is empty`, EXIT_CODES.masterKey);
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw new CommandFailed(
      `the master key ${source} is not valid: it must be one line of visible ASCII characters`,
      EXIT_CODES.masterKey,
    );
  }
  return { key, source };
}
