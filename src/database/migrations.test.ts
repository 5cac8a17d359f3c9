import { expect, test } from "bun:test";
import { ARCHIVE_MIGRATIONS } from "./archive/migrations.ts";
import { tableOf, tablesOf } from "./migrations.ts";

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

test("a migration that changes columns is refused, so that no column is left out when rows are moved", () => {
  const steps = [...ARCHIVE_MIGRATIONS.steps, "ALTER TABLE events ADD COLUMN colour TEXT;"];
  expect(() => tablesOf({ name: "archive", steps })).toThrow("changed columns");
});
