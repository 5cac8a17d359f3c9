// The file of an embedded database, store or archive: whether it is ours, known and undamaged, judged without changing it.
import { Database } from "bun:sqlite";
import { closeSync, existsSync, openSync, readSync, statSync } from "node:fs";
import { StartRefused, StoreUnavailable } from "../../core/errors.ts";
import { codeInVerdict, isDamage, refuseToOpen, refuseVerdict } from "./explain-open-error.ts";

const HEADER_BYTES = 100;
/** More problems of a damaged file are not listed. */
const PROBLEMS_MAX = 3;

/** What tells a kind of database apart from others in SQLite's own header. */
export type DatabaseFormat = {
  /** With its article, as in "a Gatehouse database". */
  readonly name: string;
  readonly applicationId: number;
  readonly schemaVersion: number;
  /** What to do about a file that is not ours. */
  readonly foreignRemedy: string;
};

/** The file itself is the fault: it is not ours, newer or damaged. No retry helps. */
export class UnusableFile extends StartRefused {}

/**
 * Throws UnusableFile, or StartRefused when the file cannot be read, which may pass.
 * Reads the header without SQLite, because opening the file with SQLite could change it. Larger files than `checkedBytesMax`
 * are not looked through for damage.
 */
export function refuseUnusableFile(
  path: string,
  format: DatabaseFormat,
  checkedBytesMax = Number.POSITIVE_INFINITY,
): void {
  const header = getHeader(path);
  if (!isOurHeader(header, format)) {
    throw new UnusableFile(`${path} is not ${format.name}; it was left untouched — ${format.foreignRemedy}`);
  }
  const version = header.readUInt32BE(60);
  if (version > format.schemaVersion) {
    throw new UnusableFile(
      `${path} was made by a newer Gatehouse (schema ${version}, this one knows ${format.schemaVersion}) — update Gatehouse`,
    );
  }
  // A first start that was killed leaves a journal that only a writer can roll back. The file holds no data yet.
  if (!existsSync(`${path}-journal`)) refuseDamagedFile(path, statSync(path).size <= checkedBytesMax);
}

export function isOurHeader(header: Buffer, { applicationId }: DatabaseFormat): boolean {
  const isSqlite = header.length === HEADER_BYTES && header.toString("latin1", 0, 16) === "SQLite format 3\0";
  return isSqlite && header.readUInt32BE(68) === applicationId;
}

/** Shorter than HEADER_BYTES when the file is. */
export function readHeader(path: string): Buffer {
  const file = openSync(path, "r");
  try {
    const header = Buffer.alloc(HEADER_BYTES);
    return header.subarray(0, readSync(file, header, 0, HEADER_BYTES, 0));
  } finally {
    closeSync(file);
  }
}

/**
 * Throws when the path no longer leads to the open file. SQLite would go on writing to a file that was deleted, replaced or
 * emptied, and the writes would be lost.
 */
export function createFileCheck(path: string): () => void {
  const { ino } = statSync(path);
  return () => {
    const found = statSync(path, { throwIfNoEntry: false });
    if (!found || found.ino !== ino || found.size === 0) throw new StoreUnavailable(`${path} is gone`);
  };
}

/** Needs the open database: opening may have rolled back the file of a first start that was killed. */
export function isEmptyDatabase(db: Database): boolean {
  return db.query("SELECT 1 FROM sqlite_schema LIMIT 1").get() === null;
}

function getHeader(path: string): Buffer {
  try {
    return readHeader(path);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StartRefused(`${path} cannot be read: ${reason} — check the file and its permissions`);
  }
}

/** Uses a read-only connection, which cannot even write back the log that a crash has left. */
function refuseDamagedFile(path: string, checksPages: boolean): void {
  let db: Database | undefined;
  let verdict: string;
  try {
    db = new Database(path, { readonly: true });
    db.query("SELECT count(*) FROM sqlite_schema").get();
    const row = checksPages
      ? db.query<{ quick_check: string }, []>("PRAGMA quick_check(1)").get()
      : { quick_check: "ok" };
    verdict = row?.quick_check ?? "no answer";
  } catch (error) {
    const refusal = refuseToOpen(path, error);
    throw isDamage(error) ? new UnusableFile(refusal.message) : refusal;
  } finally {
    db?.close();
  }
  if (verdict === "ok") return;
  const refusal = refuseVerdict(path, verdict.replaceAll("\n", " "));
  throw codeInVerdict(verdict) === undefined ? new UnusableFile(refusal.message) : refusal;
}

/** Checks every page, index and row. Undefined when nothing is damaged. */
export function findDamage(db: Database): string | undefined {
  const rows = db
    .query<{ integrity_check: string }, []>(`PRAGMA integrity_check(${PROBLEMS_MAX})`)
    .all()
    .map((row) => row.integrity_check);
  return rows.length === 1 && rows[0] === "ok" ? undefined : rows.join("; ").replaceAll("\n", " ");
}

/**
 * Empties the write-ahead log, which has rows as they were before they were changed. False when another connection reads just
 * now: then nothing is waited for, and the caller tries again later.
 */
export function truncateLog(db: Database): boolean {
  const timeout = db.query<{ timeout: number }, []>("PRAGMA busy_timeout").get()?.timeout ?? 0;
  db.exec("PRAGMA busy_timeout = 0");
  try {
    return db.query<{ busy: number }, []>("PRAGMA wal_checkpoint(TRUNCATE)").get()?.busy === 0;
  } finally {
    db.exec(`PRAGMA busy_timeout = ${timeout}`);
  }
}
