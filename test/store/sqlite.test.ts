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
import { DEFAULT_RIGHTS } from "../../src/core/api-key.ts";
import { StartRefused, StoreUnavailable } from "../../src/core/errors.ts";
import type { Log } from "../../src/core/ports/log.ts";
import type { Store } from "../../src/core/ports/store.ts";
import { Sealer } from "../../src/store/sealer.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { until } from "../process/run-gatehouse.ts";
import { makeTestFolder } from "../start-gatehouse.ts";
import { describeDevices } from "./device-contract.ts";
import { makeSchema4 } from "./old-schema.ts";
import { describeStore, type RefusableStoreHarness } from "./store-contract.ts";

const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} };
const root = makeTestFolder();
afterAll(() => rmSync(root, { recursive: true, force: true }));
let folders = 0;

function newFolder(): string {
  const folder = join(root, String(++folders));
  mkdirSync(folder);
  return folder;
}

function openIn(folder: string, secret = "a secret"): Store {
  const settings = { path: join(folder, "gatehouse.db"), log: SILENT, clock: () => 1_800_000_000_000 };
  return openSqliteStore({ ...settings, sealer: new Sealer(secret) });
}

async function createHarness(): Promise<RefusableStoreHarness> {
  let folder = newFolder();
  let open: Store[] = [];
  return {
    async open() {
      const store = openIn(folder);
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
      const tables =
        what === "notes" ? ["audit"] : ["servers", "keys", "tokens", "blocks", "devices", "links"];
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
      const triggers = db.query<{ name: string }, []>(
        "SELECT name FROM sqlite_master WHERE name GLOB 'refuse_*'",
      );
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
describeDevices("the embedded store", createHarness);

describe("the embedded store", () => {
  test("uses a write-ahead log", async () => {
    const folder = newFolder();
    const store = openIn(folder);
    const db = new Database(join(folder, "gatehouse.db"), { readonly: true });
    expect(db.query("PRAGMA journal_mode").get()).toEqual({ journal_mode: "wal" });
    db.close();
    await store.close();
  });

  test("stores neither upstream keys nor the secret in clear text", async () => {
    const folder = newFolder();
    const store = openIn(folder, "the-operators-secret");
    await store.servers.create({ name: "One", community: null, serverKey: "canary-UpstreamKey" }, 1);
    const bytes = readdirSync(folder).map((name) => readFileSync(join(folder, name), "latin1"));
    await store.close();
    expect(bytes.join()).toContain("One");
    expect(bytes.join()).not.toContain("canary");
    expect(bytes.join()).not.toContain("the-operators-secret");
  });

  test("refuses to start with another secret than the database was created with", async () => {
    const folder = newFolder();
    await openIn(folder, "first").close();
    expect(() => openIn(folder, "second")).toThrow(StartRefused);
    await openIn(folder, "first").close();
  });

  test("refuses a folder that another instance is using, and opens it when that one has stopped", async () => {
    const folder = newFolder();
    const first = openIn(folder);
    expect(() => openIn(folder)).toThrow(/another Gatehouse is using/);
    await first.close();
    await openIn(folder).close();
  });

  test("refuses a file that is not a Gatehouse database, and does not change it", () => {
    const folder = newFolder();
    const path = join(folder, "gatehouse.db");
    const foreign = new Database(path);
    foreign.exec("CREATE TABLE precious (x); INSERT INTO precious VALUES (1)");
    foreign.close();
    for (const content of [readFileSync(path), Buffer.from("just some text"), Buffer.alloc(5000, 7)]) {
      writeFileSync(path, content);
      expect(() => openIn(folder)).toThrow(/not a Gatehouse database/);
      expect(readFileSync(path)).toEqual(content);
    }
  });

  test("refuses a folder in place of the file with StartRefused", () => {
    const folder = newFolder();
    mkdirSync(join(folder, "gatehouse.db"));
    expect(() => openIn(folder)).toThrow(StartRefused);
  });

  test("keeps the time of the last use when a database with the old schema is migrated", async () => {
    const folder = newFolder();
    const store = openIn(folder);
    const { serverId } = await store.servers.create({ name: "One", community: null, serverKey: "a-b" }, 1);
    const draft = { ...DEFAULT_RIGHTS, serverId, label: "bot", expiresAt: null };
    const used = (await store.keys.create({ ...draft, tokenHash: "hash-1" }, 1))?.keyId ?? "";
    const unused = (await store.keys.create({ ...draft, tokenHash: "hash-2" }, 1))?.keyId ?? "";
    await store.close();
    const db = new Database(join(folder, "gatehouse.db"));
    makeSchema4(db);
    db.exec(`DROP VIEW key_details; DROP TABLE last_uses; ALTER TABLE keys ADD COLUMN last_used_at INTEGER;
             UPDATE keys SET last_used_at = 77 WHERE key_id = '${used}'; PRAGMA user_version = 3`);
    db.close();
    const again = openIn(folder);
    const lastUses = (await again.keys.list({ limit: 9 })).items.map(({ keyId, lastUsedAt }) => [
      keyId,
      lastUsedAt,
    ]);
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
    await openIn(folder).close();
    const db = new Database(join(folder, "gatehouse.db"));
    db.exec("PRAGMA user_version = 999");
    db.close();
    expect(() => openIn(folder)).toThrow(/newer Gatehouse/);
  });

  test("refuses a damaged database, and does not change it", async () => {
    const folder = newFolder();
    const store = openIn(folder);
    for (let i = 0; i < 50; i++)
      await store.servers.create({ name: "x".repeat(200), community: null, serverKey: "a-b" }, i);
    await store.close();
    const path = join(folder, "gatehouse.db");
    const damaged = readFileSync(path);
    damaged.fill(0xab, 4096, damaged.length);
    writeFileSync(path, damaged);
    expect(() => openIn(folder)).toThrow(/is damaged/);
    expect(readFileSync(path)).toEqual(damaged);
  });
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
    const store = openIn(folder);
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

describe("a deletion that was interrupted is finished", () => {
  const KEYS = 250;
  const DELETED_AT = 1_800_000_000_005;

  /** A folder whose store was closed between two batches of a deletion. */
  async function interruptDeletion() {
    const folder = newFolder();
    const store = openIn(folder);
    const { serverId } = await store.servers.create({ name: "One", community: null, serverKey: "a-b" }, 1);
    const draft = { ...DEFAULT_RIGHTS, serverId, label: "bot", expiresAt: null };
    const tokens = Array.from({ length: KEYS }, (_, i) => `hash-${i}`);
    await Promise.all(tokens.map((tokenHash) => store.keys.create({ ...draft, tokenHash }, 1)));
    const deleting = store.servers.delete(serverId, DELETED_AT).catch((error: unknown) => error);
    await store.close();
    expect(await deleting).toBeInstanceOf(StoreUnavailable);
    const countRevoked = () => {
      const db = new Database(join(folder, "gatehouse.db"), { readonly: true });
      const row = db.query<{ n: number }, [number]>("SELECT count(*) AS n FROM keys WHERE revoked_at = ?");
      const tokensLeft = db.query<{ n: number }, []>("SELECT count(*) AS n FROM tokens").get()?.n ?? 0;
      const revoked = row.get(DELETED_AT)?.n ?? 0;
      db.close();
      expect(tokensLeft).toBe(KEYS - revoked);
      return revoked;
    };
    expect(countRevoked()).toBeGreaterThan(0);
    expect(countRevoked()).toBeLessThan(KEYS);
    const again = openIn(folder);
    for (const token of tokens) expect(again.keys.find(token, 1)).toBeUndefined();
    return { store: again, serverId, countRevoked };
  }

  test("by repeating it, with the whole number", async () => {
    const { store, serverId, countRevoked } = await interruptDeletion();
    const whole = { revokedKeys: KEYS, failedCommands: 0 };
    expect(await Promise.all([1, 2].map(() => store.servers.delete(serverId, DELETED_AT + 1)))).toEqual([
      whole,
      whole,
    ]);
    expect(countRevoked()).toBe(KEYS);
    expect(await store.servers.delete(serverId, DELETED_AT + 2)).toMatchObject({ revokedKeys: 0 });
    await store.close();
  });

  test("by tidying", async () => {
    const { store, countRevoked } = await interruptDeletion();
    await store.tidy({ now: DELETED_AT, usage: 0, audit: 0, commands: 0 });
    expect(countRevoked()).toBe(KEYS);
    await store.close();
  });
});

test("a block that could not be saved is saved soon after the disk accepts writes again", async () => {
  const folder = newFolder();
  const store = openIn(folder);
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
