// gatehouse migrate for the archive: moves it between the data folder and a PostgreSQL, page by page, with its numbers,
// marks and id, so that cursors stay valid. The source is not changed.
import { existsSync, renameSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { isPostgresAddress } from "../core/archive-address.ts";
import { StartRefused } from "../core/errors.ts";
import { ARCHIVE_MIGRATIONS } from "../database/archive/migrations.ts";
import { findRefusal, openArchiveFile } from "../database/archive/open-archive-file.ts";
import { copyTable, countRows, readTable } from "../database/copy-table.ts";
import { tablesOf } from "../database/migrations.ts";
import { withPostgres } from "../database/postgres.ts";
import type { Sql } from "../database/sql.ts";
import { SqliteDriver } from "../database/sqlite.ts";
import { lockDataFolder } from "../store/sqlite/open-database.ts";

const TABLES = tablesOf(ARCHIVE_MIGRATIONS);

export type ArchiveMove = {
  /** `sqlite`, or the address of a PostgreSQL. */
  readonly from: string;
  readonly to: string;
  readonly dataDir: string;
  readonly onProgress: (done: number, total: number) => void;
};

export type MovedArchive = { readonly servers: number; readonly events: number };

export async function moveArchive(move: ArchiveMove): Promise<MovedArchive> {
  const { from, to } = move;
  if (from === to) throw new StartRefused("--from and --to are the same archive", 2);
  for (const address of [from, to]) {
    if (address !== "sqlite" && !isPostgresAddress(address))
      throw new StartRefused("an archive is moved between sqlite and a PostgreSQL (postgres://…)", 2);
  }
  const folder = resolve(move.dataDir);
  const path = join(folder, "archive.db");
  refuseFiles(move, path);
  const lock = [from, to].includes("sqlite") ? lockDataFolder(join(folder, "gatehouse.db.lock")) : undefined;
  try {
    return await withSource(from, path, (source) =>
      withTarget(to, path, (target) => copyArchive(source, target, move)),
    );
  } finally {
    lock?.close();
  }
}

function refuseFiles({ from, to }: ArchiveMove, path: string): void {
  if (from === "sqlite" && !existsSync(path))
    throw new StartRefused(`there is no ${path} — set GATEHOUSE_DATA_DIR or --data-dir`);
  const refusal = from === "sqlite" ? findRefusal(path) : undefined;
  if (refusal !== undefined) throw new StartRefused(refusal);
  if (to === "sqlite" && existsSync(path))
    throw new StartRefused(`${path} exists already and was not changed — move it away first`);
}

async function withSource<T>(address: string, path: string, work: (sql: Sql) => Promise<T>): Promise<T> {
  if (address !== "sqlite")
    return explainFaults(address, () => withPostgres(address, "source", [ARCHIVE_MIGRATIONS], work));
  const driver = new SqliteDriver(openArchiveFile(path));
  try {
    return await driver.snapshot(work);
  } finally {
    driver.close();
  }
}

/** A file gets its name when it is complete. */
async function withTarget<T>(address: string, path: string, work: (sql: Sql) => Promise<T>): Promise<T> {
  if (address !== "sqlite")
    return explainFaults(address, () => withPostgres(address, "target", [ARCHIVE_MIGRATIONS], work));
  const draft = `${path}.partial`;
  removeFiles(draft);
  try {
    const db = openArchiveFile(draft);
    // So that no log grows to the size of the archive, and none is left beside the file.
    db.exec("PRAGMA journal_mode = DELETE");
    const driver = new SqliteDriver(db);
    let moved: T;
    try {
      moved = await driver.transact(work);
    } finally {
      driver.close();
    }
    renameSync(draft, path);
    return moved;
  } finally {
    removeFiles(draft);
  }
}

function removeFiles(path: string): void {
  for (const suffix of ["", "-wal", "-shm", "-journal"]) rmSync(path + suffix, { force: true });
}

async function copyArchive(source: Sql, target: Sql, { to, onProgress }: ArchiveMove): Promise<MovedArchive> {
  if (await target.get("SELECT 1 AS found FROM ledgers LIMIT 1"))
    throw new StartRefused(`${hidePassword(to)} is not empty; nothing was moved — choose an empty database`);
  // The id comes with the archive, so that its cursors stay valid.
  await target.run("DELETE FROM archive");
  const counts = new Map<string, number>();
  for (const table of TABLES) counts.set(table.name, await countRows(source, table));
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  let done = 0;
  for (const table of TABLES) {
    await copyTable(source, target, table, (rows) => {
      done += rows;
      onProgress(done, total);
    });
  }
  await compare(source, target);
  return { servers: counts.get("ledgers") ?? 0, events: counts.get("events") ?? 0 };
}

/** The source may be deleted after the migration. */
async function compare(source: Sql, target: Sql): Promise<void> {
  for (const table of TABLES) {
    const arrived = readTable(target, table);
    const differs = () =>
      new StartRefused(`${table.name} differ in the new archive; nothing was moved — try again`);
    for await (const rows of readTable(source, table)) {
      const { value } = await arrived.next();
      if (!isDeepStrictEqual(rows, value)) throw differs();
    }
    if (!(await arrived.next()).done) throw differs();
  }
}

async function explainFaults<T>(address: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof StartRefused) throw error;
    const isKnown = error instanceof Error && error.name !== "TypeError";
    if (!isKnown) throw error;
    throw new StartRefused(
      `${hidePassword(address)} cannot be used: ${error.message.replaceAll(address, hidePassword(address))}`,
    );
  }
}

function hidePassword(address: string): string {
  return address.replace(/\/\/.*@/s, "//[redacted]@");
}
