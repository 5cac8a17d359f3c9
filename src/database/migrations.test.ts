import { expect, test } from "bun:test";
import { ARCHIVE_MIGRATIONS } from "./archive/migrations.ts";
import { tableOf, tablesOf } from "./migrations.ts";
import { STORE_MIGRATIONS } from "./store/migrations.ts";

test("the columns, kinds and keys of a table are those that its migration makes", () => {
  expect(tableOf(ARCHIVE_MIGRATIONS, "identities")).toEqual({
    name: "identities",
    key: ["ledger", "identity"],
    columns: { ledger: "integer", identity: "text", shown_day: "integer" },
    names: ["ledger", "identity", "shown_day"],
  });
  // On one line, with a condition in brackets.
  expect(tableOf(ARCHIVE_MIGRATIONS, "archive")).toMatchObject({ key: ["id"], names: ["id", "archive_id"] });
});

test("every table of the migrations is found, each with a key", () => {
  const made = ARCHIVE_MIGRATIONS.steps.join("").match(/CREATE TABLE \w+/g) ?? [];
  const tables = tablesOf(ARCHIVE_MIGRATIONS);
  expect(tables.map(({ name }) => `CREATE TABLE ${name}`)).toEqual([...made]);
  for (const { key, names } of tables) expect(names).toEqual(expect.arrayContaining([...key]));
});

test("a column that a later migration adds is found, and a table that one drops is not", () => {
  const added =
    "ALTER TABLE identities ADD COLUMN colour TEXT;\nALTER TABLE identities ADD COLUMN size INTEGER NOT NULL;";
  const steps = [...ARCHIVE_MIGRATIONS.steps, added, "DROP TABLE archive;"];
  expect(tableOf({ name: "archive", steps }, "identities")).toMatchObject({
    key: ["ledger", "identity"],
    columns: { colour: "text", size: "integer" },
    names: ["ledger", "identity", "shown_day", "colour", "size"],
  });
  expect(tablesOf({ name: "archive", steps }).map(({ name }) => name)).not.toContain("archive");
});

test("store and archive have no table of the same name, because a PostgreSQL holds both", () => {
  const names = [STORE_MIGRATIONS, ARCHIVE_MIGRATIONS].flatMap(tablesOf).map(({ name }) => name);
  expect(names.toSorted()).toEqual([...new Set(names)].toSorted());
});
