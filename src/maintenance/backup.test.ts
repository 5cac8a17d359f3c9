// What a restore changes in a backup, of this version and of older ones.
import { afterEach, expect, test } from "bun:test";
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeOldFile, OLD_SCHEMA, OLD_SECRET } from "../../test/store/old-files.ts";
import { ARCHIVE_MIGRATIONS } from "../database/archive/migrations.ts";
import { ARCHIVE_FORMAT, openArchiveFile } from "../database/archive/open-archive-file.ts";
import { openDatabaseFile } from "../database/sqlite.ts";
import { openStoreFile } from "../database/store/open-store-file.ts";
import { parseConfig } from "../instance/config.ts";
import { makeBackup, restoreBackup } from "./backup.ts";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "gatehouse-backup-"));
  folders.push(folder);
  return folder;
}

function configOf(folder: string) {
  return parseConfig({ GATEHOUSE_DATA_DIR: folder, GATEHOUSE_SECRET: OLD_SECRET });
}

test.each([
  ["of this version", (path: string) => openStoreFile(path).close()],
  ["of 0.2", () => {}],
])("a backup %s: sessions are ended, and what waited is not sent again", (_, prepare) => {
  const [old, restored] = [newFolder(), newFolder()];
  makeOldFile(join(old, "gatehouse.db"), OLD_SCHEMA);
  prepare(join(old, "gatehouse.db"));
  const file = join(newFolder(), "backup.db");
  expect(makeBackup(configOf(old), file)).toMatchObject({
    servers: 2,
    wasRunning: false,
    archive: undefined,
  });
  expect(restoreBackup(configOf(restored), file)).toMatchObject({ servers: 2, keys: 1 });

  const db = openStoreFile(join(restored, "gatehouse.db"));
  const all = (query: string) => db.query(query).all();
  expect(all("SELECT 1 FROM person_sessions UNION ALL SELECT 1 FROM invitations")).toEqual([]);
  expect(all("SELECT status, finished_at IS NULL AS is_open FROM commands ORDER BY seq LIMIT 2")).toEqual([
    { status: "unknown", is_open: 0 },
    { status: "sending", is_open: 1 },
  ]);
  expect(all("SELECT finished, cancelled FROM queues WHERE server_id = 'srv_a'")).toEqual([
    { finished: 4, cancelled: 1 },
  ]);
  db.close();
});

/** An archive as the version with this schema has left it, with two events. */
function makeOldArchive(path: string, schema: number): void {
  const migrations = { ...ARCHIVE_MIGRATIONS, steps: ARCHIVE_MIGRATIONS.steps.slice(0, schema) };
  const db = openDatabaseFile(path, ARCHIVE_FORMAT, migrations);
  db.exec(`INSERT INTO ledgers (ledger, server_id, version, last_number, last_mark, floor_number, floor_mark, last_day,
      identity_count) VALUES (1, 'srv_a', 1, 2, 0, 0, 0, 0, 0);
    INSERT INTO events (ledger, number, mark, kind, at, seen_at, source, is_backfill, data)
      VALUES (1, 1, 0, 1, 5, 5, 'log', 0, '{}'), (1, 2, 0, 1, 6, 6, 'log', 0, '{}')`);
  db.close();
}

const OLD_SCHEMAS = Array.from({ length: OLD_SCHEMA }, (_, index) => {
  return [index + 1, Math.min(index + 1, ARCHIVE_MIGRATIONS.steps.length)] as const;
});

test.each(OLD_SCHEMAS)(
  "a backup that has schema %p, with an archive of schema %p, is restored whole",
  (schema, ofArchive) => {
    const restored = newFolder();
    const file = join(newFolder(), "backup.db");
    makeOldFile(file, schema);
    makeOldArchive(file.replace(".db", ".archive.db"), ofArchive);
    const archive = { servers: 1, events: 2 };
    expect(restoreBackup(configOf(restored), file)).toMatchObject({ servers: 2, archive });
    const db = openStoreFile(join(restored, "gatehouse.db"));
    expect(db.query("SELECT server_id FROM servers ORDER BY seq").values()).toEqual([["srv_a"], ["srv_b"]]);
    expect(db.query("SELECT 1 FROM commands WHERE status = 'queued'").all()).toEqual([]);
    db.close();
    const events = openArchiveFile(join(restored, "archive.db"));
    expect(events.query("SELECT number, at FROM events").values()).toEqual([
      [1, 5],
      [2, 6],
    ]);
    expect(events.query("PRAGMA user_version").values()).toEqual([[ARCHIVE_MIGRATIONS.steps.length]]);
    events.close();
  },
);

test("a restore ends the sessions and invitations of people, and keeps people, passkeys and roles", () => {
  const [old, restored] = [newFolder(), newFolder()];
  makeOldFile(join(old, "gatehouse.db"), OLD_SCHEMA);
  const before = openStoreFile(join(old, "gatehouse.db"));
  before.exec(`INSERT INTO people (person_id, name, name_key, operator, disabled, created_at)
      VALUES ('per_a', 'Zoë', 'zoë', 1, 0, 5);
    INSERT INTO invitations VALUES ('per_a', 'i', 9);
    INSERT INTO passkeys VALUES ('psk_a', 'per_a', 'c', 'p', 1, '[]', 'Firefox', 5, NULL);
    INSERT INTO person_sessions VALUES ('ses_a', 'per_a', 's', 1, NULL, 'Firefox', 5, 6, 9);
    UPDATE roles SET title = 'Zuschauer' WHERE name = 'viewer'`);
  before.close();
  const file = join(newFolder(), "backup.db");
  makeBackup(configOf(old), file);
  restoreBackup(configOf(restored), file);
  const db = openStoreFile(join(restored, "gatehouse.db"));
  const all = (query: string) => db.query(query).all();
  expect(all("SELECT 1 FROM person_sessions UNION ALL SELECT 1 FROM invitations")).toEqual([]);
  expect(all("SELECT name, passkey_id FROM people JOIN passkeys USING (person_id)")).toEqual([
    { name: "Zoë", passkey_id: "psk_a" },
  ]);
  expect(all("SELECT title FROM roles WHERE name = 'viewer'")).toEqual([{ title: "Zuschauer" }]);
  db.close();
});

test("a backup with another secret is refused", () => {
  const [old, restored] = [newFolder(), newFolder()];
  makeOldFile(join(old, "gatehouse.db"), OLD_SCHEMA);
  const file = join(newFolder(), "backup.db");
  copyFileSync(join(old, "gatehouse.db"), file);
  const config = parseConfig({
    GATEHOUSE_DATA_DIR: restored,
    GATEHOUSE_SECRET: "another one, also long enough: 32",
  });
  expect(() => restoreBackup(config, file)).toThrow("is not the one that the backup was made with");
});
