// The embedded store fulfils the store contract, is fully durable, and refuses files that it must not change.
import { Database } from "bun:sqlite";
import { afterAll, describe, expect, test } from "bun:test";
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { StartRefused, StoreUnavailable } from "../../src/core/errors.ts";
import { DEFAULT_SETTINGS } from "../../src/core/keys/key-settings.ts";
import type { Store } from "../../src/core/ports/store.ts";
import type { DatabaseStore } from "../../src/database/store/store.ts";
import { openTestStore } from "../open-store.ts";
import { makeTestFolder } from "../start-gatehouse.ts";
import { until } from "../until.ts";
import { makeSchema4 } from "./old-schema.ts";
import { describePeople } from "./people-contract.ts";
import { CHANGED_TABLES, describeStore, type RefusableStoreHarness } from "./store-contract.ts";

const root = makeTestFolder();
afterAll(() => rmSync(root, { recursive: true, force: true }));
let folders = 0;

function newFolder(): string {
  const folder = join(root, String(++folders));
  mkdirSync(folder);
  return folder;
}

function openIn(folder: string, secret = "a secret"): Promise<DatabaseStore> {
  return openTestStore({ path: join(folder, "gatehouse.db"), secret });
}

async function createHarness(): Promise<RefusableStoreHarness> {
  let folder = newFolder();
  let open: Store[] = [];
  return {
    async open() {
      const store = await openIn(folder);
      open.push(store);
      return store;
    },
    // A killed process leaves the files in their current state, including the write-ahead log.
    async crash() {
      const copy = newFolder();
      for (const name of readdirSync(folder)) copyFileSync(join(folder, name), join(copy, basename(name)));
      folder = copy;
    },
    async refuse(what) {
      const tables = what === "notes" ? ["audit"] : CHANGED_TABLES;
      const db = new Database(join(folder, "gatehouse.db"));
      for (const table of tables) {
        for (const operation of ["INSERT", "UPDATE", "DELETE"]) {
          db.exec(
            `CREATE TRIGGER refuse_${operation}_${table} BEFORE ${operation} ON ${table} BEGIN SELECT RAISE(ABORT, 'refused'); END`,
          );
        }
      }
      db.close();
    },
    async allow() {
      const db = new Database(join(folder, "gatehouse.db"));
      const triggers = db.query<{ name: string }, []>("SELECT name FROM sqlite_master WHERE name GLOB 'refuse_*'");
      for (const { name } of triggers.all()) db.exec(`DROP TRIGGER ${name}`);
      db.close();
    },
    async dispose() {
      for (const store of open) await store.close();
      open = [];
    },
  };
}

describeStore("the embedded store", createHarness);
describePeople("the embedded store", createHarness);

describe("the embedded store", () => {
  test("uses a write-ahead log", async () => {
    const folder = newFolder();
    const store = await openIn(folder);
    const db = new Database(join(folder, "gatehouse.db"), { readonly: true });
    expect(db.query("PRAGMA journal_mode").get()).toEqual({ journal_mode: "wal" });
    db.close();
    await store.close();
  });

  test("stores neither upstream keys nor the secret in clear text", async () => {
    const folder = newFolder();
    const store = await openIn(folder, "the-operators-secret");
    await store.servers.create({ name: "One", community: null, serverKey: "canary-UpstreamKey" }, 1);
    const bytes = readdirSync(folder).map((name) => readFileSync(join(folder, name), "latin1"));
    await store.close();
    expect(bytes.join()).toContain("One");
    expect(bytes.join()).not.toContain("canary");
    expect(bytes.join()).not.toContain("the-operators-secret");
  });

  test("refuses to start with another secret than the database was created with", async () => {
    const folder = newFolder();
    await (await openIn(folder, "first")).close();
    await expect(openIn(folder, "second")).rejects.toThrow(StartRefused);
    await (await openIn(folder, "first")).close();
  });

  test("refuses a folder that another instance is using, and opens it when that one has stopped", async () => {
    const folder = newFolder();
    const first = await openIn(folder);
    await expect(openIn(folder)).rejects.toThrow(/another Gatehouse is using/);
    await first.close();
    await (await openIn(folder)).close();
  });

  test("refuses a file that is not a Gatehouse database, and does not change it", async () => {
    const folder = newFolder();
    const path = join(folder, "gatehouse.db");
    const foreign = new Database(path);
    foreign.exec("CREATE TABLE precious (x); INSERT INTO precious VALUES (1)");
    foreign.close();
    for (const content of [readFileSync(path), Buffer.from("just some text"), Buffer.alloc(5000, 7)]) {
      writeFileSync(path, content);
      await expect(openIn(folder)).rejects.toThrow(/not a Gatehouse database/);
      expect(readFileSync(path)).toEqual(content);
    }
  });

  test("refuses a folder in place of the file with StartRefused", async () => {
    const folder = newFolder();
    mkdirSync(join(folder, "gatehouse.db"));
    await expect(openIn(folder)).rejects.toThrow(StartRefused);
  });

  test("keeps the time of the last use when a database with the old schema is migrated", async () => {
    const folder = newFolder();
    const store = await openIn(folder);
    const { serverId } = await store.servers.create({ name: "One", community: null, serverKey: "a-b" }, 1);
    const draft = { ...DEFAULT_SETTINGS, serverId, label: "bot" };
    const used = (await store.keys.create({ ...draft, tokenHash: "hash-1" }, 1))?.keyId ?? "";
    const unused = (await store.keys.create({ ...draft, tokenHash: "hash-2" }, 1))?.keyId ?? "";
    await store.close();
    const db = new Database(join(folder, "gatehouse.db"));
    makeSchema4(db);
    db.exec(`DROP VIEW key_details; DROP TABLE last_uses; ALTER TABLE keys ADD COLUMN last_used_at INTEGER;
             UPDATE keys SET last_used_at = 77 WHERE key_id = '${used}'; PRAGMA user_version = 3`);
    db.close();
    const again = await openIn(folder);
    const lastUses = (await again.keys.list({ limit: 9 })).items.map(({ keyId, lastUsedAt }) => [keyId, lastUsedAt]);
    expect(lastUses).toEqual([
      [used, 77],
      [unused, null],
    ]);
    expect(again.servers.find(serverId)).toMatchObject({
      isSimulated: false,
      isWatched: true,
      publicStatus: null,
    });
    await again.close();
  });

  test("refuses a database of a newer version", async () => {
    const folder = newFolder();
    await (await openIn(folder)).close();
    const db = new Database(join(folder, "gatehouse.db"));
    db.exec("PRAGMA user_version = 999");
    db.close();
    await expect(openIn(folder)).rejects.toThrow(/newer Gatehouse/);
  });

  test("refuses a damaged database, and does not change it", async () => {
    const folder = newFolder();
    const store = await openIn(folder);
    for (let i = 0; i < 50; i++)
      await store.servers.create({ name: "x".repeat(200), community: null, serverKey: "a-b" }, i);
    await store.close();
    const path = join(folder, "gatehouse.db");
    const damaged = readFileSync(path);
    damaged.fill(0xab, 4096, damaged.length);
    writeFileSync(path, damaged);
    await expect(openIn(folder)).rejects.toThrow(/is damaged/);
    expect(readFileSync(path)).toEqual(damaged);
  });
});

test("a page of the filtered audit log looks through a bounded part of it, and the next goes on from there", async () => {
  const folder = newFolder();
  const store = await openIn(folder);
  const actor = { kind: "master", id: "0123abcd", name: "master key", address: "" } as const;
  const add = (action: string) => store.audit.add("srv_1", { at: 1, action, actor, details: {} });
  await add("first");
  const db = new Database(join(folder, "gatehouse.db"));
  db.exec("UPDATE sqlite_sequence SET seq = 45000 WHERE name = 'audit'");
  db.close();
  await add("second");
  const sizes: number[] = [];
  let cursor: string | undefined;
  do {
    const page = await store.audit.list({ limit: 9, cursor, query: "srv_1" });
    sizes.push(page.items.length);
    cursor = page.next ?? undefined;
  } while (cursor !== undefined);
  expect(sizes).toEqual([1, 0, 1]);
  expect((await store.audit.list({ limit: 9 })).items.map(({ action }) => action)).toEqual(["second", "first"]);
  await store.close();
});

describe("writes fail after the database file was:", () => {
  test.each<[string, (path: string) => void]>([
    ["deleted", (path) => rmSync(path)],
    [
      "replaced by a copy",
      (path) => {
        copyFileSync(path, `${path}.copy`);
        renameSync(`${path}.copy`, path);
      },
    ],
    ["emptied", (path) => truncateSync(path)],
    ["moved with its folder", (path) => renameSync(dirname(path), `${dirname(path)}-moved`)],
  ])("%s", async (_, remove) => {
    const folder = newFolder();
    const store = await openIn(folder);
    const now = 1_800_000_000_000;
    const { serverId } = await store.servers.create({ name: "One", community: null, serverKey: "a-b" }, now);
    remove(join(folder, "gatehouse.db"));
    const draft = { serverId, keyId: "key_1", text: ":h hello", idempotencyKey: undefined };
    await expect(store.commands.accept(draft, now)).rejects.toBeInstanceOf(StoreUnavailable);
    const second = store.servers.create({ name: "Two", community: null, serverKey: "a-b" }, now);
    await expect(second).rejects.toBeInstanceOf(StoreUnavailable);
    await expect(store.checkHealth()).rejects.toBeInstanceOf(StoreUnavailable);
    expect(store.servers.find(serverId)?.name).toBe("One");
    await store.close();
  });
});

test("a block that could not be saved is saved soon after the disk accepts writes again", async () => {
  const folder = newFolder();
  const store = await openIn(folder);
  const other = new Database(join(folder, "gatehouse.db"));
  other.exec("CREATE TRIGGER full BEFORE INSERT ON blocks BEGIN SELECT RAISE(ABORT, 'full'); END");
  const key = { keyId: "key_1", serverId: "srv_1" };
  for (let i = 0; i < 520; i++) await store.limits.judge(key, 1_800_000_000_000, true);
  const countBlocks = () => other.query<{ n: number }, []>("SELECT count(*) AS n FROM blocks").get()?.n;
  expect(countBlocks()).toBe(0);
  other.exec("DROP TRIGGER full");
  await until("the block is not saved", () => countBlocks() === 1);
  other.close();
  await store.close();
});
