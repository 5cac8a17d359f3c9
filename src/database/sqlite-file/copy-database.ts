// Makes a consistent and verified copy of a database, whether or not an instance is writing to it.
import { Database } from "bun:sqlite";
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { StartRefused } from "../../core/errors.ts";
import { findDamage } from "./database-file.ts";
import { lockPathOf, withReadOnlyDatabase } from "./read-only-database.ts";

const OWNER_ONLY = 0o600;

export type CopyPlan<T> = {
  readonly source: string;
  readonly target: string;
  /** The lock that an instance holds which uses the source; that of the source's own name by default. */
  readonly lockPath?: string;
  /** May change the copy before it is verified. */
  readonly change?: (copy: Database) => void;
  /** What the copy holds. */
  readonly count: (copy: Database) => T;
};

/**
 * When this returns, the copy is durable, verified, and readable by its owner only. When it throws, no file `target` was
 * created. An existing file is never replaced.
 */
export function copyDatabase<T>(plan: CopyPlan<T>): T & { readonly sizeBytes: number } {
  const { source, target, lockPath = lockPathOf(source), change = () => {}, count } = plan;
  refuseExisting(target);
  const draft = join(dirname(target), `.${basename(target)}.${process.pid}.partial`);
  try {
    withReadOnlyDatabase(
      source,
      (db) => {
        createPrivateFile(draft);
        db.query("VACUUM INTO ?").run(draft);
      },
      lockPath,
    );
    changeCopy(draft, change);
    const contents = verifyCopy(draft, count);
    syncFile(draft);
    placeFile(draft, target);
    syncFolder(dirname(target));
    return { ...contents, sizeBytes: statSync(target).size };
  } catch (error) {
    if (error instanceof StartRefused) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new StartRefused(`${source} could not be copied to ${target}: ${reason} — no copy was made`);
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Sets the permissions before any data is written. */
function createPrivateFile(path: string): void {
  rmSync(path, { force: true });
  closeSync(openSync(path, "wx", OWNER_ONLY));
  chmodSync(path, OWNER_ONLY);
}

/** Leaves no write-ahead log beside the file, as `VACUUM INTO` leaves none. */
function changeCopy(path: string, change: (copy: Database) => void): void {
  const db = new Database(path);
  try {
    change(db);
  } finally {
    db.close();
  }
}

function verifyCopy<T>(path: string, count: (copy: Database) => T): T {
  const db = new Database(path, { readonly: true });
  try {
    const damage = findDamage(db);
    if (damage !== undefined) throw new StartRefused(`the copy is damaged (${damage}) and was deleted`);
    return count(db);
  } finally {
    db.close();
  }
}

/** Prefers a link, which fails when the target exists; a rename would replace it. Not every file system has links. */
function placeFile(draft: string, target: string): void {
  try {
    linkSync(draft, target);
    unlinkSync(draft);
  } catch {
    refuseExisting(target);
    renameSync(draft, target);
  }
}

function refuseExisting(path: string): void {
  if (existsSync(path)) throw new StartRefused(`${path} already exists and was not changed`);
}

function syncFile(path: string): void {
  const descriptor = openSync(path, "r+");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function syncFolder(path: string): void {
  // Windows cannot sync folders.
  if (process.platform === "win32") return;
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
