// The data folder and the secrets in it: files that only their owner can read, made on the first start.
import { randomBytes } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { StartRefused } from "./core/errors.ts";
import { randomBase62 } from "./core/token.ts";

const GENERATED_LENGTH = 43;
const OWNER_ONLY = 0o600;

export type DataFolder = {
  readonly path: string;
  readonly databasePath: string;
  findSecret(name: string): string | undefined;
  saveSecret(name: string, value: string): void;
};

export function openDataFolder(folder: string): DataFolder {
  const path = resolve(folder);
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw refuseFolder(path, error);
  }
  return {
    path,
    databasePath: join(path, "gatehouse.db"),
    findSecret(name) {
      const file = join(path, name);
      if (!existsSync(file)) return undefined;
      try {
        return readFileSync(file, "utf8").trim() || undefined;
      } catch (error) {
        throw refuseFolder(file, error);
      }
    },
    saveSecret(name, value) {
      const file = join(path, name);
      try {
        // Written beside and moved into place: a crash leaves no half of a secret.
        writeFileSync(`${file}.new`, `${value}\n`, { mode: OWNER_ONLY });
        chmodSync(`${file}.new`, OWNER_ONLY);
        renameSync(`${file}.new`, file);
      } catch (error) {
        throw refuseFolder(file, error);
      }
    },
  };
}

/** The secret of that name, made up and kept if there is none yet. */
export function obtainSecret(folder: DataFolder, name: string): string {
  const kept = folder.findSecret(name);
  if (kept !== undefined) return kept;
  const value = randomBase62(GENERATED_LENGTH, randomBytes);
  folder.saveSecret(name, value);
  return value;
}

function refuseFolder(path: string, error: unknown): StartRefused {
  const reason = error instanceof Error ? error.message : String(error);
  return new StartRefused(
    `${path} cannot be used: ${reason} — check its permissions, or set GATEHOUSE_DATA_DIR`,
  );
}
