// Makes a whole, checked copy of a database, of one moment, whether or not an instance is writing to it.
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
import { countContents, findDamage } from "./inspect-database.ts";
import { readDatabase } from "./read-database.ts";

const OWNER_ONLY = 0o600;

export type DatabaseCopy = { readonly sizeBytes: number; readonly servers: number; readonly keys: number };

/**
 * When this returns, the copy is on disk under its name, whole and checked, for its owner alone. Otherwise nothing of
 * that name was made; a file that is there is never replaced. `amend` may change the copy before it is checked.
 */
export function copyDatabase(
  source: string,
  target: string,
  amend: (copy: Database) => void = () => {},
): DatabaseCopy {
  refuseExisting(target);
  const draft = join(dirname(target), `.${basename(target)}.${process.pid}.partial`);
  try {
    readDatabase(source, (db) => {
      makeEmptyFile(draft);
      db.query("VACUUM INTO ?").run(draft);
    });
    amendCopy(draft, amend);
    const contents = checkCopy(draft);
    syncFile(draft);
    placeFile(draft, target);
    syncFolder(dirname(target));
    return { ...contents, sizeBytes: statSync(target).size };
  } catch (error) {
    if (error instanceof StartRefused) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new StartRefused(`${source} could not be copied to ${target}: ${reason} — nothing was kept of it`);
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Its permissions are right before the first byte is in it. */
function makeEmptyFile(path: string): void {
  rmSync(path, { force: true });
  closeSync(openSync(path, "wx", OWNER_ONLY));
  chmodSync(path, OWNER_ONLY);
}

/** `VACUUM INTO` leaves a file without a log, and so does this. */
function amendCopy(path: string, amend: (copy: Database) => void): void {
  const db = new Database(path);
  try {
    amend(db);
  } finally {
    db.close();
  }
}

function checkCopy(path: string): { servers: number; keys: number } {
  const db = new Database(path, { readonly: true });
  try {
    const damage = findDamage(db);
    if (damage !== undefined) throw new StartRefused(`the copy is damaged (${damage}) and was thrown away`);
    return countContents(db);
  } finally {
    db.close();
  }
}

/** A link fails when the name is taken, where a rename would replace; not every file system has links. */
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
  if (existsSync(path)) throw new StartRefused(`${path} is there already and was left as it is`);
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
  // Windows knows no such thing, and has no need of it.
  if (process.platform === "win32") return;
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
