// The data folder and its secrets: files that only their owner can read, generated at the first start.
import { randomBytes } from "node:crypto";
import {
  closeSync,
  existsSync,
  fchmodSync,
  fsyncSync,
  lchownSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { StartRefused } from "../core/errors.ts";
import { randomBase62 } from "../core/keys/token.ts";

const GENERATED_LENGTH = 43;
const OWNER_ONLY = 0o600;

export class DataFolder {
  readonly path: string;
  readonly databasePath: string;
  readonly archivePath: string;

  /** Creates the folder if it does not exist. Throws StartRefused when it cannot be used. */
  static open(folder: string): DataFolder {
    const path = resolve(folder);
    refuseOnError(path, () => mkdirSync(path, { recursive: true, mode: 0o700 }));
    return new DataFolder(path);
  }

  private constructor(path: string) {
    this.path = path;
    this.databasePath = join(path, "gatehouse.db");
    this.archivePath = join(path, "archive.db");
  }

  findSecret(name: string): string | undefined {
    const file = join(this.path, name);
    return refuseOnError(file, () => {
      return existsSync(file) ? readFileSync(file, "utf8").trim() || undefined : undefined;
    });
  }

  /** The secret of that name. When there is none, the result of `generate` is saved and returned. */
  obtainSecret(name: string, generate: () => string = generateSecret): string {
    const saved = this.findSecret(name);
    if (saved !== undefined) return saved;
    const file = join(this.path, name);
    refuseOnError(file, () => createFile(this.path, file, `${generate()}\n`));
    // Read back: of two processes that start at once, only one creates the file, and both use it.
    return this.findSecret(name) ?? "";
  }

  /** Saves the secret in place of the one that is there. */
  replaceSecret(name: string, secret: string): void {
    const file = join(this.path, name);
    refuseOnError(file, () => {
      renameSync(writeDraft(file, `${secret}\n`), file);
      syncFolder(this.path);
    });
  }

  /** For root: what it has put here must be open to the user that Gatehouse runs as, the folder's owner. */
  giveToOwner(): void {
    if (process.getuid?.() !== 0) return;
    const { uid, gid } = statSync(this.path);
    const files = [this.databasePath, `${this.databasePath}.lock`, this.archivePath, join(this.path, "secret.key")];
    for (const file of files) if (existsSync(file)) lchownSync(file, uid, gid);
  }
}

/** Atomic and durable. An existing file is left as it is. */
function createFile(folder: string, file: string, content: string): void {
  const draft = writeDraft(file, content);
  try {
    linkSync(draft, file);
  } catch (error) {
    const isExisting = error instanceof Error && "code" in error && error.code === "EEXIST";
    if (!isExisting) throw error;
  } finally {
    unlinkSync(draft);
  }
  syncFolder(folder);
}

/** Writes the content to a file beside `file`, durably, and returns its path. */
function writeDraft(file: string, content: string): string {
  const draft = `${file}.${process.pid}.new`;
  const descriptor = openSync(draft, "w", OWNER_ONLY);
  try {
    fchmodSync(descriptor, OWNER_ONLY);
    writeSync(descriptor, content);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  return draft;
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

/** Runs `act`; turns any error into StartRefused. */
function refuseOnError<T>(path: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StartRefused(`${path} cannot be used: ${reason} — ${remedyFor(error)}`);
  }
}

function remedyFor(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "ENOSPC" || code === "EDQUOT") return "its disk is full: free some space, then start again";
  if (code === "EROFS") return "its disk is read-only: make it writable, or set GATEHOUSE_DATA_DIR";
  if (code === "EIO") return "the disk reports an error: check the disk and the system's log";
  return "check its permissions, or set GATEHOUSE_DATA_DIR";
}
