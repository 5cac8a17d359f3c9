// The connections to PostgreSQL: opened at the first use, given up when a query outlasts its deadline, and opened anew.
import { SQL, type TransactionSQL } from "bun";
import { hideAddress } from "../../core/archive-address.ts";
import { ArchiveUnavailable } from "../../core/errors.ts";
import { checkEveryMs, RunningTime } from "../../core/running-time.ts";
import { ARCHIVE_DEADLINE_MS } from "../ledger-rules.ts";
import { migratePostgres, NewerSchema } from "./schema.ts";

const CONNECTIONS_MAX = 4;
/** More queries than this do not wait for a database that is slow. */
const WAITING_MAX = 500;
const VERSION_MIN = 150_000;
/** A step of the schema may outlast the deadline of a query: an index of many events takes minutes. */
const MIGRATION_MAX_MS = 600_000;

/** SQLSTATE of a missing table: the database was replaced by an empty one. */
const UNDEFINED_TABLE = "42P01";
/** SQLSTATE of a right that our user does not have, such as to create tables. The database's owner can grant it. */
const INSUFFICIENT_PRIVILEGE = "42501";
/** Classes of SQLSTATE that mean a mistake in our own queries: syntax, constraints, data. */
const BUG_CLASSES = new Set(["22", "23", "42"]);

/** The server is older than what Gatehouse needs. */
export class PostgresTooOld extends Error {
  override name = "PostgresTooOld";
}

type Pool = {
  readonly sql: SQL;
  readonly archiveId: Promise<string>;
  /** Monotonic. Until then the schema is changed, which must not be interrupted: it would begin anew, for ever. */
  migratesUntil: number;
};

export class PostgresConnection {
  readonly #url: string;
  #pool: Pool | undefined;
  #waiting = 0;
  #isClosed = false;

  constructor(url: string) {
    this.#url = url;
  }

  /** Runs a transaction. Rejects with ArchiveUnavailable when it fails or outlasts the deadline; it may still commit then. */
  async run<T>(work: (tx: TransactionSQL, archiveId: string) => Promise<T>): Promise<T> {
    if (this.#isClosed) throw new ArchiveUnavailable("the archive is closed");
    if (this.#waiting >= WAITING_MAX) throw new ArchiveUnavailable("the archive is too slow");
    this.#waiting++;
    const pool = this.#pool ?? this.#open();
    const call = { isGivenUp: false };
    try {
      return await withDeadline(this.#runIn(pool, call, work), () => {
        call.isGivenUp = true;
        if (performance.now() > pool.migratesUntil) this.#discard(pool);
      });
    } catch (error) {
      if (errnoOf(error) === UNDEFINED_TABLE) this.#discard(pool);
      throw this.#explain(error);
    } finally {
      this.#waiting--;
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const pool = this.#pool;
    this.#pool = undefined;
    await pool?.sql.close({ timeout: 1 }).catch(() => {});
  }

  #explain(error: unknown): unknown {
    if (!isUnavailability(error)) return error;
    return new ArchiveUnavailable(hideAddress(error.message, this.#url), { cause: error });
  }

  async #runIn<T>(
    pool: Pool,
    call: { readonly isGivenUp: boolean },
    work: (tx: TransactionSQL, archiveId: string) => Promise<T>,
  ): Promise<T> {
    const archiveId = await pool.archiveId;
    if (call.isGivenUp) throw new ArchiveUnavailable("PostgreSQL was prepared too late");
    return pool.sql.begin((tx) => work(tx, archiveId)) as Promise<T>;
  }

  #open(): Pool {
    const sql = new SQL(this.#url, {
      max: CONNECTIONS_MAX,
      connectionTimeout: ARCHIVE_DEADLINE_MS / 1000,
      idleTimeout: 60,
    });
    const archiveId = prepare(sql, () => {
      pool.migratesUntil = performance.now() + MIGRATION_MAX_MS;
    });
    const pool: Pool = { sql, archiveId, migratesUntil: 0 };
    archiveId.then(
      () => {
        pool.migratesUntil = 0;
      },
      // A failed preparation is tried again with the next query.
      () => this.#discard(pool),
    );
    this.#pool = pool;
    return pool;
  }

  #discard(pool: Pool): void {
    if (this.#pool === pool) this.#pool = undefined;
    void pool.sql.close({ timeout: 0 }).catch(() => {});
  }
}

/** Throws PostgresTooOld. Returns the version. */
export async function checkPostgresVersion(sql: SQL): Promise<number> {
  const [row] = await sql<{ server_version_num: string }[]>`SHOW server_version_num`;
  const version = Number(row?.server_version_num);
  if (version < VERSION_MIN) {
    throw new PostgresTooOld(
      `PostgreSQL ${Math.floor(version / 10_000)} is too old for the archive; it needs 15 or newer`,
    );
  }
  return version;
}

async function prepare(sql: SQL, onMigration: () => void): Promise<string> {
  await checkPostgresVersion(sql);
  return sql.begin((tx) => migratePostgres(tx, onMigration)) as Promise<string>;
}

async function withDeadline<T>(work: Promise<T>, giveUp: () => void): Promise<T> {
  // After this process was held up, it first reads what has arrived: giving up ends all queries that are under way.
  const everyMs = checkEveryMs(ARCHIVE_DEADLINE_MS);
  const running = new RunningTime(performance.now(), everyMs);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setInterval(() => {
      if (running.at(performance.now()) < ARCHIVE_DEADLINE_MS) return;
      clearInterval(timer);
      giveUp();
      reject(new ArchiveUnavailable(`PostgreSQL did not answer within ${ARCHIVE_DEADLINE_MS / 1000} s`));
    }, everyMs);
  });
  work.catch(() => {});
  try {
    return await Promise.race([work, late]);
  } finally {
    clearInterval(timer);
  }
}

/** SQLSTATE; undefined for an error that did not come from the server. */
function errnoOf(error: unknown): string | undefined {
  return error instanceof SQL.PostgresError && typeof error.errno === "string" ? error.errno : undefined;
}

function isUnavailability(error: unknown): error is Error {
  if (error instanceof PostgresTooOld || error instanceof NewerSchema) return true;
  if (!(error instanceof SQL.PostgresError)) return false;
  const errno = errnoOf(error);
  if (errno === undefined || errno === UNDEFINED_TABLE || errno === INSUFFICIENT_PRIVILEGE) return true;
  return !BUG_CLASSES.has(errno.slice(0, 2));
}
