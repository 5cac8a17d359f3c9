// PostgreSQL as an engine of the database: its connections, its driver and its dialect. Connections are opened at the first
// use, given up when a query outlasts its deadline, and opened anew.
import { SQL, type TransactionSQL } from "bun";
import { StartRefused, StoreUnavailable } from "../core/errors.ts";
import { checkEveryMs, RunningTime } from "../core/running-time.ts";
import { type MigrationList, MigrationRefused, NewerSchema } from "./migrations.ts";
import type { ColumnKind, Dialect, Driver, Row, Sql, Table, Value } from "./sql.ts";

/** No query is waited for longer, unless a driver has a deadline of its own. Requests are refused within 5 s. */
export const DEADLINE_MS = 4_500;
/** Our tables have a schema of their own, so that the database may hold others. */
const SCHEMA = "gatehouse";
const SNAPSHOT = "isolation level repeatable read read only";
const CONNECTIONS_MAX = 4;
/** An instance that is frozen within a transaction must not hold its locks for longer. */
const IDLE_IN_TRANSACTION_MAX_MS = 5_000;
/** A tool that reads here may wait for the database that it writes to. */
const TOOL_IDLE_MAX_MS = 600_000;
const TOOL_CONNECT_S = 10;
const IS_ALIVE = "SELECT 1 AS found FROM instances WHERE instance_id = ?1 FOR KEY SHARE";
/** More queries than this do not wait for a database that is slow. */
const WAITING_MAX = 500;
const VERSION_MIN = 150_000;
/** A migration may outlast the deadline of a query: an index of many events takes minutes. */
const MIGRATION_MAX_MS = 600_000;
/** Instances that start together must not migrate at the same time. The number is ours alone. */
const MIGRATION_LOCK = 0x47544841;

/** SQLSTATE of a missing table or schema: the database was replaced by an empty one. */
const MISSING_STATES: ReadonlySet<string | undefined> = new Set(["42P01", "3F000"]);
/** SQLSTATE of a write to a server that is not the primary any more: its address may lead to another one by now. */
const READ_ONLY = "25006";
/** SQLSTATE of a right that our user does not have, such as to create tables. The database's owner can grant it. */
const INSUFFICIENT_PRIVILEGE = "42501";
const NO_SUCH_DATABASE = "3D000";
/** Classes of SQLSTATE that mean a mistake in our own queries: syntax, constraints, data. */
const BUG_CLASSES = new Set(["22", "23", "42"]);

const TYPES: Readonly<Record<ColumnKind, string>> = { integer: "bigint", text: "text" };

const DIALECT: Dialect = {
  // An array is made once. As a sub-select, a database without statistics would look it through for every row.
  isIn: (column, select) => `${column} = ANY (ARRAY(${select}))`,
  valuesOf: (parameter, kind) =>
    `SELECT CAST(value AS ${TYPES[kind]}) AS value FROM ${jsonOf("json_array_elements_text", parameter)} AS given (value)`,
  isAmong: (column, parameter, kind) => DIALECT.isIn(column, DIALECT.valuesOf(parameter, kind)),
  contains: (column, parameter) => `strpos(${column}, CAST(${parameter} AS text)) > 0`,
  indexedBy: () => "",
  forUpdate: "FOR UPDATE",
  forUpdateSkipLocked: "FOR UPDATE SKIP LOCKED",
};

/** The server is older than what Gatehouse needs. */
export class PostgresTooOld extends Error {
  override name = "PostgresTooOld";
}

/** Something between us and PostgreSQL changes what we ask for. */
class PooledPostgres extends Error {
  override name = "PooledPostgres";
}

class PostgresSql implements Sql {
  readonly dialect = DIALECT;

  constructor(private readonly tx: SQL | TransactionSQL) {}

  async all<T = Row>(text: string, ...values: readonly Value[]): Promise<T[]> {
    const rows = await this.tx.unsafe(toPostgres(text), [...values]);
    return rows.map(withNumbers);
  }

  async get<T = Row>(text: string, ...values: readonly Value[]): Promise<T | undefined> {
    const [row] = await this.all<T>(text, ...values);
    return row;
  }

  async run(text: string, ...values: readonly Value[]): Promise<number> {
    const { count } = await this.tx.unsafe(toPostgres(text), [...values]);
    return count;
  }

  /** Sent without waiting for each answer; one connection answers them in their order. */
  async runEach(text: string, lists: readonly (readonly Value[])[]): Promise<number> {
    const counts = await Promise.all(lists.map((values) => this.run(text, ...values)));
    return counts.reduce((sum, count) => sum + count, 0);
  }

  async insertAll(table: Table, rows: readonly Row[], tail = ""): Promise<void> {
    if (rows.length > 0) await this.run(writeInsert(table, tail), JSON.stringify(rows));
  }

  async insertNew(table: Table, rows: readonly Row[], column: string): Promise<readonly Value[]> {
    if (rows.length === 0) return [];
    const tail = `ON CONFLICT DO NOTHING RETURNING ${column}`;
    const added = await this.all<Row>(writeInsert(table, tail), JSON.stringify(rows));
    return added.map((row) => row[column] ?? null);
  }

  async tryLock(number: number): Promise<boolean> {
    return (
      (await this.get<{ is_ours: boolean }>("SELECT pg_try_advisory_xact_lock(?1) AS is_ours", number))?.is_ours ===
      true
    );
  }
}

type Pool = {
  readonly sql: SQL;
  readonly isPrepared: Promise<void>;
  /** Monotonic. Until then the tables are changed, which must not be interrupted: it would begin anew, for ever. */
  migratesUntil: number;
};

/** This instance counts as dead, because it gave no sign of life for too long: another one acts in its place. */
export class Fenced extends StoreUnavailable {
  override name = "Fenced";
}

export type PostgresSettings = {
  readonly url: string;
  readonly migrations: MigrationList;
  readonly connectionsMax?: number;
  /** The error for a database that cannot be used. StoreUnavailable by default. */
  readonly Unavailable?: typeof StoreUnavailable;
  /** The id of this instance. A transaction is refused with Fenced when its row is gone. Undefined: not registered yet. */
  readonly findInstanceId?: () => string | undefined;
  /** While it is false, queries fail at once. True by default. */
  readonly isUp?: () => boolean;
  /** Called when a query failed because PostgreSQL cannot be used. */
  readonly onFault?: () => void;
  /** DEADLINE_MS by default. */
  readonly deadlineMs?: number;
};

export class PostgresDriver implements Driver {
  readonly #settings: PostgresSettings;
  readonly #Unavailable: typeof StoreUnavailable;
  #pool: Pool | undefined;
  readonly #deadlineMs: number;
  #waiting = 0;
  #isClosed = false;

  constructor(settings: PostgresSettings) {
    this.#settings = settings;
    this.#Unavailable = settings.Unavailable ?? StoreUnavailable;
    this.#deadlineMs = settings.deadlineMs ?? DEADLINE_MS;
  }

  /** Throws Unavailable with the reason when the database cannot be used, PostgresTooOld as its cause if that is it. */
  async check(): Promise<void> {
    await this.#run(async () => {});
  }

  query<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    return this.#run((sql) => work(new PostgresSql(sql)));
  }

  snapshot<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    return this.#run((sql) => sql.begin(SNAPSHOT, (tx) => work(new PostgresSql(tx)))) as Promise<T>;
  }

  transact<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    return this.#run((sql) => sql.begin((tx) => this.#runFenced(new PostgresSql(tx), work))) as Promise<T>;
  }

  /** The check is sent together with the first statement, and keeps the row from being deleted until the commit. */
  async #runFenced<T>(sql: Sql, work: (sql: Sql) => Promise<T>): Promise<T> {
    const instanceId = this.#settings.findInstanceId?.();
    if (instanceId === undefined) return work(sql);
    const [row, value] = await Promise.all([sql.get(IS_ALIVE, instanceId), work(sql)]);
    if (!row) throw new Fenced("this instance counts as dead, and another one acts in its place");
    return value;
  }

  /** Gives up every query under way: PostgreSQL is silent, or another one answers at its address now. */
  reset(): void {
    const pool = this.#pool;
    if (pool && performance.now() > pool.migratesUntil) this.#discard(pool);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const pool = this.#pool;
    this.#pool = undefined;
    await pool?.sql.close({ timeout: 1 }).catch(() => {});
  }

  async #run<T>(work: (sql: SQL) => Promise<T>): Promise<T> {
    const Unavailable = this.#Unavailable;
    if (this.#isClosed) throw new Unavailable("the database is closed");
    if (this.#settings.isUp?.() === false) throw new Unavailable("PostgreSQL is away");
    if (this.#waiting >= WAITING_MAX) throw new Unavailable("PostgreSQL is too slow");
    this.#waiting++;
    const pool = this.#pool ?? this.#open();
    const call = { isGivenUp: false };
    try {
      return await withDeadline(runIn(pool, call, work), this.#deadlineMs, () => {
        call.isGivenUp = true;
        if (performance.now() > pool.migratesUntil) this.#discard(pool);
      });
    } catch (error) {
      const state = stateOf(error);
      if (MISSING_STATES.has(state) || state === READ_ONLY) this.#discard(pool);
      if (error instanceof Fenced && Unavailable === StoreUnavailable) throw error;
      if (!isUnavailability(error)) throw error;
      if (error instanceof Fenced) throw new Unavailable(error.message, { cause: error });
      this.#settings.onFault?.();
      throw new Unavailable(hideAddress(error.message, this.#settings.url), { cause: error });
    } finally {
      this.#waiting--;
    }
  }

  #open(): Pool {
    const { url, migrations, connectionsMax = CONNECTIONS_MAX } = this.#settings;
    const sql = connect(url, connectionsMax, this.#deadlineMs / 1000, IDLE_IN_TRANSACTION_MAX_MS);
    const isPrepared = preparePostgres(sql, [migrations], () => {
      pool.migratesUntil = performance.now() + MIGRATION_MAX_MS;
    });
    const pool: Pool = { sql, isPrepared, migratesUntil: 0 };
    isPrepared.then(
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

async function runIn<T>(pool: Pool, call: { readonly isGivenUp: boolean }, work: (sql: SQL) => Promise<T>): Promise<T> {
  await pool.isPrepared;
  if (call.isGivenUp) throw new StoreUnavailable("PostgreSQL was prepared too late");
  return work(pool.sql);
}

function connect(url: string, max: number, connectionTimeout: number, idleMaxMs: number): SQL {
  return new SQL(url, {
    max,
    connectionTimeout,
    bigint: true,
    connection: { search_path: SCHEMA, idle_in_transaction_session_timeout: idleMaxMs },
  });
}

/** For tools: one connection, without deadlines. */
export class PostgresTool implements Driver {
  /** Makes the tables that are missing. */
  static async open(url: string, lists: readonly MigrationList[]): Promise<PostgresTool> {
    const sql = connect(url, 1, TOOL_CONNECT_S, TOOL_IDLE_MAX_MS);
    try {
      await preparePostgres(sql, lists);
      return new PostgresTool(sql);
    } catch (error) {
      await sql.close({ timeout: 0 }).catch(() => {});
      throw error;
    }
  }

  private constructor(private readonly sql: SQL) {}

  query<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    return work(new PostgresSql(this.sql));
  }

  snapshot<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    return this.sql.begin(SNAPSHOT, (tx) => work(new PostgresSql(tx))) as Promise<T>;
  }

  transact<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    return this.sql.begin((tx) => work(new PostgresSql(tx))) as Promise<T>;
  }

  /** False when another tool holds the lock of this number, which is released with the connection. */
  async lock(number: number): Promise<boolean> {
    const [row] = await this.sql<{ is_ours: boolean }[]>`SELECT pg_try_advisory_lock(${number}) AS is_ours`;
    return row?.is_ours === true;
  }

  /** By the clock of the database. */
  async countInstances(seenWithinMs: number): Promise<number> {
    const [row] = await this.sql<{ living: bigint }[]>`
      SELECT count(*) AS living FROM instances
      WHERE seen_at > extract(epoch FROM clock_timestamp()) * 1000 - ${seenWithinMs}`;
    return Number(row?.living ?? 0);
  }

  restartNumbers(): Promise<void> {
    return this.sql.begin((tx) => restartNumbers(tx));
  }

  async close(): Promise<void> {
    await this.sql.close({ timeout: 1 }).catch(() => {});
  }
}

/** Makes or changes the tables. `onMigration` is called before tables that hold rows are changed. */
async function preparePostgres(sql: SQL, lists: readonly MigrationList[], onMigration = () => {}): Promise<void> {
  await checkPostgresVersion(sql);
  await sql.begin(async (tx) => {
    await tx`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`;
    // PostgreSQL would ask for the right to create a schema also when it is there.
    const [found] = await tx`SELECT 1 AS found FROM pg_namespace WHERE nspname = ${SCHEMA}`;
    if (!found) await tx.unsafe(`CREATE SCHEMA ${SCHEMA}`);
    // A pooler may leave the search path out, and our tables would get among others.
    const [path] = await tx<{ schema: string | null }[]>`SELECT current_schema() AS schema`;
    if (path?.schema !== SCHEMA)
      throw new PooledPostgres("PostgreSQL is behind a pooler that does not pass search_path; use its own address");
    await tx.unsafe("CREATE TABLE IF NOT EXISTS migrations (list text, step bigint, PRIMARY KEY (list, step))");
    for (const list of lists) await migrate(tx, list, onMigration);
  });
}

async function migrate(tx: TransactionSQL, list: MigrationList, onMigration: () => void): Promise<void> {
  const { name, steps } = list;
  const [found] = await tx<{ done: bigint }[]>`SELECT count(*) AS done FROM migrations WHERE list = ${name}`;
  const done = Number(found?.done ?? 0);
  if (done > steps.length) throw new NewerSchema(list, done);
  if (done > 0 && done < steps.length) onMigration();
  for (const [index, step] of steps.entries()) {
    if (index < done) continue;
    const text = typeof step === "string" ? toPostgresTables(step) : step.postgres;
    if (text !== undefined)
      await tx
        .unsafe(text)
        .simple()
        .catch((error) => refuseMigration(list, index, error));
    await tx`INSERT INTO migrations (list, step) VALUES (${name}, ${index + 1})`;
  }
  for (const { text, values } of list.seeds ?? []) await new PostgresSql(tx).run(text, ...(values?.() ?? []));
}

/** What passes by itself is tried again: a lost connection, a deadlock, a full disk. */
function refuseMigration(list: MigrationList, index: number, error: unknown): never {
  const isForGood = BUG_CLASSES.has((stateOf(error) ?? "").slice(0, 2));
  throw isForGood ? new MigrationRefused(list, index + 1, error) : error;
}

/** Rows that were copied have their numbers with them; those that PostgreSQL gives next must be larger. */
async function restartNumbers(tx: TransactionSQL): Promise<void> {
  const columns = await tx<{ name: string; number: string }[]>`
    SELECT table_name AS name, column_name AS number FROM information_schema.columns
    WHERE table_schema = ${SCHEMA} AND is_identity = 'YES'`;
  for (const { name, number } of columns)
    await tx.unsafe(
      `SELECT setval(pg_get_serial_sequence('${name}', '${number}'), greatest((SELECT max(${number}) FROM ${name}), 1))`,
    );
}

/** Throws PostgresTooOld. */
async function checkPostgresVersion(sql: SQL): Promise<void> {
  const [row] = await sql<{ server_version_num: string }[]>`SHOW server_version_num`;
  const version = Number(row?.server_version_num);
  if (version < VERSION_MIN) {
    throw new PostgresTooOld(`PostgreSQL ${Math.floor(version / 10_000)} is too old; Gatehouse needs 15 or newer`);
  }
}

/** Tables are written in SQLite's words. Texts sort as in SQLite, so that both engines list rows in one order. */
function toPostgresTables(step: string): string {
  return step
    .replace(/\bINTEGER PRIMARY KEY( AUTOINCREMENT)?/g, "bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY")
    .replace(/\bINTEGER\b/g, "bigint")
    .replace(/\bTEXT\b/g, 'text COLLATE "C"')
    .replace(/\) STRICT(, WITHOUT ROWID)?;/g, ");");
}

const translated = new Map<string, string>();

function toPostgres(text: string): string {
  const known = translated.get(text);
  if (known !== undefined) return known;
  const query = text.replace(/\?(\d+)/g, "$$$1");
  translated.set(text, query);
  return query;
}

/** All rows in one value, so that there is one statement for any number of them. */
function writeInsert({ name, columns, names }: Table, tail: string): string {
  const typed = Object.entries(columns).map(([column, kind]) => `${column} ${TYPES[kind]}`);
  return `INSERT INTO ${name} (${names}) SELECT ${names} FROM ${jsonOf("json_to_recordset", "?1")} AS given (${typed}) ${tail}`;
}

/** A value is given as text, because the driver would write a text that is meant as JSON once more as JSON. */
function jsonOf(name: string, parameter: string): string {
  return `${name}(CAST(CAST(${parameter} AS text) AS json))`;
}

/** int8 arrives as bigint; ours are times and counts, which a double holds. */
function withNumbers<T>(row: Record<string, unknown>): T {
  for (const column in row) if (typeof row[column] === "bigint") row[column] = Number(row[column]);
  return row as T;
}

async function withDeadline<T>(work: Promise<T>, deadlineMs: number, giveUp: () => void): Promise<T> {
  // After this process was held up, it first reads what has arrived: giving up ends all queries that are under way.
  const everyMs = checkEveryMs(deadlineMs);
  const running = new RunningTime(performance.now(), everyMs);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setInterval(() => {
      if (running.at(performance.now()) < deadlineMs) return;
      clearInterval(timer);
      giveUp();
      reject(new StoreUnavailable(`PostgreSQL did not answer within ${deadlineMs / 1000} s`));
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
function stateOf(error: unknown): string | undefined {
  return error instanceof SQL.PostgresError && typeof error.errno === "string" ? error.errno : undefined;
}

/** PostgreSQL answers, and does not accept us: user, password or database are wrong, or a right is missing. */
export function isRefusal(error: unknown): boolean {
  const state = stateOf(error) ?? "";
  return state.startsWith("28") || state === NO_SUCH_DATABASE || state === INSUFFICIENT_PRIVILEGE;
}

function isUnavailability(error: unknown): error is Error {
  if (error instanceof StoreUnavailable) return true;
  if (error instanceof PostgresTooOld || error instanceof StartRefused || error instanceof PooledPostgres) return true;
  if (!(error instanceof SQL.PostgresError)) return false;
  const state = stateOf(error);
  if (state === undefined || MISSING_STATES.has(state) || state === INSUFFICIENT_PRIVILEGE) return true;
  return !BUG_CLASSES.has(state.slice(0, 2));
}

export function isPostgresAddress(address: string): boolean {
  return /^postgres(?:ql)?:\/\//.test(address);
}

/** An error of the driver may repeat the address, or the password in it. */
export function hideAddress(text: string, url: string): string {
  const password = /:\/\/[^:@/]*:([^@]*)@/.exec(url)?.[1];
  const hidden = text.replaceAll(url, "the address");
  if (!password) return hidden;
  return [password, decodePassword(password)].reduce((left, word) => left.replaceAll(word, "[redacted]"), hidden);
}

function decodePassword(password: string): string {
  try {
    return decodeURIComponent(password);
  } catch {
    return password;
  }
}
