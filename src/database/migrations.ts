// The numbered changes of a database's tables. Both engines apply the same list, and a released change never changes.
import { StartRefused } from "../core/errors.ts";
import type { ColumnKind, Table, Value } from "./sql.ts";

/** A step for both engines, or one that each writes in its own words. Files of older versions need some that PostgreSQL does not. */
export type MigrationStep = string | { readonly sqlite: string; readonly postgres?: string };

export type MigrationList = {
  /** What the tables are, in messages, and the name under which a PostgreSQL counts its steps. */
  readonly name: string;
  readonly steps: readonly MigrationStep[];
  /** What is inserted into new tables, and left alone when it is there. */
  readonly seeds?: readonly { readonly text: string; readonly values?: () => readonly Value[] }[];
};

/** Another version of Gatehouse has changed the tables. */
export class NewerSchema extends StartRefused {
  override name = "NewerSchema";
  constructor({ name, steps }: MigrationList, found: number) {
    super(
      `the ${name} was made by a newer Gatehouse (schema ${found}, this one knows ${steps.length}) — update Gatehouse`,
    );
  }
}

/** This version cannot change the tables as it needs them. Nothing was changed, because all steps are one transaction. */
export class MigrationRefused extends StartRefused {
  override name = "MigrationRefused";
  constructor({ name, steps }: MigrationList, step: number, cause: unknown) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    super(
      `the ${name} could not be brought to this version, at step ${step} of ${steps.length}: ${reason} — nothing was ` +
        "changed, so the version before still works: undo what something else has changed in its tables (in PostgreSQL, " +
        "the user may also lack a right), then try again",
    );
    this.cause = cause;
  }
}

/** The tables as the migrations make them, so that a column is written down once. */
export function tablesOf({ steps }: MigrationList): readonly Table[] {
  const text = steps.filter((step) => typeof step === "string").join("\n");
  const dropped = new Set(Array.from(text.matchAll(/DROP TABLE (\w+)/g), ([, name]) => name));
  const added = Array.from(text.matchAll(/ALTER TABLE (\w+) ADD COLUMN ([^;]*);/g));
  const tables = Array.from(text.matchAll(/CREATE TABLE (\w+) \(([\s\S]*?)\)[^();]*;/g), ([, name = "", body = ""]) => {
    const columns = added.filter(([, table]) => table === name).map(([, , column]) => `,\n${column}`);
    return toTable(name, body + columns.join(""));
  });
  return tables.filter(({ name }) => !dropped.has(name));
}

function toTable(name: string, body: string): Table {
  const found = Array.from(
    body.matchAll(/(?:^|[,\n])\s*(\w+) (INTEGER|TEXT)\b([^,\n]*)/g),
    ([, column = "", type, rest = ""]) => ({ column, type, isKey: rest.includes("PRIMARY KEY") }),
  );
  const key = /^\s*PRIMARY KEY \(([^)]*)\)/m.exec(body)?.[1]?.split(", ");
  const columns = found.map(({ column, type }): [string, ColumnKind] => [
    column,
    type === "INTEGER" ? "integer" : "text",
  ]);
  return {
    name,
    key: key ?? found.filter(({ isKey }) => isKey).map(({ column }) => column),
    columns: Object.fromEntries(columns),
    names: columns.map(([column]) => column),
  };
}

export function tableOf(list: MigrationList, name: string): Table {
  const table = tablesOf(list).find((one) => one.name === name);
  if (!table) throw new Error(`no migration makes the table ${name}`);
  return table;
}
