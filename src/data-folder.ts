// The data folder and the secrets in it: files that only their owner can read, made on the first start.
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

export type DataFolder = {
  readonly path: string;
  readonly databasePath: string;
  findSecret(name: string): string | undefined;
  /** The secret of that name; `make` is asked only when there is none, and what it gives is kept for good. */
  obtainSecret(name: string, make?: () => string): string;
};

export function openDataFolder(folder: string): DataFolder {
  const path = resolve(folder);
  guard(path, () => mkdirSync(path, { recursive: true, mode: 0o700 }));

  function findSecret(name: string): string | undefined {
    const file = join(path, name);
    return guard(file, () => (existsSync(file) ? readFileSync(file, "utf8").trim() || undefined : undefined));
  }

  return {
    path,
    databasePath: join(path, "gatehouse.db"),
    findSecret,
    obtainSecret(name, make = inventSecret) {
      const kept = findSecret(name);
      if (kept !== undefined) return kept;
      const file = join(path, name);
      guard(file, () => createFile(path, file, `${make()}\n`));
      // Read back: of two that start at once, one file stays, and both use it.
      return findSecret(name) ?? "";
    },
  };
}

/** Whole and on disk, or not at all; a file that is there already is left as it is. */
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
    const isThere = error instanceof Error && "code" in error && error.code === "EEXIST";
    if (!isThere) throw error;
  } finally {
    unlinkSync(draft);
  }
  syncFolder(folder);
}

function syncFolder(folder: string): void {
  // Folders cannot be opened there, and need no such care.
  if (process.platform === "win32") return;
  const descriptor = openSync(folder, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function inventSecret(): string {
  return randomBase62(GENERATED_LENGTH, randomBytes);
}

function guard<T>(path: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StartRefused(
      `${path} cannot be used: ${reason} — check its permissions, or set GATEHOUSE_DATA_DIR`,
    );
  }
}
