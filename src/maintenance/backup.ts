// Backups of the embedded store and the embedded archive: consistent copies, even while an instance writes, and their
// restore into an empty data folder. A backup is a file, and beside it a second one with the archive, if there is one.
import type { Database } from "bun:sqlite";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { StartRefused } from "../core/errors.ts";
import {
  type ArchiveContents,
  type ArchiveReport,
  archiveLockPath,
  countArchive,
  inspectArchive,
} from "../database/archive/inspect-archive.ts";
import { Sealer } from "../database/sealer.ts";
import { migrateSqlite } from "../database/sqlite.ts";
import { copyDatabase } from "../database/sqlite-file/copy-database.ts";
import { isInstanceRunning, lockPathOf } from "../database/sqlite-file/read-only-database.ts";
import { countContents, type DatabaseReport, inspectDatabase } from "../database/store/inspect-store.ts";
import { STORE_MIGRATIONS } from "../database/store/migrations.ts";
import { lockDataFolder } from "../database/store/open-store-file.ts";
import type { Config } from "../instance/config.ts";
import { DataFolder } from "../instance/data-folder.ts";

const WAS_RESTORED = "This waited when the backup was made; whether it was sent since is not known.";
/** What nameBackup makes. */
const BACKUP_NAME = /^gatehouse-backup-\d{8}T\d{6}Z\.db$/;
const DATABASE = "gatehouse.db";
const ARCHIVE = "archive.db";
/** All of them must be absent: SQLite would apply a log that is left over to the restored database. */
const SUFFIXES = ["", "-wal", "-shm", "-journal"];
const DATABASE_FILES = SUFFIXES.map((suffix) => DATABASE + suffix);
const ARCHIVE_FILES = SUFFIXES.map((suffix) => ARCHIVE + suffix);

type StoreCopy = { readonly sizeBytes: number; readonly servers: number; readonly keys: number };
type ArchiveCopy = ArchiveContents & { readonly sizeBytes: number; readonly file: string };

export type Backup = StoreCopy & {
  readonly file: string;
  readonly wasRunning: boolean;
  /** Undefined when there is no embedded archive. */
  readonly archive: ArchiveCopy | undefined;
};

export function makeBackup(config: Config, file: string): Backup {
  refusePostgres(config);
  const source = join(resolve(config.dataDir), DATABASE);
  if (!existsSync(source)) {
    throw new StartRefused(`there is no database in ${resolve(config.dataDir)} — set GATEHOUSE_DATA_DIR or --data-dir`);
  }
  const target = resolve(file);
  if (existsSync(target)) throw new StartRefused(`${target} exists already — name another file`);
  refuseUnusable(inspectDatabase(source), source);
  const wasRunning = isInstanceRunning(source);
  const archive = copyArchive(join(resolve(config.dataDir), ARCHIVE), archiveFileOf(target));
  try {
    return { ...copyDatabase({ source, target, count: countContents }), file: target, wasRunning, archive };
  } catch (error) {
    // Half a backup would be taken for a whole one.
    if (archive) rmSync(archive.file, { force: true });
    throw error;
  }
}

/** The file beside a backup that holds the archive: `name.archive.db` for `name.db`. */
export function archiveFileOf(file: string): string {
  return file.endsWith(".db") ? `${file.slice(0, -".db".length)}.archive.db` : `${file}.archive`;
}

/** Undefined when there is no archive, or one that holds nothing yet. */
function copyArchive(source: string, target: string, lockPath = archiveLockPath(source)): ArchiveCopy | undefined {
  const report = inspectArchive(source, lockPath);
  if (report.kind === "absent" || report.kind === "empty") return undefined;
  if (existsSync(target)) throw new StartRefused(`${target} exists already — name another file`);
  refuseUnusable(report, source, "an archive of Gatehouse");
  return { ...copyDatabase({ source, target, lockPath, count: countArchive }), file: target };
}

function refusePostgres({ store }: Config): void {
  if (store === "sqlite") return;
  throw new StartRefused(
    "the store is a PostgreSQL, which is backed up with pg_dump — see docs/deploying.md, or move to sqlite with gatehouse migrate",
  );
}

/** The default name of a backup. Names sort in the order of their times. */
export function nameBackup(now: number): string {
  const time = new Date(now).toISOString().replace(/[-:]|\.\d+/g, "");
  return `gatehouse-backup-${time}.db`;
}

/** Deletes all but the newest so many backups with a name of ours, each with its archive. Returns their paths. */
export function removeOldBackups(folder: string, keep: number): string[] {
  const names = readdirSync(folder).filter((name) => BACKUP_NAME.test(name));
  const old = names.toSorted().slice(0, -keep);
  const paths = old.map((name) => join(folder, name));
  // The archive first: a file that is left over without its backup would never be found again.
  for (const path of paths.flatMap((each) => [archiveFileOf(each), each])) rmSync(path, { force: true });
  return paths;
}

export type RestoredBackup = StoreCopy & {
  readonly dataDir: string;
  /** Undefined when there is no file with the archive beside the backup. */
  readonly archive: ArchiveCopy | undefined;
};

/** Never overwrites a file in the data folder. */
export function restoreBackup(config: Config, file: string): RestoredBackup {
  refusePostgres(config);
  const source = resolve(file);
  const path = resolve(config.dataDir);
  const target = join(path, DATABASE);
  if (isInstanceRunning(target)) throw new StartRefused(`a Gatehouse is running on ${path} — stop it first`);
  const files = [...DATABASE_FILES, ...ARCHIVE_FILES];
  for (const name of files.filter((name) => existsSync(join(path, name)))) {
    throw new StartRefused(
      `${join(path, name)} exists already and was not changed — move it away, or name another folder with --data-dir`,
    );
  }
  const secret = config.secret ?? (existsSync(path) ? DataFolder.open(path).findSecret("secret.key") : undefined);
  const report = inspectDatabase(source, secret === undefined ? undefined : new Sealer(secret));
  refuseUnusable(report, source);
  refuseOtherSecret(report, secret, path);

  const folder = DataFolder.open(path);
  const lock = lockDataFolder(`${target}.lock`);
  try {
    const archiveSource = archiveFileOf(source);
    const archive = copyArchive(archiveSource, join(path, ARCHIVE), lockPathOf(archiveSource));
    try {
      const change = (db: Database) => prepareRestored(db, Date.now());
      const copy = copyDatabase({ source, target, change, count: countContents });
      folder.giveToOwner();
      return { ...copy, dataDir: path, archive };
    } catch (error) {
      // So that the restore can be tried again.
      if (archive) rmSync(archive.file, { force: true });
      throw error;
    }
  } finally {
    lock.close();
  }
}

/**
 * What was ended after the backup must not come back: sessions and invitations. A command that waited then may have been sent since,
 * so it must not be sent again. The backup of an older version gets the tables of this one.
 */
function prepareRestored(db: Database, now: number): void {
  db.exec("PRAGMA secure_delete = ON");
  migrateSqlite(db, STORE_MIGRATIONS);
  db.transaction(() => {
    db.exec("DELETE FROM person_sessions; DELETE FROM invitations");
    db.exec(`UPDATE queues SET finished = finished
      + (SELECT count(*) FROM commands WHERE commands.server_id = queues.server_id AND status = 'queued')`);
    db.query(
      "UPDATE commands SET status = 'unknown', finished_at = ?, upstream_message = ? WHERE status = 'queued'",
    ).run(now, WAS_RESTORED);
  }).immediate();
}

function refuseUnusable(report: DatabaseReport | ArchiveReport, path: string, name = "a Gatehouse database"): void {
  switch (report.kind) {
    case "absent":
      throw new StartRefused(`there is no file ${path}`);
    case "empty":
      throw new StartRefused(`${path} holds nothing yet`);
    case "foreign":
      throw new StartRefused(`${path} is not ${name}`);
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
