// gatehouse migrate: everything that lasts, from the data folder to a real PostgreSQL and back, without any loss.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { chownSync, existsSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ARCHIVE_MIGRATIONS } from "../../src/database/archive/migrations.ts";
import { openArchiveFile } from "../../src/database/archive/open-archive-file.ts";
import { readTable } from "../../src/database/copy-table.ts";
import { tablesOf } from "../../src/database/migrations.ts";
import { PostgresTool } from "../../src/database/postgres.ts";
import type { Driver, Table } from "../../src/database/sql.ts";
import { SqliteDriver } from "../../src/database/sqlite.ts";
import { STORE_MIGRATIONS } from "../../src/database/store/migrations.ts";
import { lockDataFolder, openStoreFile } from "../../src/database/store/open-store-file.ts";
import { refuseUnfinished } from "../../src/database/store/settings.ts";
import { type PostgresServer, startPostgres, stopPostgresServers } from "../postgres-server.ts";
import { run, runToEnd, stop } from "../run-gatehouse.ts";
import { makeOldFile, OLD_SCHEMA, OLD_SECRET } from "../store/old-files.ts";
import { cleanUp, makeFolder } from "../temporary.ts";
import { until } from "../until.ts";

const NOT_MOVED = new Set(["directory", "changes", "instances", "leases"]);
const STORE_TABLES = tablesOf(STORE_MIGRATIONS).filter(({ name }) => !NOT_MOVED.has(name));
const ARCHIVE_TABLES = tablesOf(ARCHIVE_MIGRATIONS);
const env = { GATEHOUSE_SECRET: OLD_SECRET };
/** More than a page, so that a move can be interrupted within a table. */
const MANY = 30_000;

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(stopPostgresServers);
afterEach(cleanUp);

const databaseOf = (folder: string) => join(folder, "gatehouse.db");
const archiveOf = (folder: string) => join(folder, "archive.db");

/** A data folder with every kind of row in the store, and an archive. */
function makeFullFolder(many = 0): string {
  const folder = makeFolder();
  makeOldFile(databaseOf(folder), OLD_SCHEMA);
  const store = openStoreFile(databaseOf(folder));
  store.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${Math.max(many, 2_500)})
    INSERT INTO usage SELECT 'key_' || i % 7, i, 0, i FROM n`);
  store.exec(`INSERT INTO people (seq, person_id, name, name_key, operator, player_id, chat_id, disabled, created_at, last_seen_at)
      VALUES (6, 'per_a', 'Zoë ☃', 'zoë ☃', 1, '77', '88', 0, 5, 6);
    INSERT INTO person_servers VALUES ('per_a', 'srv_a', 'helper');
    INSERT INTO roles VALUES ('helper', 'Helfer', 3, 1, '[":h"]', 5);
    UPDATE roles SET title = 'Zuschauer' WHERE name = 'viewer';
    INSERT INTO invitations VALUES ('per_a', 'i', 9);
    INSERT INTO passkeys VALUES ('psk_a', 'per_a', 'c', 'p', 4294967295, '["usb"]', 'Firefox', 5, NULL);
    INSERT INTO person_sessions VALUES ('ses_a', 'per_a', 's', 1, '88', 'Firefox', 5, 6, 9);
    INSERT INTO used_challenges VALUES ('challenge', 9);
    UPDATE servers SET owners_sign_in = 1 WHERE server_id = 'srv_a';
    UPDATE commands SET sent_by = '{"kind":"person","id":"per_a","name":"Zoë ☃"}' WHERE seq = 6`);
  store.exec("UPDATE directory SET version = 41; INSERT INTO changes VALUES (41, 'key_used')");
  store.close();
  const archive = openArchiveFile(archiveOf(folder));
  archive.exec(`INSERT INTO ledgers (ledger, server_id, version, last_number, last_mark, floor_number, floor_mark, last_day, identity_count)
    VALUES (1, 'srv_a', 3, 2, 9, 0, 8, 7, 0)`);
  archive.exec("INSERT INTO memory (ledger, part, text) VALUES (1, 'queue', '«☃ 😀» \\u0000')");
  archive.close();
  return folder;
}

/** Every row that lasts, as text. */
async function readRows(driver: Driver, tables: readonly Table[]): Promise<string[]> {
  const texts: string[] = [];
  for (const table of tables)
    await driver.query(async (sql) => {
      for await (const rows of readTable(sql, table))
        for (const row of rows) if (row.name !== "migration") texts.push(`${table.name} ${JSON.stringify(row)}`);
    });
  return texts;
}

async function readFolder(folder: string): Promise<string[]> {
  const [store, archive] = [
    new SqliteDriver(openStoreFile(databaseOf(folder))),
    new SqliteDriver(openArchiveFile(archiveOf(folder))),
  ];
  const rows = [...(await readRows(store, STORE_TABLES)), ...(await readRows(archive, ARCHIVE_TABLES))];
  store.close();
  archive.close();
  return rows;
}

async function usePostgres<T>(url: string, work: (tool: PostgresTool) => Promise<T>): Promise<T> {
  const tool = await PostgresTool.open(url, [STORE_MIGRATIONS, ARCHIVE_MIGRATIONS]);
  try {
    return await work(tool);
  } finally {
    await tool.close();
  }
}

const readPostgres = (url: string) =>
  usePostgres(url, async (tool) => [
    ...(await readRows(tool, STORE_TABLES)),
    ...(await readRows(tool, ARCHIVE_TABLES)),
  ]);

function findSetting(driver: Driver, name: string): Promise<string | undefined> {
  return driver.query(async (sql) => {
    return (await sql.get<{ value: string }>("SELECT value FROM settings WHERE name = ?1", name))?.value;
  });
}

function migrateArgs(from: string, to: string, folder: string): string[] {
  return ["migrate", "--from", from, "--to", to, "--data-dir", folder];
}

const move = (from: string, to: string, folder: string, otherEnv: Record<string, string> = {}) =>
  runToEnd([...migrateArgs(from, to, folder), "--json"], { cwd: folder, env: { ...env, ...otherEnv } });

function expectRefused({ exitCode, stderr }: { exitCode: number; stderr: string }, words: string, code = 1): void {
  expect(stderr).toContain(words);
  expect(exitCode).toBe(code);
}

describe("a move", () => {
  test("there and back: every row arrives as it was, and numbers go on", async () => {
    const [folder, back] = [makeFullFolder(), makeFolder()];
    const url = await server.createDatabase();
    const before = await readFolder(folder);
    for (const { name } of [...STORE_TABLES, ...ARCHIVE_TABLES].slice(0, STORE_TABLES.length))
      expect(before.some((text) => text.startsWith(`${name} `))).toBe(true);

    const there = await move("sqlite", url, folder);
    expect(there).toMatchObject({ exitCode: 0, stderr: "" });
    const { was_done, resumed, moved, not_moved } = JSON.parse(there.stdout);
    expect({ was_done, resumed }).toEqual({ was_done: false, resumed: false });
    expect(moved).toMatchObject({
      servers: 2,
      keys: 3,
      audit: 1,
      commands: 5,
      people: 1,
      roles: 6,
      receipts: 1,
      ledgers: 1,
      memory: 1,
    });
    expect(Object.keys(moved)).not.toContain("instances");
    expect(not_moved).toHaveLength(2);
    expect(await readPostgres(url)).toEqual(before);
    expect(await readFolder(folder)).toEqual(before);

    // Who runs Gatehouse must be able to open what root has moved.
    const owner = process.getuid?.() === 0 ? 65_534 : statSync(back).uid;
    chownSync(back, owner, statSync(back).gid);
    const homeward = await move(url, "sqlite", back);
    expect(homeward).toMatchObject({ exitCode: 0, stderr: "" });
    for (const path of [databaseOf(back), archiveOf(back)]) expect(statSync(path).uid).toBe(owner);
    expect(await readFolder(back)).toEqual(before);
    const insert = "INSERT INTO audit (at, action, actor, target, details) VALUES (1, 'a', '', '', '') RETURNING seq";
    const store = new SqliteDriver(openStoreFile(databaseOf(back)));
    for (const driver of [store, await PostgresTool.open(url, [STORE_MIGRATIONS])]) {
      expect(await driver.transact((sql) => sql.get(insert))).toEqual({ seq: 9 });
      // A version that a Redis may still have must not come again.
      const found = await driver.query((sql) => sql.get<{ version: number }>("SELECT version FROM directory"));
      expect(found?.version).toBeGreaterThan(41);
      expect(await driver.query((sql) => sql.all("SELECT * FROM changes"))).toEqual([]);
      await driver.close();
    }
  });

  test("says in words what was moved, what was not, and what to set", async () => {
    const folder = makeFullFolder();
    writeFileSync(join(folder, "secret.key"), OLD_SECRET);
    const url = await server.createDatabase();
    const { exitCode, stdout } = await runToEnd(migrateArgs("sqlite", url, folder), { cwd: folder });
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/every row arrived as it was/);
    expect(stdout).toMatch(/\b2 {2}servers\n/);
    expect(stdout).toContain("Not moved: windows of the limit.");
    expect(stdout).toContain(`secret.key and master.key in ${folder}`);
  });

  test("that was finished changes nothing when it is repeated, and is refused once the source was used", async () => {
    const folder = makeFullFolder();
    const url = await server.createDatabase();
    expect((await move("sqlite", url, folder)).exitCode).toBe(0);
    // The new place is in use meanwhile.
    await server.ask("UPDATE gatehouse.keys SET label = 'changed'", url);
    const after = await readPostgres(url);
    const again = await move("sqlite", url, folder);
    expect(again.exitCode).toBe(0);
    expect(JSON.parse(again.stdout)).toMatchObject({ was_done: true, moved: { servers: 2 } });
    expect(await readPostgres(url)).toEqual(after);

    const store = openStoreFile(databaseOf(folder));
    store.exec("UPDATE servers SET name = 'other'");
    store.close();
    const later = await move("sqlite", url, folder);
    expectRefused(later, "is not empty");
    expect(await readPostgres(url)).toEqual(after);
  });
});

describe("a move that is killed", () => {
  /** Kills the move when some rows of the table have arrived. */
  async function killMove(args: readonly string[], folder: string, countArrived: () => Promise<number>): Promise<void> {
    const child = run(args, { cwd: folder, env });
    await until("nothing arrives", async () => (await countArrived()) > 0);
    expect(await stop(child, "SIGKILL")).toBe(137);
    expect(await countArrived()).toBeLessThan(MANY);
  }

  const isUnfinished = async (driver: Driver) =>
    await expect(refuseUnfinished({ find: (name) => findSetting(driver, name) })).rejects.toThrow("was not finished");
  const isFinished = (driver: Driver) => refuseUnfinished({ find: (name) => findSetting(driver, name) });

  test("into a PostgreSQL: no instance starts on it, and the next run goes on, also after the source was used", async () => {
    const folder = makeFullFolder(MANY);
    const url = await server.createDatabase();
    const countUsage = async () => {
      const rows = await server.ask("SELECT count(*)::int AS n FROM gatehouse.usage", url).catch(() => []);
      return (rows[0] as { n: number } | undefined)?.n ?? 0;
    };
    await killMove(migrateArgs("sqlite", url, folder), folder, countUsage);
    await usePostgres(url, isUnfinished);
    // A row that has arrived is changed, and one is deleted.
    const store = openStoreFile(databaseOf(folder));
    store.exec(
      "UPDATE servers SET name = 'other' WHERE server_id = 'srv_a'; DELETE FROM keys WHERE key_id = 'key_ended'",
    );
    store.close();
    const arrivedBefore = await countUsage();
    expect(arrivedBefore).toBeGreaterThan(0);
    const again = await move("sqlite", url, folder);
    expect(again).toMatchObject({ exitCode: 0, stderr: "" });
    expect(JSON.parse(again.stdout)).toMatchObject({ resumed: true, moved: { keys: 2 } });
    expect(await readPostgres(url)).toEqual(await readFolder(folder));
    await usePostgres(url, isFinished);
  });

  test("into a data folder: no instance starts on it, and the next run goes on", async () => {
    const [full, folder] = [makeFullFolder(MANY), makeFolder()];
    const url = await server.createDatabase();
    expect((await move("sqlite", url, full)).exitCode).toBe(0);
    const countUsage = async () => {
      if (!existsSync(databaseOf(folder))) return 0;
      const { Database } = await import("bun:sqlite");
      const db = new Database(databaseOf(folder), { readonly: true });
      try {
        return db.query<{ n: number }, []>("SELECT count(*) AS n FROM usage").get()?.n ?? 0;
      } catch {
        // There are no tables yet.
        return 0;
      } finally {
        db.close();
      }
    };
    await killMove(migrateArgs(url, "sqlite", folder), folder, countUsage);
    const half = new SqliteDriver(openStoreFile(databaseOf(folder)));
    await isUnfinished(half);
    half.close();
    const again = await move(url, "sqlite", folder);
    expect(again).toMatchObject({ exitCode: 0, stderr: "" });
    expect(JSON.parse(again.stdout)).toMatchObject({ resumed: true });
    expect(await readFolder(folder)).toEqual(await readFolder(full));
    const whole = new SqliteDriver(openStoreFile(databaseOf(folder)));
    await isFinished(whole);
    whole.close();
  });

  test("cannot be moved on to a third place", async () => {
    const folder = makeFullFolder();
    const url = await server.createDatabase();
    await usePostgres(url, (tool) =>
      tool.transact((sql) => sql.run("INSERT INTO settings (name, value) VALUES ('migration', 'unfinished')")),
    );
    const refused = await move(url, "sqlite", folder);
    expectRefused(refused, "was not finished");
  });
});

describe("is refused, and nothing is changed,", () => {
  test("when the target is not empty", async () => {
    const folder = makeFullFolder();
    const url = await server.createDatabase();
    await usePostgres(url, (tool) =>
      tool.transact((sql) => sql.run("INSERT INTO blocks (key_id, blocked_until) VALUES ('key_x', 5)")),
    );
    const before = await readPostgres(url);
    const refused = await move("sqlite", url, folder);
    expectRefused(refused, "is not empty (blocks: 1)");
    expect(refused.stderr).toContain(String(server.port));
    expect(await readPostgres(url)).toEqual(before);

    const full = await server.createDatabase();
    expect((await move("sqlite", full, folder)).exitCode).toBe(0);
    const here = await readFolder(folder);
    const back = await move(full, "sqlite", folder);
    expectRefused(back, `${folder} is not empty`);
    expect(await readFolder(folder)).toEqual(here);
  });

  test("while an instance uses the source or the target", async () => {
    const folder = makeFullFolder();
    const url = await server.createDatabase();
    const lock = lockDataFolder(`${databaseOf(folder)}.lock`);
    const locked = await move("sqlite", url, folder);
    lock.close();
    expectRefused(locked, "another Gatehouse is using");

    const nowMs = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";
    const see = (agoMs: number, place: string) =>
      server.ask(
        `INSERT INTO gatehouse.instances VALUES ('ins_1', 1, ${nowMs} - ${agoMs}, '')
         ON CONFLICT (instance_id) DO UPDATE SET seen_at = excluded.seen_at`,
        place,
      );
    await usePostgres(url, () => see(0, url));
    const used = await move("sqlite", url, folder);
    expectRefused(used, "1 instance(s) of Gatehouse use");
    // One that was killed is no instance any more.
    await see(11_000, url);
    expect((await move("sqlite", url, folder)).exitCode).toBe(0);
    await see(0, url);
    const back = makeFolder();
    const asSource = await move(url, "sqlite", back);
    expectRefused(asSource, "1 instance(s)");
    expect(existsSync(databaseOf(back))).toBe(false);
  });

  test("with another secret, or without one", async () => {
    const folder = makeFullFolder();
    const url = await server.createDatabase();
    const wrong = await move("sqlite", url, folder, {
      GATEHOUSE_SECRET: "canary: another secret, long enough",
    });
    expectRefused(wrong, "put the right one there");
    expect(wrong.stderr).not.toContain("canary");
    const none = await runToEnd(migrateArgs("sqlite", url, folder), { cwd: folder });
    expectRefused(none, "no secret.key");
    expect(await server.ask("SELECT 1 FROM pg_namespace WHERE nspname = 'gatehouse'", url)).toHaveLength(0);
  });

  test("from an empty place", async () => {
    const folder = makeFolder();
    const none = await move("sqlite", await server.createDatabase(), folder);
    expectRefused(none, "there is no");
    const empty = await move(await server.createDatabase(), "sqlite", folder);
    expectRefused(empty, "holds nothing");
    expect(existsSync(databaseOf(folder))).toBe(false);
  });

  test.each([
    ["redis://127.0.0.1:6379", "sqlite"],
    ["sqlite", "rediss+cluster://user:canary@nowhere.invalid:1"],
  ])("from or to a Redis (%s, %s), with what to do instead", async (from, to) => {
    const folder = makeFullFolder();
    writeFileSync(join(folder, "to"), to);
    const args = ["migrate", "--from", from, "--to-file", join(folder, "to"), "--data-dir", folder];
    const refused = await runToEnd(args, { cwd: folder, env });
    expectRefused(refused, "version 0.2 can move them", 2);
    expect(refused.stderr).not.toContain("canary");
  });

  test("when a PostgreSQL cannot be reached, without its password", async () => {
    const folder = makeFullFolder();
    const address = `postgres://gatehouse:s3cr3t@127.0.0.1:${server.port}/no_such_database`;
    writeFileSync(join(folder, "address"), `${address}\n`);
    const before = await readFolder(folder);
    const args = ["migrate", "--from", "sqlite", "--to-file", "address", "--data-dir", folder];
    const failed = await runToEnd(args, { cwd: folder, env });
    expect(failed.exitCode).toBe(1);
    expect(failed.stderr).toContain("//[redacted]@");
    expect(failed.stderr + failed.stdout).not.toContain("s3cr3t");
    expect(await readFolder(folder)).toEqual(before);
  });
});

test("an address with a password comes from a file, standard input or GATEHOUSE_STORE, never from an argument", async () => {
  await server.ask("CREATE ROLE mover SUPERUSER LOGIN PASSWORD 'canary-password'");
  const folder = makeFullFolder();
  const args = ["migrate", "--data-dir", folder, "--json"];
  const withPassword = async () => (await server.createDatabase()).replace("//gatehouse@", "//mover:canary-password@");
  for (const option of ["--to", "--from"]) {
    const ended = await runToEnd([...args, option, await withPassword()], { cwd: folder, env });
    expect(ended).toMatchObject({ exitCode: 2, stdout: "" });
    expect(ended.stderr).toContain(`${option}-file`);
    expect(ended.stderr).not.toContain("canary");
  }
  const there = [...args, "--from", "sqlite"];
  const address = await withPassword();
  writeFileSync(join(folder, "address"), `${address}\n`);
  const byInput = `${await withPassword()}\n`;
  const ways = [
    () => runToEnd([...there, "--to-file", "address"], { cwd: folder, env }),
    () => runToEnd([...there, "--to", "-"], { cwd: folder, env, input: byInput }),
    async () => runToEnd(there, { cwd: folder, env: { ...env, GATEHOUSE_STORE: await withPassword() } }),
  ];
  for (const migrate of ways) expect(await migrate()).toMatchObject({ exitCode: 0, stderr: "" });
});

test.each([
  [[], "--from"],
  [["--from", "sqlite"], "--to"],
  [["--from", "sqlite", "--to-file", "nowhere"], "does not exist"],
  [["--from", "sqlite", "--to", "-"], "standard input"],
  [["--from", "sqlite", "--to", "sqlite"], "the same place"],
  [["--from", "sqlite", "--to", "mysql://x"], "must be sqlite or"],
  [["--from", "sqlite", "--to", "sqlite", "--to-file", "x"], "not both"],
])("migrate %j says what is missing, with exit code 2", async (args, words) => {
  const ended = await runToEnd(["migrate", ...args], { cwd: makeFolder(), env });
  expect(ended).toMatchObject({ exitCode: 2, stdout: "", stderr: expect.stringContaining(words) });
});
