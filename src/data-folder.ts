// The data folder and the secrets in it: files that only their owner can read, created on the first start.
import { randomBytes } from "node:crypto";
import {
  closeSync,
  existsSync,
  fchmodSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { StartRefused } from "./core/errors.ts";
import { randomBase62 } from "./core/token.ts";

const GENERATED_LENGTH = 43;
const OWNER_ONLY = 0o600;

/** Creates the folder if it does not exist. */
export function openDataFolder(folder: string): DataFolder {
  const path = resolve(folder);
  refuseOnFailure(path, () => mkdirSync(path, { recursive: true, mode: 0o700 }));
  return new DataFolder(path);
}

export class DataFolder {
  readonly path: string;
  readonly databasePath: string;

  constructor(path: string) {
    this.path = path;
    this.databasePath = join(path, "gatehouse.db");
  }

  findSecret(name: string): string | undefined {
    const file = join(this.path, name);
    return refuseOnFailure(file, () => {
      return existsSync(file) ? readFileSync(file, "utf8").trim() || undefined : undefined;
    });
  }

  /** The stored secret of that name. If there is none, `generate` makes one, which is then stored. */
  obtainSecret(name: string, generate = generateSecret): string {
    const stored = this.findSecret(name);
    if (stored !== undefined) return stored;
    const file = join(this.path, name);
    refuseOnFailure(file, () => createFile(this.path, file, `${generate()}\n`));
    // Read again: another process may have created the file at the same time, and both must use the same secret.
    return this.findSecret(name) ?? "";
  }
}

/** Atomic and durable. An existing file is not changed. */
function createFile(folder: string, file: string, content: string): void {
  const draft = `${file}.${process.pid}.new`;
  const descriptor = openSync(draft, "w", OWNER_ONLY);
  try {
    fchmodSync(descriptor, OWNER_ONLY);
    writeSync(descriptor, content);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  try {
    linkSync(draft, file);
  } catch (error) {
    const exists = error instanceof Error && "code" in error && error.code === "EEXIST";
    if (!exists) throw error;
  } finally {
    unlinkSync(draft);
  }
  syncFolder(folder);
}

function syncFolder(folder: string): void {
  // Windows cannot open folders, and does not need this.
  if (process.platform === "win32") return;
  const descriptor = openSync(folder, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function generateSecret(): string {
  return randomBase62(GENERATED_LENGTH, randomBytes);
}

function refuseOnFailure<T>(path: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StartRefused(
      `${path} cannot be used: ${reason} — check its permissions, or set GATEHOUSE_DATA_DIR`,
    );
  }
}
