// gatehouse migrate for the archive: moves it between the data folder and a PostgreSQL, page by page, with its numbers,
// marks and id, so that cursors stay valid. The source is not changed.
import { existsSync, renameSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import {
  type ArchiveSource,
  type ArchiveTarget,
  PORTABLE_TABLES,
  readTable,
} from "../archive/portable-archive.ts";
import { withPortablePostgres } from "../archive/postgres/portable-postgres.ts";
import { findRefusal, openArchiveFile } from "../archive/sqlite/open-archive-file.ts";
import { PortableSqlite } from "../archive/sqlite/portable-sqlite.ts";
import { isPostgresAddress } from "../core/archive-address.ts";
import { StartRefused } from "../core/errors.ts";
import { lockDataFolder } from "../store/sqlite/open-database.ts";

/** Tables whose rows both keepers read in the same order, so that they can be compared row by row. */
const COMPARED_TABLES: ReadonlySet<string> = new Set([
  "ledgers",
  "events",
  "webhooks",
  "deliveries",
  "counts",
  "sessions",
  "player_days",
  "staff_acts",
]);

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

async function withSource<T>(
  address: string,
  path: string,
  work: (source: ArchiveSource) => Promise<T>,
): Promise<T> {
  if (address !== "sqlite")
    return explainFaults(address, () => withPortablePostgres(address, "source", work));
  const db = openArchiveFile(path);
  try {
    return await work(new PortableSqlite(db));
  } finally {
    db.close();
  }
}

/** A file gets its name when it is complete. */
async function withTarget<T>(
  address: string,
  path: string,
  work: (target: ArchiveTarget) => Promise<T>,
): Promise<T> {
  if (address !== "sqlite")
    return explainFaults(address, () => withPortablePostgres(address, "target", work));
  const draft = `${path}.partial`;
  removeFiles(draft);
  try {
    const db = openArchiveFile(draft);
    let moved: T;
    try {
      moved = await work(new PortableSqlite(db));
      // So that no log is left beside the file.
      db.exec("PRAGMA journal_mode = DELETE");
    } finally {
      db.close();
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

async function copyArchive(
  source: ArchiveSource,
  target: ArchiveTarget,
  { to, onProgress }: ArchiveMove,
): Promise<MovedArchive> {
  if (!(await target.isEmpty()))
    throw new StartRefused(`${hidePassword(to)} is not empty; nothing was moved — choose an empty database`);
  const counts = new Map<string, number>();
  for (const table of PORTABLE_TABLES) counts.set(table.name, await source.countRows(table));
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  let done = 0;
  for (const table of PORTABLE_TABLES) {
    for await (const rows of readTable(source, table)) {
      await target.writeRows(table, rows);
      done += rows.length;
      onProgress(done, total);
    }
  }
  await compare(source, target, counts);
  await target.finish(await source.readArchiveId());
  return { servers: counts.get("ledgers") ?? 0, events: counts.get("events") ?? 0 };
}

/** The source may be deleted after the migration. */
async function compare(
  source: ArchiveSource,
  target: ArchiveTarget,
  counts: ReadonlyMap<string, number>,
): Promise<void> {
  for (const table of PORTABLE_TABLES) {
    const differs = () =>
      new StartRefused(`${table.name} differ in the new archive; nothing was moved — try again`);
    if ((await target.countRows(table)) !== counts.get(table.name)) throw differs();
    if (!COMPARED_TABLES.has(table.name)) continue;
    const arrived = readTable(target, table);
    for await (const rows of readTable(source, table)) {
      const { value } = await arrived.next();
      if (!isDeepStrictEqual(toPlain(rows), toPlain(value ?? []))) throw differs();
    }
  }
}

/** Rows of SQLite have another prototype. */
function toPlain(rows: readonly object[]): object[] {
  return rows.map((row) => ({ ...row }));
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
