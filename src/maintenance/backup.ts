// Backups of the embedded store: a consistent copy, even while an instance writes, and its restore into an empty data folder.
import { chownSync, existsSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Config } from "../config.ts";
import { StartRefused } from "../core/errors.ts";
import { DataFolder } from "../data-folder.ts";
import { isInstanceRunning } from "../sqlite/read-only-database.ts";
import { Sealer } from "../store/sealer.ts";
import { markWaitingAsUnknown } from "../store/sqlite/command-queue.ts";
import { copyDatabase, type DatabaseCopy } from "../store/sqlite/copy-database.ts";
import { type DatabaseReport, inspectDatabase } from "../store/sqlite/inspect-database.ts";
import { lockDataFolder } from "../store/sqlite/open-database.ts";

const DATABASE = "gatehouse.db";
/** All of them must be absent: SQLite would apply a log that is left over to the restored database. */
const DATABASE_FILES = [DATABASE, `${DATABASE}-wal`, `${DATABASE}-shm`, `${DATABASE}-journal`];

export type Backup = DatabaseCopy & { readonly file: string; readonly wasRunning: boolean };

export function makeBackup(config: Config, file: string): Backup {
  refuseRedis(config);
  const source = join(resolve(config.dataDir), DATABASE);
  if (!existsSync(source)) {
    throw new StartRefused(
      `there is no database in ${resolve(config.dataDir)} — set GATEHOUSE_DATA_DIR or --data-dir`,
    );
  }
  const target = resolve(file);
  if (existsSync(target)) throw new StartRefused(`${target} exists already — name another file`);
  refuseUnusable(inspectDatabase(source), source);
  const wasRunning = isInstanceRunning(source);
  return { ...copyDatabase(source, target), file: target, wasRunning };
}

function refuseRedis({ redis }: Config): void {
  if (!redis) return;
  throw new StartRefused(
    "the store is a Redis, which is backed up with its own AOF and RDB files — see docs/scaling.md, or move to sqlite with gatehouse migrate",
  );
}

/** The default name of a backup. Names sort in the order of their times. */
export function nameBackup(now: number): string {
  const time = new Date(now).toISOString().replace(/[-:]|\.\d+/g, "");
  return `gatehouse-backup-${time}.db`;
}

export type RestoredBackup = DatabaseCopy & { readonly dataDir: string };

/** Never overwrites a file in the data folder. */
export function restoreBackup(config: Config, file: string): RestoredBackup {
  refuseRedis(config);
  const source = resolve(file);
  const path = resolve(config.dataDir);
  const target = join(path, DATABASE);
  if (isInstanceRunning(target)) throw new StartRefused(`a Gatehouse is running on ${path} — stop it first`);
  for (const name of DATABASE_FILES.filter((name) => existsSync(join(path, name)))) {
    throw new StartRefused(
      `${join(path, name)} exists already and was not changed — move it away, or name another folder with --data-dir`,
    );
  }
  const secret =
    config.secret ?? (existsSync(path) ? DataFolder.open(path).findSecret("secret.key") : undefined);
  const report = inspectDatabase(source, secret === undefined ? undefined : new Sealer(secret));
  refuseUnusable(report, source);
  refuseOtherSecret(report, secret, path);

  DataFolder.open(path);
  const lock = lockDataFolder(`${target}.lock`);
  try {
    const copy = copyDatabase(source, target, (db) => markWaitingAsUnknown(db, Date.now()));
    chownToOwnerOf(path, [target, `${target}.lock`]);
    return { ...copy, dataDir: path };
  } finally {
    lock.close();
  }
}

function refuseUnusable(report: DatabaseReport, path: string): void {
  switch (report.kind) {
    case "absent":
      throw new StartRefused(`there is no file ${path}`);
    case "empty":
      throw new StartRefused(`${path} holds nothing yet`);
    case "foreign":
      throw new StartRefused(`${path} is not a Gatehouse database`);
    case "unreadable":
      throw new StartRefused(`${path} cannot be read: ${report.reason}`);
    case "damaged":
      throw new StartRefused(`${path} is damaged (${report.problem}) — use another backup`);
    case "newer":
      throw new StartRefused(
        `${path} was made by a newer Gatehouse (schema ${report.schema}, this one knows ${report.knownSchema}) — update Gatehouse`,
      );
  }
}

function refuseOtherSecret(report: DatabaseReport, secret: string | undefined, path: string): void {
  if (report.kind !== "usable") return;
  if (secret === undefined) {
    throw new StartRefused(
      `the backup's server keys are encrypted, and there is no secret to read them with — put the secret.key that ` +
        `belongs to it into ${path} first, or set GATEHOUSE_SECRET`,
    );
  }
  if (report.isSecretRight === false) {
    throw new StartRefused(
      `GATEHOUSE_SECRET (or secret.key in ${path}) is not the one that the backup was made with — put the right one there first`,
    );
  }
}

/** When root restores, the owner of the folder must be able to open the files. */
function chownToOwnerOf(folder: string, files: readonly string[]): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = statSync(folder);
  for (const file of files) chownSync(file, uid, gid);
}
