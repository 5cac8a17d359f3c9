// The database is opened so that a commit survives a loss of power.
import { afterEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "./open-database.ts";

const FULL = 2;
const folder = mkdtempSync(join(tmpdir(), "gatehouse-open-"));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("a commit waits for the disk: a write-ahead log with full synchronisation, at the first start and later", () => {
  for (let start = 0; start < 2; start++) {
    const db = openDatabase(join(folder, "gatehouse.db"));
    expect(db.query("PRAGMA synchronous").get()).toEqual({ synchronous: FULL });
    expect(db.query("PRAGMA journal_mode").get()).toEqual({ journal_mode: "wal" });
    db.close();
  }
});
