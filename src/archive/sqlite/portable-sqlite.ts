// The embedded archive as rows. Only for tools: it works on the thread of its caller.
import type { Database } from "bun:sqlite";
import {
  type ArchiveTarget,
  keyValuesOf,
  type PortableRow,
  type PortableTable,
  pageOf,
} from "../portable-archive.ts";

type SqliteValue = string | number | null;

export class PortableSqlite implements ArchiveTarget {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  async isEmpty(): Promise<boolean> {
    return this.#db.query("SELECT 1 FROM ledgers LIMIT 1").get() === null;
  }

  async readArchiveId(): Promise<string> {
    const row = this.#db.query<{ archive_id: string }, []>("SELECT archive_id FROM archive").get();
    if (!row) throw new Error("the archive has no id");
    return row.archive_id;
  }

  async countRows({ name }: PortableTable): Promise<number> {
    return this.#db.query<{ rows: number }, []>(`SELECT count(*) AS rows FROM ${name}`).get()?.rows ?? 0;
  }

  async readRows(table: PortableTable, after: PortableRow | undefined): Promise<readonly PortableRow[]> {
    const { name, key, columns } = table;
    const place = `WHERE (${key}) > (${key.map(() => "?")})`;
    const rows = this.#db
      .query<Record<string, SqliteValue>, SqliteValue[]>(
        `SELECT ${Object.keys(columns)} FROM ${name} ${after ? place : ""} ORDER BY ${key} LIMIT ${pageOf(table)}`,
      )
      .all(...(after ? keyValuesOf(table, after) : []));
    const booleans = Object.keys(columns).filter((column) => columns[column] === "boolean");
    return rows.map((row) => {
      return { ...row, ...Object.fromEntries(booleans.map((column) => [column, row[column] === 1])) };
    });
  }

  async writeRows({ name, columns }: PortableTable, rows: readonly PortableRow[]): Promise<void> {
    const names = Object.keys(columns);
    const insert = this.#db.query<unknown, SqliteValue[]>(
      `INSERT INTO ${name} (${names}) VALUES (${names.map(() => "?")})`,
    );
    this.#db.transaction(() => {
      for (const row of rows) insert.run(...names.map((column) => toSqlite(row[column])));
    })();
  }

  async finish(archiveId: string): Promise<void> {
    this.#db.query("INSERT OR REPLACE INTO archive (id, archive_id) VALUES (1, ?)").run(archiveId);
  }
}

function toSqlite(value: PortableRow[string] | undefined): SqliteValue {
  return typeof value === "boolean" ? Number(value) : (value ?? null);
}
