// SQLite as an engine of the database: its driver and its dialect.
import { Database, SQLiteError, type Statement } from "bun:sqlite";
import { StoreUnavailable } from "../core/errors.ts";
import { type MigrationList, MigrationRefused, NewerSchema } from "./migrations.ts";
import type { Dialect, Driver, Row, Sql, Table, Value } from "./sql.ts";
import { type DatabaseFormat, isEmptyDatabase } from "./sqlite-file/database-file.ts";
import { isDiskFault } from "./sqlite-file/explain-open-error.ts";

const DIALECT: Dialect = {
  isIn: (column, select) => `${column} IN (${select})`,
  valuesOf: (parameter) => `SELECT value FROM json_each(${parameter})`,
  isAmong: (column, parameter, kind) => DIALECT.isIn(column, DIALECT.valuesOf(parameter, kind)),
  contains: (column, parameter) => `instr(${column}, ${parameter}) > 0`,
  indexedBy: (index) => `INDEXED BY ${index}`,
  forUpdate: "",
  forUpdateSkipLocked: "",
};

class SqliteSql implements Sql {
  readonly dialect = DIALECT;
  /** One for each text of a query, which are few. */
  readonly #statements = new Map<string, Statement<unknown, Value[]>>();
  /** The texts of inserts, by what follows the values. */
  readonly #inserts = new Map<Table, Map<string, string>>();

  constructor(private readonly db: Database) {}

  async all<T = Row>(text: string, ...values: readonly Value[]): Promise<T[]> {
    return this.#prepare(text).all(...values) as T[];
  }

  async get<T = Row>(text: string, ...values: readonly Value[]): Promise<T | undefined> {
    return this.getNow<T>(text, ...values);
  }

  getNow<T>(text: string, ...values: readonly Value[]): T | undefined {
    return (this.#prepare(text).get(...values) as T | null) ?? undefined;
  }

  async run(text: string, ...values: readonly Value[]): Promise<number> {
    return this.runNow(text, ...values);
  }

  runNow(text: string, ...values: readonly Value[]): number {
    return this.#prepare(text).run(...values).changes;
  }

  async runEach(text: string, lists: readonly (readonly Value[])[]): Promise<number> {
    const statement = this.#prepare(text);
    return lists.reduce((changes, values) => changes + statement.run(...values).changes, 0);
  }

  async insertAll(table: Table, rows: readonly Row[], tail = ""): Promise<void> {
    if (rows.length === 0) return;
    const statement = this.#prepareInsert(table, tail);
    for (const row of rows) statement.run(...valuesOf(table, row));
  }

  async insertNew(table: Table, rows: readonly Row[], column: string): Promise<readonly Value[]> {
    const statement = this.#prepareInsert(table, "ON CONFLICT DO NOTHING");
    const added: Value[] = [];
    for (const row of rows) {
      if (statement.run(...valuesOf(table, row)).changes > 0) added.push(row[column] ?? null);
    }
    return added;
  }

  /** Only one process uses the file. */
  async tryLock(): Promise<boolean> {
    return true;
  }

  close(): void {
    for (const statement of this.#statements.values()) statement.finalize();
    this.#statements.clear();
  }

  #prepareInsert(table: Table, tail: string): Statement<unknown, Value[]> {
    const texts = this.#inserts.get(table) ?? new Map<string, string>();
    let text = texts.get(tail);
    if (text === undefined) {
      const { name, names } = table;
      text = `INSERT INTO ${name} (${names}) VALUES (${names.map((_, index) => `?${index + 1}`)}) ${tail}`;
      this.#inserts.set(table, texts.set(tail, text));
    }
    return this.#prepare(text);
  }

  #prepare(text: string): Statement<unknown, Value[]> {
    const known = this.#statements.get(text);
    if (known) return known;
    const statement = this.db.prepare<unknown, Value[]>(text);
    this.#statements.set(text, statement);
    return statement;
  }
}

function valuesOf({ names }: Table, row: Row): Value[] {
  const values: Value[] = [];
  for (const column of names) values.push(row[column] ?? null);
  return values;
}

/** The size limit of a group, so that a commit does not block the event loop for long. */
const GROUP_MAX = 256;

/** For a file whose writes are grouped: transactions of one turn of the event loop share one commit and one fsync. */
export type GroupCommit = {
  /** Throws when the file must not be written. */
  readonly check: () => void;
  /** Called before the callers learn that their commit has failed. */
  readonly onFailedCommit: (error: unknown) => void;
};

type WaitingWork = {
  readonly run: (sql: Sql) => Promise<void>;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
};

/** There is one connection, so everything waits for what came before it. */
export class SqliteDriver implements Driver {
  readonly #db: Database;
  readonly #sql: SqliteSql;
  readonly #groupCommit: GroupCommit | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #underWay = 0;
  #waiting: WaitingWork[] = [];

  constructor(db: Database, groupCommit?: GroupCommit) {
    this.#db = db;
    this.#sql = new SqliteSql(db);
    this.#groupCommit = groupCommit;
  }

  query<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    return this.#inTurn(() => work(this.#sql));
  }

  /** Synchronous. Sees what is committed, because a transaction never stays open between two turns of the event loop. */
  getNow<T>(text: string, ...values: readonly Value[]): T | undefined {
    try {
      return this.#sql.getNow<T>(text, ...values);
    } catch (error) {
      throwUnavailable(error);
    }
  }

  /** Synchronous: one statement that is durable when this returns. */
  runNow(text: string, ...values: readonly Value[]): void {
    try {
      this.#groupCommit?.check();
      this.#sql.runNow(text, ...values);
    } catch (error) {
      this.#groupCommit?.onFailedCommit(error);
      throwUnavailable(error);
    }
  }

  snapshot<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    return this.#inTurn(() => this.#within("BEGIN", () => work(this.#sql)));
  }

  transact<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    const groupCommit = this.#groupCommit;
    if (!groupCommit) return this.#inTurn(() => this.#within("BEGIN IMMEDIATE", () => work(this.#sql)));
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    let value: T;
    const run = async (sql: Sql) => {
      value = await work(sql);
    };
    if (this.#waiting.length === 0) setImmediate(() => this.#commitWaiting(groupCommit));
    this.#waiting.push({ run, resolve: () => resolve(value), reject });
    return promise;
  }

  /** Resolves when everything that was asked for is done. Then it may be closed. */
  async drain(): Promise<void> {
    while (this.#waiting.length > 0) await new Promise((resolve) => setImmediate(resolve));
    await this.#last;
  }

  /** A statement that is left prepared would keep the file open. */
  close(): void {
    this.#sql.close();
    this.#db.close();
  }

  /** At once when nothing is under way. */
  #inTurn<T>(run: () => Promise<T>): Promise<T> {
    const turn = this.#underWay === 0 ? run() : this.#last.then(run);
    this.#underWay++;
    this.#last = turn.then(this.#endTurn, this.#endTurn);
    return this.#groupCommit ? turn.catch(throwUnavailable) : turn;
  }

  readonly #endTurn = (): void => {
    this.#underWay--;
  };

  #commitWaiting(groupCommit: GroupCommit): void {
    const group = this.#waiting.splice(0, GROUP_MAX);
    if (this.#waiting.length > 0) setImmediate(() => this.#commitWaiting(groupCommit));
    const commit = this.#inTurn(() => this.#commitGroup(group, groupCommit));
    commit.catch((error) => {
      for (const { reject } of group) reject(error);
    });
  }

  async #commitGroup(group: readonly WaitingWork[], { check, onFailedCommit }: GroupCommit): Promise<void> {
    check();
    const failures = new Map<WaitingWork, unknown>();
    try {
      await this.#within("BEGIN IMMEDIATE", async () => {
        for (const each of group) await this.#runWithin(each, group.length > 1, failures);
      });
    } catch (error) {
      onFailedCommit(error);
      throw error;
    }
    for (const each of group) {
      if (failures.has(each)) each.reject(failures.get(each));
      else each.resolve();
    }
  }

  /** A failure of one is its own; one of the disk is everybody's. */
  async #runWithin(work: WaitingWork, isGrouped: boolean, failures: Map<WaitingWork, unknown>): Promise<void> {
    if (!isGrouped) return work.run(this.#sql);
    this.#db.exec("SAVEPOINT work");
    try {
      await work.run(this.#sql);
    } catch (error) {
      // SQLite itself ends the transaction when its disk fails.
      if (!this.#db.inTransaction) throw error;
      this.#db.exec("ROLLBACK TO work");
      failures.set(work, toUnavailable(error));
    }
    this.#db.exec("RELEASE work");
  }

  #rollBack(): void {
    try {
      if (this.#db.inTransaction) this.#db.exec("ROLLBACK");
    } catch {
      // The first error says what is wrong.
    }
  }

  async #within<T>(begin: string, work: () => Promise<T>): Promise<T> {
    this.#db.exec(begin);
    try {
      const value = await work();
      this.#db.exec("COMMIT");
      return value;
    } catch (error) {
      this.#rollBack();
      throw error;
    }
  }
}

/** Bun throws plain errors with these messages when the database is closed, which happens at the end of a drain. */
const CLOSED_MESSAGES = new Set(["Database has closed", "Cannot use a closed database"]);

/** Errors of SQLite mean that the database cannot be used now. Any other error is a bug and stays as it is. */
function toUnavailable(error: unknown): unknown {
  const isOfSqlite = error instanceof SQLiteError || (error instanceof Error && CLOSED_MESSAGES.has(error.message));
  return isOfSqlite ? new StoreUnavailable(error.message, { cause: error }) : error;
}

function throwUnavailable(error: unknown): never {
  throw toUnavailable(error);
}

/** Opens a file with full durability, creates it when there is none, and brings its tables up to date. */
export function openDatabaseFile(path: string, { applicationId }: DatabaseFormat, migrations: MigrationList): Database {
  const db = new Database(path, { create: true, strict: true });
  try {
    db.exec("PRAGMA busy_timeout = 2000");
    db.exec("PRAGMA synchronous = FULL");
    // Overwrites what is deleted, so that a forgotten player is not left in unused parts of the file.
    db.exec("PRAGMA secure_delete = ON");
    // Before the switch to WAL, so that the id is in the file itself, where the next start reads it.
    if (isEmptyDatabase(db)) db.exec(`PRAGMA application_id = ${applicationId}`);
    db.exec("PRAGMA journal_mode = WAL");
    migrateSqlite(db, migrations);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** `user_version` is the number of steps that a file has. All steps are committed together, so no reader meets half of them. */
export function migrateSqlite(db: Database, list: MigrationList): void {
  const { steps, seeds = [] } = list;
  db.transaction(() => {
    const version = versionOf(db);
    if (version > steps.length) throw new NewerSchema(list, version);
    const isNew = version === 0 && isEmptyDatabase(db);
    for (const [index, step] of steps.entries()) {
      if (index < version) continue;
      // What only older files need is no part of a new one, as it is none of PostgreSQL.
      const isNeeded = typeof step === "string" || !isNew || step.postgres !== undefined;
      if (isNeeded) refuseMigration(list, index, () => db.exec(typeof step === "string" ? step : step.sqlite));
    }
    if (version < steps.length) db.exec(`PRAGMA user_version = ${steps.length}`);
    for (const { text, values } of seeds) db.query<unknown, Value[]>(text).run(...(values?.() ?? []));
  }).immediate();
}

/** A fault of the disk is told in its own words. */
function refuseMigration(list: MigrationList, index: number, run: () => void): void {
  try {
    run();
  } catch (error) {
    throw isDiskFault(error) ? error : new MigrationRefused(list, index + 1, error);
  }
}

function versionOf(db: Database): number {
  return db.query<{ user_version: number }, []>("PRAGMA user_version").get()?.user_version ?? 0;
}
