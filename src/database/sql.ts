// The small language that both engines speak. Every query is written once, in SQL that SQLite and PostgreSQL share: `?1`,
// `?2` … stand for the values, booleans are 0 and 1, and what must differ comes from the dialect.

export type Value = string | number | null;
export type Row = Readonly<Record<string, Value>>;

export type ColumnKind = "integer" | "text";

export type Table = {
  readonly name: string;
  readonly key: readonly string[];
  readonly columns: Readonly<Record<string, ColumnKind>>;
  /** Of the columns. */
  readonly names: readonly string[];
};

export interface Dialect {
  /** The condition that a column has one of the values of a sub-select. */
  isIn(column: string, select: string): string;
  /** A sub-select with the column `value`: the texts, or integers, of a JSON array. */
  valuesOf(parameter: string, kind: ColumnKind): string;
  /** The condition that a column has one of the values in a JSON array of texts, or of integers. */
  isAmong(column: string, parameter: string, kind: ColumnKind): string;
  /** The condition that a text has another one in it, letter by letter. */
  contains(column: string, parameter: string): string;
  /** Makes SQLite use an index that it would not choose. */
  indexedBy(index: string): string;
  /** Locks the selected rows until the end of the transaction. SQLite has one writer at a time, and needs no lock. */
  readonly forUpdate: string;
  /** Like `forUpdate`, and leaves out the rows that another transaction has locked. */
  readonly forUpdateSkipLocked: string;
}

export interface Sql {
  readonly dialect: Dialect;
  all<T = Row>(text: string, ...values: readonly Value[]): Promise<T[]>;
  get<T = Row>(text: string, ...values: readonly Value[]): Promise<T | undefined>;
  /** Returns how many rows were changed. */
  run(text: string, ...values: readonly Value[]): Promise<number>;
  /** Runs one statement for several lists of values, in their order. Returns how many rows were changed. */
  runEach(text: string, lists: readonly (readonly Value[])[]): Promise<number>;
  /** Inserts rows; `tail` may say what happens to those that are there already. */
  insertAll(table: Table, rows: readonly Row[], tail?: string): Promise<void>;
  /** Inserts the rows that are not there yet, and returns the values of `column` in those. */
  insertNew(table: Table, rows: readonly Row[], column: string): Promise<readonly Value[]>;
  /** True when no other instance holds the lock of this number. It is released with the transaction. */
  tryLock(number: number): Promise<boolean>;
}

/** Every method throws StoreUnavailable when the database cannot answer within its deadline. */
export interface Driver {
  /** Statements that need not see one state. */
  query<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  /** All statements see one state, and none writes. */
  snapshot<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  /** One transaction, durable when this resolves. When it rejects, it may have been committed all the same. */
  transact<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
}

/** PostgreSQL refuses texts with a NUL or half a surrogate pair, and what it refuses would be tried again for ever. */
export function toStorable(text: string): string {
  return text.toWellFormed().replaceAll("\0", "\ufffd");
}

/** Selects columns under the names of fields: `opened_at AS "openedAt"`. */
export function asFields(columns: string): string {
  return columns.replace(
    /\w+/g,
    (column) => `${column} AS "${column.replace(/_(\w)/g, (_, letter) => letter.toUpperCase())}"`,
  );
}

export async function insertRow(sql: Sql, table: string, row: Row): Promise<void> {
  const names = Object.keys(row);
  const places = names.map((_, index) => `?${index + 1}`);
  await sql.run(`INSERT INTO ${table} (${names}) VALUES (${places})`, ...Object.values(row));
}

/** Of the whole table, or those with the condition. */
export async function countRows(sql: Sql, table: string, condition = "true", ...values: readonly Value[]) {
  const found = await sql.get<{ rows: number }>(`SELECT count(*) AS rows FROM ${table} WHERE ${condition}`, ...values);
  return found?.rows ?? 0;
}

/** Sets the columns that `change` has, in the row whose column `key` is `id`. */
export async function updateRow(sql: Sql, table: string, key: string, id: string, change: Row): Promise<void> {
  const names = Object.keys(change);
  if (names.length === 0) return;
  const assignments = names.map((name, index) => `${name} = ?${index + 2}`);
  await sql.run(`UPDATE ${table} SET ${assignments} WHERE ${key} = ?1`, id, ...Object.values(change));
}
