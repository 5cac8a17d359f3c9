// The store's file: opened so that a commit survives a loss of power, taken over from every older version, and refused,
// unchanged, when it must not be used.
import { Database } from "bun:sqlite";
import { afterEach, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeOldFile, OLD_ROWS, OLD_SCHEMA, oldSealer } from "../../../test/store/old-files.ts";
import { StartRefused, StoreUnavailable } from "../../core/errors.ts";
import { FIRST_ROLES } from "../../core/people/role.ts";
import type { Sql } from "../sql.ts";
import { inspectDatabase, readAddressLists, readServerKeys, readServerMarks } from "./inspect-store.ts";
import { STORE_MIGRATIONS } from "./migrations.ts";
import { isSealedDatabase, openStoreDriver, openStoreFile } from "./open-store-file.ts";

const FULL = 2;
const SCHEMA = STORE_MIGRATIONS.steps.length;
const LOG = { warn() {} };

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function newPath(): string {
  const folder = mkdtempSync(join(tmpdir(), "gatehouse-open-"));
  folders.push(folder);
  return join(folder, "gatehouse.db");
}

/** Rows as plain objects, so that they can be compared. */
async function all(sql: Sql, query: string) {
  return (await sql.all(query)).map((row) => ({ ...row }));
}

describe("a file of an older version", () => {
  test.each(Array.from({ length: OLD_SCHEMA }, (_, index) => index + 1))(
    "of schema %p is taken over whole",
    async (schema) => {
      const path = newPath();
      makeOldFile(path, schema);
      expect(isSealedDatabase(path)).toBe(true);
      const { driver, close } = openStoreDriver(path, LOG);
      await driver.query(async (sql) => {
        expect(await all(sql, "SELECT name FROM settings ORDER BY name")).toEqual([
          ...(schema < 9 ? [] : [{ name: "ended-devices" }]),
          { name: "master-key-hash" },
          { name: "secret-check" },
        ]);
        const servers = await all(sql, "SELECT * FROM servers ORDER BY seq");
        expect(servers).toMatchObject([
          { seq: 3, server_id: "srv_a", community: "one", key_revision: 2, simulated: 0 },
          { seq: 4, server_id: "srv_b", community: null, simulated: schema >= 5 ? 1 : 0 },
        ]);
        expect(servers[0]).toMatchObject({
          watch: schema >= 8 ? 0 : 1,
          status_slug: schema >= 10 ? "slug" : null,
          status_join_key: schema >= 10 ? 1 : 0,
        });
        for (const { server_id, sealed_key } of servers)
          expect(oldSealer.open(Buffer.from(String(sealed_key), "hex"), String(server_id))).toBe(`key-of-${server_id}`);
        const isLeftRevoked = schema >= 2 ? 900 : null;
        expect(await all(sql, "SELECT key_id, revoked_at FROM keys ORDER BY seq")).toEqual([
          { key_id: "key_used", revoked_at: null },
          { key_id: "key_ended", revoked_at: 800 },
          { key_id: "key_left", revoked_at: isLeftRevoked },
        ]);
        expect(await all(sql, "SELECT name FROM roles ORDER BY name")).toEqual(
          FIRST_ROLES.map(({ name }) => ({ name })).toSorted((a, b) => (a.name < b.name ? -1 : 1)),
        );
        expect(await all(sql, "SELECT * FROM last_uses")).toEqual([{ key_id: "key_used", last_used_at: 77 }]);
        if (schema < 2) return;
        // The deletion that was interrupted is finished.
        expect(await all(sql, "SELECT token_hash, valid_until FROM tokens ORDER BY token_hash")).toEqual([
          { token_hash: "t1", valid_until: null },
          { token_hash: "t2", valid_until: 5_000 },
        ]);
        expect(await all(sql, "SELECT * FROM blocks")).toEqual([{ key_id: "key_used", blocked_until: 9_000 }]);
        expect(await all(sql, "SELECT * FROM deleted_servers")).toEqual([{ server_id: "srv_gone", deleted_at: 900 }]);
        expect(await all(sql, "SELECT * FROM usage")).toEqual(OLD_ROWS.usage as never);
        expect(await all(sql, "SELECT * FROM audit")).toEqual([{ ...OLD_ROWS.audit?.[0], server_id: null } as never]);
        if (schema < 3) return;
        expect(await all(sql, "SELECT * FROM commands ORDER BY seq")).toMatchObject([
          { seq: 1, status: "queued", idempotency_key: "idem", claimed_by: null, finished_at: null },
          { seq: 2, status: "sending", claimed_by: expect.any(String) },
          { seq: 3, status: "sent", confirmed_at: 80, logged_at: 65, claimed_by: null },
          { seq: 4, status: "cancelled" },
          { seq: 6, status: "failed", upstream_code: 4_001, upstream_message: "«нет»" },
        ]);
        expect(await all(sql, "SELECT * FROM queues ORDER BY server_id")).toEqual([
          { server_id: "srv_a", until: 1_000, hold_ms: 250, finished: 3, cancelled: 1 },
          { server_id: "srv_b", until: 2_000, hold_ms: 500, finished: 0, cancelled: 0 },
        ]);
        if (schema < 7) return;
        expect(await all(sql, "SELECT * FROM receipts")).toEqual([
          { ...OLD_ROWS.receipts?.[0], text_hash: "01ab" } as never,
        ]);
        expect(await all(sql, "SELECT * FROM receipt_counts")).toEqual(OLD_ROWS.receipt_counts as never);
        if (schema < 9) return;
        expect(await all(sql, "SELECT value FROM settings WHERE name = 'ended-devices'")).toEqual([{ value: "2" }]);
      });
      await close();
    },
  );

  test("gives no number again that a deleted row had", async () => {
    const path = newPath();
    makeOldFile(path, OLD_SCHEMA);
    const db = openStoreFile(path);
    const next = (insert: string) => db.query<{ seq: number }, []>(`${insert} RETURNING seq`).get()?.seq;
    expect(next("INSERT INTO audit (at, action, actor, target, details) VALUES (1, 'a', '', '', '')")).toBe(9);
    const draft = "command_id, server_id, key_id, command, status, accepted_position, queued_at";
    expect(next(`INSERT INTO commands (${draft}) VALUES ('c', 's', 'k', ':h', 'queued', 1, 1)`)).toBe(42);
    const left = db.query<{ name: string }, []>("SELECT name FROM sqlite_schema WHERE name LIKE 'old%'").all();
    expect(left).toEqual([]);
    db.close();
  });

  test("is left as it was when the last step fails, and can be opened later", () => {
    const path = newPath();
    makeOldFile(path, OLD_SCHEMA);
    const before = readFileSync(path);
    const db = new Database(path);
    // The last step fails at this row, after it has taken over others.
    db.exec("UPDATE usage SET count = 'twelve'");
    db.close();
    expect(() => openStoreFile(path)).toThrow();
    expect(inspectDatabase(path, oldSealer)).toMatchObject({
      kind: "usable",
      schema: OLD_SCHEMA,
      servers: 2,
      keys: 2,
    });
    writeFileSync(path, before);
    openStoreFile(path).close();
    expect(inspectDatabase(path, oldSealer)).toMatchObject({
      schema: SCHEMA,
      servers: 2,
      keys: 1,
      isSecretRight: true,
    });
  });

  test("is read by the doctor as the new one is", () => {
    const path = newPath();
    const look = () => [
      readServerKeys(path, oldSealer, (serverKey) => serverKey === "no-key"),
      readServerMarks(path),
      readAddressLists(path),
    ];
    makeOldFile(path, OLD_SCHEMA);
    const before = look();
    expect(before).toEqual([
      [{ serverId: "srv_a", name: "Server 0", serverKey: "key-of-srv_a" }],
      [
        { name: "Server 0", isSimulated: false },
        { name: "Server 1", isSimulated: true },
      ],
      [{ label: "Key «key_used»", addresses: ["10.0.0.1"] }],
    ]);
    openStoreFile(path).close();
    expect(look()).toEqual(before);
  });
});

describe("the store's file", () => {
  test("a commit waits for the disk: a write-ahead log with full synchronisation, at the first start and later", () => {
    const path = newPath();
    for (let start = 0; start < 2; start++) {
      const db = openStoreFile(path);
      expect(db.query("PRAGMA synchronous").get()).toEqual({ synchronous: FULL });
      expect(db.query("PRAGMA journal_mode").get()).toEqual({ journal_mode: "wal" });
      expect(db.query("PRAGMA secure_delete").get()).toEqual({ secure_delete: 1 });
      db.close();
    }
  });

  test("of a newer version, damaged, or of another program is refused and not changed", () => {
    const path = newPath();
    openStoreFile(path).close();
    const whole = readFileSync(path);
    const db = new Database(path);
    db.exec(`PRAGMA journal_mode = DELETE; PRAGMA user_version = ${SCHEMA + 1}`);
    db.close();
    const newer = readFileSync(path);
    const damaged = Buffer.from(whole);
    damaged.fill(0xab, 4_096);
    for (const [content, words] of [
      [newer, `newer Gatehouse (schema ${SCHEMA + 1}`],
      [damaged, "is damaged"],
      [Buffer.from("Dear diary"), "is not a Gatehouse database"],
    ] as const) {
      writeFileSync(path, content);
      expect(() => openStoreDriver(path, LOG)).toThrow(words);
      expect(() => isSealedDatabase(path)).toThrow(StartRefused);
      expect(readFileSync(path).equals(content)).toBe(true);
    }
  });

  test("that cannot be brought to this version is left as it was, and the start says what to do", () => {
    const path = newPath();
    makeOldFile(path, OLD_SCHEMA);
    const db = new Database(path);
    // Something else has made a table that a step makes.
    db.exec("CREATE TABLE roles (mine TEXT)");
    db.close();
    expect(() => openStoreDriver(path, LOG)).toThrow(
      /could not be brought to this version, at step \d+ of \d+: .*roles/,
    );
    expect(() => openStoreDriver(path, LOG)).toThrow("the version before still works");
    const left = new Database(path, { readonly: true });
    expect(left.query("PRAGMA user_version").get()).toEqual({ user_version: OLD_SCHEMA });
    left.close();
  });

  test("is used by one process at a time, and is free again when it was closed", async () => {
    const path = newPath();
    const first = openStoreDriver(path, LOG);
    expect(() => openStoreDriver(path, LOG)).toThrow("another Gatehouse is using");
    await first.close();
    await openStoreDriver(path, LOG).close();
  });

  test("writes are refused after it was deleted, and closing waits for those under way", async () => {
    const path = newPath();
    const { driver, close } = openStoreDriver(path, LOG);
    const save = (name: string) =>
      driver.transact((sql) => sql.run("INSERT INTO settings (name, value) VALUES (?1, '')", name));
    const saved = save("last");
    await close();
    expect(await saved).toBe(1);
    const again = openStoreDriver(path, LOG);
    rmSync(path);
    const write = again.driver.transact((sql) => sql.run("DELETE FROM settings"));
    expect(write).rejects.toThrow(StoreUnavailable);
    await again.close();
  });
});
