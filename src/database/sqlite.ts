// SQLite as an engine of the database: its driver and its dialect.
import type { Database, Statement } from "bun:sqlite";
import { type MigrationList, NewerSchema } from "./migrations.ts";
import type { Dialect, Driver, Row, Sql, Table, Value } from "./sql.ts";

const DIALECT: Dialect = {
  isIn: (column, select) => `${column} IN (${select})`,
  valuesOf: (parameter) => `SELECT value FROM json_each(${parameter})`,
  isAmong: (column, parameter, kind) => DIALECT.isIn(column, DIALECT.valuesOf(parameter, kind)),
  indexedBy: (index) => `INDEXED BY ${index}`,
  forUpdate: "",
  forUpdateSkipLocked: "",
};

class SqliteSql implements Sql {
  readonly dialect = DIALECT;
  readonly #db: Database;
  /** One for each text of a query, which are few. */
  readonly #statements = new Map<string, Statement<unknown, Value[]>>();

  constructor(db: Database) {
    this.#db = db;
  }

  async all<T = Row>(text: string, ...values: readonly Value[]): Promise<T[]> {
    return this.#prepare(text).all(...values) as T[];
  }

  async get<T = Row>(text: string, ...values: readonly Value[]): Promise<T | undefined> {
    return (this.#prepare(text).get(...values) as T | null) ?? undefined;
  }

  async run(text: string, ...values: readonly Value[]): Promise<number> {
    return this.#prepare(text).run(...values).changes;
  }

  async runEach(text: string, lists: readonly (readonly Value[])[]): Promise<number> {
    const statement = this.#prepare(text);
    return lists.reduce((changes, values) => changes + statement.run(...values).changes, 0);
  }

  async insertAll(table: Table, rows: readonly Row[], tail = ""): Promise<void> {
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

  #prepareInsert({ name, names }: Table, tail: string): Statement<unknown, Value[]> {
    const places = names.map((_, index) => `?${index + 1}`);
    return this.#prepare(`INSERT INTO ${name} (${names}) VALUES (${places}) ${tail}`);
  }

  #prepare(text: string): Statement<unknown, Value[]> {
    const known = this.#statements.get(text);
    if (known) return known;
    const statement = this.#db.prepare<unknown, Value[]>(text);
    this.#statements.set(text, statement);
    return statement;
  }
}

function valuesOf({ names }: Table, row: Row): Value[] {
  return names.map((column) => row[column] ?? null);
}

/** There is one connection, so everything waits for what came before it. */
export class SqliteDriver implements Driver {
  readonly #db: Database;
  readonly #sql: SqliteSql;
  #last: Promise<unknown> = Promise.resolve();

  constructor(db: Database) {
    this.#db = db;
    this.#sql = new SqliteSql(db);
  }

  query<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    return this.#inTurn(() => work(this.#sql));
  }

  snapshot<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    return this.#inTurn(() => this.#within("BEGIN", work));
  }

  transact<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    return this.#inTurn(() => this.#within("BEGIN IMMEDIATE", work));
  }

  /** A statement that is left prepared would keep the file open. */
  close(): void {
    this.#sql.close();
    this.#db.close();
  }

  #inTurn<T>(run: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(run);
    this.#last = turn.catch(() => {});
    return turn;
  }

  #rollBack(): void {
    try {
      if (this.#db.inTransaction) this.#db.exec("ROLLBACK");
    } catch {
      // The first error says what is wrong.
    }
  }

  async #within<T>(begin: string, work: (sql: Sql) => Promise<T>): Promise<T> {
    this.#db.exec(begin);
    try {
      const value = await work(this.#sql);
      this.#db.exec("COMMIT");
      return value;
    } catch (error) {
      this.#rollBack();
      throw error;
    }
  }
}

/** `user_version` is the number of steps that a file has. Each step and its number are committed together. */
export function migrateSqlite(db: Database, list: MigrationList): void {
  const { steps } = list;
  const version = versionOf(db);
  if (version > steps.length) throw new NewerSchema(list, version);
  for (const [index, step] of steps.entries()) {
    if (index < version) continue;
    db.transaction(() => {
      // A second connection may have taken the step meanwhile.
      if (index < versionOf(db)) return;
      db.exec(step);
      db.exec(`PRAGMA user_version = ${index + 1}`);
    }).immediate();
  }
  if (list.seed) db.query<unknown, Value[]>(list.seed.text).run(...list.seed.values());
}

function versionOf(db: Database): number {
  return db.query<{ user_version: number }, []>("PRAGMA user_version").get()?.user_version ?? 0;
}
