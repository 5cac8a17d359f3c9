// Moves a table to another database, page by page, with its numbers and ids. What has arrived already is left alone, so that
// a move that was interrupted goes on where it ended.
import type { Driver, Row, Sql, Table, Value } from "./sql.ts";

const PAGE = 1_000;
/** Rows of one page when they hold pictures. */
const LARGE_PAGE = 5;
const LARGE_TABLES: ReadonlySet<string> = new Set(["map_images"]);

/** `except` is a condition in SQL: these rows stay where they are. */
export type MovedTable = Table & { readonly except?: string };

export async function countRows(sql: Sql, { name, except }: MovedTable): Promise<number> {
  const query = `SELECT count(*) AS rows FROM ${name} ${except ? `WHERE NOT (${except})` : ""}`;
  return (await sql.get<{ rows: number }>(query))?.rows ?? 0;
}

/** Makes the table of the target the same as that of the source. One page is one transaction. */
export async function moveTable(
  source: Sql,
  target: Driver,
  table: MovedTable,
  onRows: (count: number) => void,
): Promise<void> {
  let last: Row | undefined;
  let isSame = true;
  for await (const rows of readTable(source, table)) {
    const from = last;
    const arrived = isSame ? await target.query((sql) => readPage(sql, table, from)) : [];
    const sameCount = countSame(rows, arrived);
    const missing = rows.slice(sameCount);
    if (missing.length > 0) {
      const wasSame = isSame;
      const lastSame = rows[sameCount - 1] ?? from;
      await target.transact(async (sql) => {
        if (wasSame) await deleteAfter(sql, table, lastSame);
        await sql.insertAll(table, missing);
      });
      isSame = false;
    }
    last = rows.at(-1);
    onRows(rows.length);
  }
  const end = last;
  if (isSame) await target.transact((sql) => deleteAfter(sql, table, end));
}

/** Calls `onRow` with the text of each row. False when the tables are not the same. */
export async function compareTables(
  source: Sql,
  target: Sql,
  table: MovedTable,
  onRow: (text: string) => void,
): Promise<boolean> {
  const arrived = readTable(target, table);
  for await (const rows of readTable(source, table)) {
    const { value } = await arrived.next();
    if (!value || value.length !== rows.length || countSame(rows, value) !== rows.length) return false;
    for (const row of rows) onRow(textOf(row));
  }
  return (await arrived.next()).done === true;
}

/** The rows in the order of the key, which is the same in both engines. */
export async function* readTable(sql: Sql, table: MovedTable): AsyncGenerator<Row[], undefined> {
  const size = sizeOf(table);
  let last: Row | undefined;
  do {
    const rows = await readPage(sql, table, last);
    if (rows.length > 0) yield rows;
    last = rows.length === size ? rows.at(-1) : undefined;
  } while (last);
}

/** The rows that come after `last`. */
function readPage(sql: Sql, table: MovedTable, last: Row | undefined): Promise<Row[]> {
  const { where, values } = isAfter(table, last);
  return sql.all<Row>(
    `SELECT ${table.names} FROM ${table.name} ${where} ORDER BY ${table.key} LIMIT ${sizeOf(table)}`,
    ...values,
  );
}

async function deleteAfter(sql: Sql, table: MovedTable, last: Row | undefined): Promise<void> {
  const { where, values } = isAfter(table, last);
  await sql.run(`DELETE FROM ${table.name} ${where}`, ...values);
}

function isAfter({ key, except }: MovedTable, last: Row | undefined): { where: string; values: Value[] } {
  const places = key.map((_, index) => `?${index + 1}`);
  const conditions = [...(last ? [`(${key}) > (${places})`] : []), ...(except ? [`NOT (${except})`] : [])];
  return {
    where: conditions.length > 0 ? `WHERE ${conditions.join(" AND ")}` : "",
    values: last ? key.map((column) => last[column] ?? null) : [],
  };
}

function sizeOf({ name }: Table): number {
  return LARGE_TABLES.has(name) ? LARGE_PAGE : PAGE;
}

/** How many rows at the beginning are the same. */
function countSame(rows: readonly Row[], others: readonly Row[]): number {
  const end = rows.findIndex((row, index) => textOf(row) !== textOf(others[index]));
  return end < 0 ? rows.length : end;
}

function textOf(row: Row | undefined): string {
  return JSON.stringify(row ?? null);
}
