// A table as pages of rows, so that it can be moved to another database with its numbers and ids.
import type { Row, Sql, Table } from "./sql.ts";

const PAGE = 1_000;
/** Rows of one page when they hold pictures. */
const LARGE_PAGE = 5;
const LARGE_TABLES: ReadonlySet<string> = new Set(["map_images"]);

export async function countRows(sql: Sql, { name }: Table): Promise<number> {
  const row = await sql.get<{ rows: number }>(`SELECT count(*) AS rows FROM ${name}`);
  return row?.rows ?? 0;
}

/** The rows in the order of the key, which is the same in both engines. */
export async function* readTable(sql: Sql, { name, key, names }: Table): AsyncGenerator<Row[]> {
  const size = LARGE_TABLES.has(name) ? LARGE_PAGE : PAGE;
  const page = `ORDER BY ${key} LIMIT ${size}`;
  const places = key.map((_, index) => `?${index + 1}`);
  let last: Row | undefined;
  do {
    const from = last;
    const rows: Row[] = await sql.all<Row>(
      `SELECT ${names} FROM ${name} ${from ? `WHERE (${key}) > (${places})` : ""} ${page}`,
      ...(from ? key.map((column) => from[column] ?? null) : []),
    );
    // Rows of SQLite have another prototype.
    if (rows.length > 0) yield rows.map((row) => ({ ...row }));
    last = rows.length === size ? rows.at(-1) : undefined;
  } while (last);
}

export async function copyTable(
  source: Sql,
  target: Sql,
  table: Table,
  onRows: (count: number) => void,
): Promise<void> {
  for await (const rows of readTable(source, table)) {
    await target.insertAll(table, rows);
    onRows(rows.length);
  }
}
