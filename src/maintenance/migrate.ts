// gatehouse migrate: moves everything that lasts, store and archive, between a data folder and a PostgreSQL. Until the end the
// target is marked, so that no instance starts on it; a move that was interrupted goes on where it ended.
import { createHash, type Hash } from "node:crypto";
import { resolve } from "node:path";
import { StartRefused } from "../core/errors.ts";
import { ARCHIVE_MIGRATIONS } from "../database/archive/migrations.ts";
import { compareTables, countRows, type MovedTable, moveTable, readTable } from "../database/copy-table.ts";
import { tablesOf } from "../database/migrations.ts";
import { isPostgresAddress } from "../database/postgres.ts";
import { isRightSecret, SECRET_CHECK, Sealer } from "../database/sealer.ts";
import type { Driver, Sql } from "../database/sql.ts";
import { STORE_MIGRATIONS } from "../database/store/migrations.ts";
import { findSetting, MIGRATION, saveSetting, UNFINISHED } from "../database/store/settings.ts";
import { DataFolder } from "../instance/data-folder.ts";
import { explainFaults, hidePassword, openPlace, type Place } from "./places.ts";

/** They say which instances live now, and what those have to read again. */
const LEFT_TABLES: ReadonlySet<string> = new Set(["directory", "changes", "instances", "leases"]);
/** A start fills these by itself, so a database with nothing else is empty. */
const FILLED_BY_START: ReadonlySet<string> = new Set(["settings", "roles", "archive"]);
const FINISHED = "finished ";

const STORE_TABLES: readonly MovedTable[] = tablesOf(STORE_MIGRATIONS)
  .filter(({ name }) => !LEFT_TABLES.has(name))
  .map((table) => (table.name === "settings" ? { ...table, except: `name = '${MIGRATION}'` } : table));
const ARCHIVE_TABLES: readonly MovedTable[] = tablesOf(ARCHIVE_MIGRATIONS);

export type Progress = { readonly step: "move" | "compare"; readonly done: number; readonly total: number };

export type MigrationSettings = {
  /** `sqlite`, or the address of a PostgreSQL. */
  readonly from: string;
  readonly to: string;
  readonly dataDir: string;
  /** Undefined: secret.key in the data folder. */
  readonly secret: string | undefined;
  /** GATEHOUSE_ARCHIVE. Undefined: the archive is where the store is. */
  readonly archive: string | undefined;
  readonly onProgress: (progress: Progress) => void;
};

export type Migration = {
  /** Nothing was done, because this very state of the source was moved before. */
  readonly wasDone: boolean;
  /** An earlier run was interrupted. */
  readonly isResumed: boolean;
  /** How many rows of each table are in the target. */
  readonly moved: Readonly<Record<string, number>>;
  /** Undefined when it was moved, too. */
  readonly whyNoArchive: string | undefined;
};

/** A group of tables that is in one database on either side. */
type Group = { readonly source: Driver; readonly target: Driver; readonly tables: readonly MovedTable[] };

/** Throws StartRefused when a place is unusable or in use. Nothing that the source holds is changed. */
export async function migrate(settings: MigrationSettings): Promise<Migration> {
  const { from, to, dataDir } = settings;
  refuseAddresses(from, to);
  const sealer = openSealer(settings);
  const source = await openPlace(from, dataDir, "source");
  try {
    await refuseSource(source, sealer);
    const target = await openPlace(to, dataDir, "target");
    try {
      return await explainFaults(
        [from, to],
        () => moveBetween(source, target, settings),
        (words) => `the move was interrupted: ${words} — run the same command again, which goes on where it ended`,
      );
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

function refuseAddresses(from: string, to: string): void {
  if ([from, to].some((address) => /^rediss?(?:\+\w+)?:\/\//.test(address)))
    throw new StartRefused(
      "servers, keys and commands are not kept in Redis any more — version 0.2 can move them from Redis to sqlite " +
        "(its gatehouse migrate --to sqlite), and this version takes them from there",
      2,
    );
  if (![from, to].every((address) => address === "sqlite" || isPostgresAddress(address)))
    throw new StartRefused("--from and --to must be sqlite or the address of a PostgreSQL (postgres://…)", 2);
  if (from === to) throw new StartRefused("--from and --to are the same place", 2);
}

/** Both places are encrypted with the same secret. */
function openSealer({ dataDir, secret }: MigrationSettings): Sealer {
  const known = secret ?? DataFolder.open(dataDir).findSecret("secret.key");
  if (known !== undefined) return new Sealer(known);
  throw new StartRefused(
    `there is no secret.key in ${resolve(dataDir)} — put the one there that the data was encrypted with, or set GATEHOUSE_SECRET to it`,
  );
}

async function refuseSource(source: Place, sealer: Sealer): Promise<void> {
  await source.refuseRunning();
  const { name, store } = source;
  if ((await readMark(store)) === UNFINISHED)
    throw new StartRefused(`a migration into ${name} was not finished, so data is missing there — finish it first`);
  const check = await store.query((sql) => findSetting(sql, SECRET_CHECK));
  if (check === undefined) throw new StartRefused(`${name} holds nothing that could be moved`);
  if (isRightSecret(check, sealer)) return;
  throw new StartRefused(
    `GATEHOUSE_SECRET (or secret.key in the data folder) is not the one that ${name} was encrypted with; nothing was moved — ` +
      "put the right one there: the new place is read with the same secret",
  );
}

async function moveBetween(source: Place, target: Place, settings: MigrationSettings): Promise<Migration> {
  const { onProgress } = settings;
  await target.refuseRunning();
  const mark = await readMark(target.store);
  if (mark === undefined) await refuseUsed(target.name, target.store, STORE_TABLES);
  const whyNoArchive = findWhyNoArchive(source, settings);
  const groups: Group[] = [{ source: source.store, target: target.store, tables: STORE_TABLES }];
  const sourceArchive = whyNoArchive === undefined ? source.openArchive() : undefined;
  const targetArchive = sourceArchive && target.openArchive();
  if (sourceArchive && targetArchive) {
    if (mark === undefined) await refuseUsed(target.name, targetArchive, ARCHIVE_TABLES);
    groups.push({ source: sourceArchive, target: targetArchive, tables: ARCHIVE_TABLES });
  }
  const moved = await countAll(groups);
  if (mark?.startsWith(FINISHED)) {
    if (mark !== FINISHED + (await hashSource(groups)))
      throw new StartRefused(
        `${target.name} is not empty: an earlier move was finished, and one of the two was used since; nothing was moved — choose an empty database`,
      );
    return { wasDone: true, isResumed: false, moved, whyNoArchive };
  }
  await writeMark(target.store, UNFINISHED);
  const total = Object.values(moved).reduce((sum, count) => sum + count, 0);
  await moveAll(groups, (done) => onProgress({ step: "move", done, total }));
  const hash = await compareAll(groups, (done) => onProgress({ step: "compare", done, total }));
  await source.refuseRunning();
  await target.finish();
  await takeVersion(source.store, target.store);
  await writeMark(target.store, FINISHED + hash);
  return { wasDone: false, isResumed: mark === UNFINISHED, moved, whyNoArchive };
}

/** An archive that GATEHOUSE_ARCHIVE puts into another place than the store is not moved with it. */
function findWhyNoArchive(source: Place, { from, archive }: MigrationSettings): string | undefined {
  if (archive === "off") return "GATEHOUSE_ARCHIVE is off";
  if (archive !== undefined && archive !== from)
    return `it stays where GATEHOUSE_ARCHIVE says (${hidePassword(archive)})`;
  return source.openArchive() ? undefined : "there is none";
}

async function refuseUsed(name: string, driver: Driver, tables: readonly MovedTable[]): Promise<void> {
  const found: string[] = [];
  for (const table of tables.filter((one) => !FILLED_BY_START.has(one.name))) {
    const count = await driver.query((sql) => countRows(sql, table));
    if (count > 0) found.push(`${table.name}: ${count}`);
  }
  if (found.length === 0) return;
  const isArchive = tables === ARCHIVE_TABLES;
  throw new StartRefused(
    `${name} is not empty (${found.slice(0, 3).join(", ")}); nothing was moved — choose an empty one` +
      (isArchive ? "; if this is the archive in use, set GATEHOUSE_ARCHIVE to it, and it stays as it is" : ""),
  );
}

async function countAll(groups: readonly Group[]): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { source, tables } of groups)
    for (const table of tables) counts[table.name] = await source.query((sql) => countRows(sql, table));
  return counts;
}

async function moveAll(groups: readonly Group[], onProgress: (done: number) => void): Promise<void> {
  let done = 0;
  for (const { source, target, tables } of groups)
    await source.snapshot(async (sql) => {
      for (const table of tables)
        await moveTable(sql, target, table, (count) => {
          done += count;
          onProgress(done);
        });
    });
}

/** The source may be deleted after the migration, so every row is compared. Returns the hash of all rows. */
async function compareAll(groups: readonly Group[], onProgress: (done: number) => void): Promise<string> {
  const hash = createHash("sha256");
  let done = 0;
  for (const { source, target, tables } of groups)
    await source.snapshot((from) =>
      target.snapshot(async (to) => {
        for (const table of tables) {
          hash.update(table.name);
          const isSame = await compareTables(from, to, table, (text) => {
            hash.update(text);
            if (++done % 1_000 === 0) onProgress(done);
          });
          if (!isSame) throw new StartRefused(`${table.name} differ in the new place — run the same command again`);
        }
      }),
    );
  return hash.digest("hex");
}

async function hashSource(groups: readonly Group[]): Promise<string> {
  const hash = createHash("sha256");
  for (const { source, tables } of groups)
    await source.snapshot(async (sql) => {
      for (const table of tables) await hashTable(sql, table, hash);
    });
  return hash.digest("hex");
}

async function hashTable(sql: Sql, table: MovedTable, hash: Hash): Promise<void> {
  hash.update(table.name);
  for await (const rows of readTable(sql, table)) for (const row of rows) hash.update(JSON.stringify(row));
}

/** So that versions go on: a Redis may still name those of the source. */
async function takeVersion(source: Driver, target: Driver): Promise<void> {
  const known = await source.query((sql) => sql.get<{ version: number }>("SELECT version FROM directory"));
  const version = (known?.version ?? 0) + 1;
  await target.transact((sql) => sql.run("UPDATE directory SET version = ?1 WHERE version < ?2", version, version));
}

function readMark(store: Driver): Promise<string | undefined> {
  return store.query((sql) => findSetting(sql, MIGRATION));
}

async function writeMark(store: Driver, value: string): Promise<void> {
  await store.transact((sql) => saveSetting(sql, MIGRATION, value));
}
