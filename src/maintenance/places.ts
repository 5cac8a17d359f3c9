// The two places between which everything that lasts is moved: a data folder with its files, and a PostgreSQL.
import { existsSync } from "node:fs";
import { StartRefused } from "../core/errors.ts";
import { findFaultWords } from "../core/system-faults.ts";
import { ARCHIVE_MIGRATIONS } from "../database/archive/migrations.ts";
import { findRefusal, openArchiveFile } from "../database/archive/open-archive-file.ts";
import { hideAddress, PostgresTool } from "../database/postgres.ts";
import type { Driver } from "../database/sql.ts";
import { SqliteDriver } from "../database/sqlite.ts";
import { refuseToOpen } from "../database/sqlite-file/explain-open-error.ts";
import { lockPathOf } from "../database/sqlite-file/read-only-database.ts";
import { STORE_MIGRATIONS } from "../database/store/migrations.ts";
import { lockDataFolder, openStoreFile } from "../database/store/open-store-file.ts";
import { DataFolder } from "../instance/data-folder.ts";

/** An instance that was seen within this time counts as running. */
const SEEN_WITHIN_MS = 10_000;
/** Held while a migration writes. The number is ours alone. */
const MOVE_LOCK = 0x4754484d;

export interface Place {
  /** Without a password. */
  readonly name: string;
  readonly store: Driver;
  /** Opened at the first call. Undefined when there is none; a target gets one. */
  openArchive(): Driver | undefined;
  /** Throws StartRefused when an instance is running. */
  refuseRunning(): Promise<void>;
  /** Called when all rows have arrived. */
  finish(): Promise<void>;
  close(): Promise<void>;
}

export type Role = "source" | "target";

/** `address`: `sqlite`, or that of a PostgreSQL. Throws StartRefused when the place is in use or cannot be used. */
export async function openPlace(address: string, folder: string, role: Role): Promise<Place> {
  return address === "sqlite" ? openFolder(folder, role) : openPostgres(address, role);
}

function openFolder(path: string, role: Role): Place {
  const folder = DataFolder.open(path);
  const { databasePath, archivePath } = folder;
  if (role === "source" && !existsSync(databasePath))
    throw new StartRefused(`there is no ${databasePath} — set GATEHOUSE_DATA_DIR or --data-dir`);
  const lock = lockDataFolder(lockPathOf(databasePath));
  let store: SqliteDriver;
  try {
    store = new SqliteDriver(openStoreFile(databasePath));
  } catch (error) {
    lock.close();
    throw refuseToOpen(databasePath, error);
  }
  let archive: SqliteDriver | undefined;
  return {
    name: folder.path,
    store,
    openArchive() {
      if (role === "source" && !existsSync(archivePath)) return undefined;
      const refusal = archive ? undefined : findRefusal(archivePath);
      if (refusal !== undefined) throw new StartRefused(refusal);
      archive ??= new SqliteDriver(openArchiveFile(archivePath));
      return archive;
    },
    // The lock is held.
    refuseRunning: async () => {},
    finish: async () => {},
    async close() {
      archive?.close();
      store.close();
      lock.close();
      if (role === "target") folder.giveToOwner();
    },
  };
}

async function openPostgres(url: string, role: Role): Promise<Place> {
  const name = hidePassword(url);
  const tool = await explainFaults(
    [url],
    () => PostgresTool.open(url, [STORE_MIGRATIONS, ARCHIVE_MIGRATIONS]),
    (words) => `${name} cannot be used: ${words}`,
  );
  try {
    if (role === "target" && !(await tool.lock(MOVE_LOCK)))
      throw new StartRefused(`another gatehouse migrate is writing to ${name} — wait for its end`);
  } catch (error) {
    await tool.close();
    throw error;
  }
  return {
    name,
    store: tool,
    openArchive: () => tool,
    async refuseRunning() {
      const living = await tool.countInstances(SEEN_WITHIN_MS);
      if (living > 0)
        throw new StartRefused(
          `${living} instance(s) of Gatehouse use ${name} — stop them, wait 10 seconds, and try again`,
        );
    },
    finish: () => tool.restartNumbers(),
    close: () => tool.close(),
  };
}

/** A fault of a database is told in words, without its password. A bug stays as it is. */
export async function explainFaults<T>(
  addresses: readonly string[],
  work: () => Promise<T>,
  say: (words: string) => string,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const isBug = !(error instanceof Error) || error instanceof TypeError || error instanceof RangeError;
    if (error instanceof StartRefused || isBug) throw error;
    throw new StartRefused(say(addresses.reduce(hideAddress, findFaultWords(error) ?? error.message)));
  }
}

export function hidePassword(address: string): string {
  return address.replace(/\/\/.*@/s, "//[redacted]@");
}
