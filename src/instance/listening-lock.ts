// Shows on this machine where an instance listens: for each address and port it holds a lock in its data folder. The command
// line sends the master key to such an address only. A process of another user can take the port, but not the lock.
import type { Database } from "bun:sqlite";
import { closeSync, fstatSync, openSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { isInstanceRunning } from "../database/sqlite-file/read-only-database.ts";
import { lockDataFolder } from "../database/store/open-store-file.ts";

const SHAPE = /^listening-([\w.]+)-(\d+)\.lock$/;
const OWNER_ONLY = 0o600;
const ATTEMPTS_MAX = 5;

export class ListeningLock {
  /** Call it only while listening there. Throws when the folder cannot be written to. */
  static hold(folder: string, address: string, port: number): ListeningLock {
    removeAbandonedLocks(folder);
    const path = `${nameLock(folder, address, port)}.lock`;
    for (let attempt = 1; ; attempt++) {
      const file = createFile(path);
      const lock = lockDataFolder(path);
      // Another instance that starts may have taken the file for an abandoned one, before it was locked.
      if (statSync(path, { throwIfNoEntry: false })?.ino === file) return new ListeningLock(path, lock);
      lock.close();
      if (attempt === ATTEMPTS_MAX) throw new Error(`${path} is deleted again and again`);
    }
  }

  private constructor(
    private readonly path: string,
    private readonly lock: Database,
  ) {}

  /** Call it before the listening ends: afterwards the port may belong to anybody. */
  release(): void {
    rmSync(this.path, { force: true });
    this.lock.close();
  }
}

/** Whether an instance on this data folder listens there. False when the folder cannot be read. */
export function isListening(folder: string, address: string, port: number): boolean {
  try {
    return isInstanceRunning(nameLock(folder, address, port));
  } catch {
    return false;
  }
}

export type Listening = { readonly address: string; readonly port: number };

/** Where an instance on this data folder listens, if that is one place; undefined also when the folder cannot be read. */
export function findListening(folder: string): Listening | undefined {
  try {
    const places = readdirSync(folder).flatMap((name) => {
      const [, address = "", port] = SHAPE.exec(name) ?? [];
      return port === undefined ? [] : [{ address: address.replaceAll("_", ":"), port: Number(port) }];
    });
    const [only, ...others] = places.filter(({ address, port }) => isListening(folder, address, port));
    return others.length === 0 ? only : undefined;
  } catch {
    return undefined;
  }
}

/** Without the ending ".lock". */
function nameLock(folder: string, address: string, port: number): string {
  return join(folder, `listening-${address.replaceAll(":", "_")}-${port}`);
}

/** Killed processes leave their files. Each is empty, and there is one for each address that was ever used. */
function removeAbandonedLocks(folder: string): void {
  for (const name of readdirSync(folder).filter((each) => SHAPE.test(each))) {
    const path = join(folder, name);
    if (!isInstanceRunning(path.slice(0, -".lock".length))) rmSync(path, { force: true });
  }
}

/** Returns the number of the file. It is closed again before it is locked, because closing would end the lock. */
function createFile(path: string): number {
  const descriptor = openSync(path, "a", OWNER_ONLY);
  try {
    return fstatSync(descriptor).ino;
  } finally {
    closeSync(descriptor);
  }
}
