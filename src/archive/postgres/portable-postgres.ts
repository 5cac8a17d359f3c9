// The archive in PostgreSQL as rows, inside of one transaction: a target is complete or as it was.
import { SQL, type TransactionSQL } from "bun";
import {
  type ArchiveTarget,
  type ColumnKind,
  keyValuesOf,
  type PortableRow,
  type PortableTable,
  pageOf,
} from "../portable-archive.ts";
import { checkPostgresVersion } from "./postgres-connection.ts";
import { migratePostgres } from "./schema.ts";

const CONNECT_SECONDS = 10;
const TYPES: Readonly<Record<ColumnKind, string>> = { integer: "bigint", text: "text", boolean: "boolean" };

/** Runs `work` in one transaction, with the tables there. A source is one consistent state. */
export async function withPortablePostgres<T>(
  url: string,
  role: "source" | "target",
  work: (archive: PortablePostgres) => Promise<T>,
): Promise<T> {
  const sql = new SQL(url, { max: 1, connectionTimeout: CONNECT_SECONDS });
  try {
    await checkPostgresVersion(sql);
    if (role === "source") await sql.begin((tx) => migratePostgres(tx));
    return (await sql.begin(async (tx) => {
      if (role === "source") await tx`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY`;
      else await migratePostgres(tx);
      return work(new PortablePostgres(tx));
    })) as T;
  } finally {
    await sql.close({ timeout: 1 }).catch(() => {});
  }
}

export class PortablePostgres implements ArchiveTarget {
  readonly #tx: TransactionSQL;

  constructor(tx: TransactionSQL) {
    this.#tx = tx;
  }

  async isEmpty(): Promise<boolean> {
    return (await this.#tx`SELECT 1 FROM gatehouse_ledgers LIMIT 1`).length === 0;
  }

  async readArchiveId(): Promise<string> {
    const [row] = await this.#tx<{ archive_id: string }[]>`SELECT archive_id FROM gatehouse_archive`;
    if (!row) throw new Error("the archive has no id");
    return row.archive_id;
  }

  async countRows({ name }: PortableTable): Promise<number> {
    const [row] = await this.#tx.unsafe(`SELECT count(*) AS rows FROM gatehouse_${name}`);
    return Number(row?.rows ?? 0);
  }

  async readRows(table: PortableTable, after: PortableRow | undefined): Promise<readonly PortableRow[]> {
    const { name, key, columns } = table;
    const values = key.map((column, place) => `$${place + 1}::${TYPES[columns[column] ?? "text"]}`);
    const rows: Record<string, string | number | boolean | null>[] = await this.#tx.unsafe(
      `SELECT ${Object.keys(columns)} FROM gatehouse_${name} ${after ? `WHERE (${key}) > (${values})` : ""}
       ORDER BY ${key} LIMIT ${pageOf(table)}`,
      after ? keyValuesOf(table, after) : [],
    );
    // int8 arrives as text.
    return rows.map((row) =>
      Object.fromEntries(
        Object.entries(columns).map(([column, kind]) => {
          const value = row[column] ?? null;
          return [column, kind === "integer" && value !== null ? Number(value) : value];
        }),
      ),
    );
  }

  async writeRows({ name, columns }: PortableTable, rows: readonly PortableRow[]): Promise<void> {
    const names = Object.keys(columns);
    const typed = Object.entries(columns).map(([column, kind]) => `${column} ${TYPES[kind]}`);
    // The numbers of ledgers are given by PostgreSQL otherwise.
    const overriding = name === "ledgers" ? "OVERRIDING SYSTEM VALUE" : "";
    await this.#tx.unsafe(
      `INSERT INTO gatehouse_${name} (${names}) ${overriding}
       SELECT ${names} FROM json_to_recordset($1::text::json) AS (${typed})`,
      [JSON.stringify(rows)],
    );
  }

  async finish(archiveId: string): Promise<void> {
    await this.#tx`UPDATE gatehouse_archive SET archive_id = ${archiveId}`;
    await this.#tx`SELECT setval(pg_get_serial_sequence('gatehouse_ledgers', 'ledger'),
      greatest((SELECT max(ledger) FROM gatehouse_ledgers), 1))`;
  }
}
