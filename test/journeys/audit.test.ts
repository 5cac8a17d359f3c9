// The audit log: each change adds exactly one entry, and nothing else adds one.
import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { DAY_MS } from "../../src/core/durations.ts";
import { SECTIONS } from "../../src/core/sections.ts";
import { FakeClock, makeTestFolder, startGatehouse, type TestGatehouse } from "../start-gatehouse.ts";
import { until } from "../until.ts";
import { type AuditBody, createOperator, type PageBody, readAs } from "./operator.ts";
import { openStage } from "./stage.ts";

const PATH = "/v2/game/server";

const { game: api, gatehouse, operator } = await openStage();

/** The entries that the change has added, newest first. */
async function entriesOf(change: () => Promise<unknown>): Promise<AuditBody[]> {
  const before = await operator.listAudit();
  gatehouse.clock.advance(1);
  await change();
  const after = await operator.listAudit();
  const added = after.slice(0, after.length - before.length);
  expect(after.slice(added.length)).toEqual(before);
  return added;
}

/** The one entry that the change has added, without the fields that are the same in all entries. */
async function entryOf(change: () => Promise<unknown>) {
  const added = await entriesOf(change);
  expect(added).toHaveLength(1);
  const [entry] = added;
  if (!entry) throw new Error("there is no entry");
  expect(Object.keys(entry)).toEqual(["id", "at", "action", "actor", "target", "details"]);
  expect(entry.at).toBe(gatehouse.clock.now);
  expect(entry.actor).toEqual({
    kind: "master",
    id: expect.stringMatching(/^[0-9a-f]{8}$/),
    name: "master key",
    address: "127.0.0.1",
  });
  const { action, target, details } = entry;
  return { action, target, details };
}

describe("each change leaves exactly one entry, with its time, actor, target, before and after", () => {
  test("of servers: created, changed, given another key, deleted", async () => {
    let server = { server_id: "" };
    const patch = (body: object) => gatehouse.admin("PATCH", `/admin/servers/${server.server_id}`, body);
    const created = await entryOf(async () => {
      server = await operator.addServer({ name: "Audited", community: "town", server_key: "first-Secret" });
    });
    const target = server.server_id;
    expect(created).toEqual({
      action: "server.created",
      target,
      details: { after: { name: "Audited", community: "town", watch: true } },
    });
    expect(await entryOf(() => patch({ name: "Renamed", community: "town" }))).toEqual({
      action: "server.changed",
      target,
      details: { before: { name: "Audited" }, after: { name: "Renamed" } },
    });
    expect(await entryOf(() => patch({ watch: false }))).toEqual({
      action: "server.changed",
      target,
      details: { before: { watch: true }, after: { watch: false } },
    });
    expect(await entriesOf(() => patch({ watch: false }))).toEqual([]);
    expect(await entryOf(() => patch({ community: null }))).toEqual({
      action: "server.changed",
      target,
      details: { before: { community: "town" }, after: { community: null } },
    });
    const rekeyed = await entryOf(() => patch({ server_key: "second-Secret" }));
    expect(rekeyed).toMatchObject({ action: "server.changed", target });
    expect(rekeyed.details.after).toHaveProperty("server_key");
    // Setting the same key again means "try again", which is a change too.
    expect(await entryOf(() => patch({ server_key: "second-Secret" }))).toMatchObject({ target });
    const key = await operator.addKey(server);
    expect(await entryOf(() => gatehouse.admin("DELETE", `/admin/servers/${target}`))).toEqual({
      action: "server.deleted",
      target,
      details: { before: { name: "Renamed", community: null } },
    });
    expect((await operator.showKey(key)).revoked_at).toBe(gatehouse.clock.now);
    expect(JSON.stringify(await operator.listAudit())).not.toMatch(/first-Secret|second-Secret/);
  });

  test("of keys: created, changed, rotated, revoked", async () => {
    const server = await operator.addServer();
    let key = { key_id: "", token: "" };
    const created = await entryOf(async () => {
      key = await operator.addKey(server, { label: "audited", ip_allow: ["10.0.0.0/8"] });
    });
    const target = key.key_id;
    expect(created).toEqual({
      action: "key.created",
      target,
      details: {
        after: {
          server_id: server.server_id,
          label: "audited",
          versions: ["v2"],
          sections: [...SECTIONS],
          commands: [],
          hide: [],
          may: [],
          ip_allow: ["10.0.0.0/8"],
          expires_at: null,
        },
      },
    });
    const expires_at = gatehouse.clock.now + DAY_MS;
    for (const [change, before] of [
      [{ label: "renamed" }, { label: "audited" }],
      [{ suspended: true }, { suspended: false }],
      [{ expires_at }, { expires_at: null }],
      [
        { sections: ["Queue"], versions: [] },
        { sections: [...SECTIONS], versions: ["v2"] },
      ],
      [
        { commands: ["*"], ip_allow: [] },
        { commands: [], ip_allow: ["10.0.0.0/8"] },
      ],
    ] as const) {
      expect(await entryOf(() => operator.changeKey(key, { label: "renamed", ...change }))).toEqual({
        action: "key.changed",
        target,
        details: { before, after: change },
      });
    }
    let rotated = { token: "" };
    const rotation = await entryOf(async () => {
      rotated = await operator.rotate(key, { grace_seconds: 60 });
    });
    expect(rotation).toEqual({
      action: "key.rotated",
      target,
      details: { after: { old_token_valid_until: gatehouse.clock.now + 60_000 } },
    });
    expect(await entryOf(() => operator.revoke(key))).toMatchObject({ action: "key.revoked", target });
    const all = JSON.stringify(await operator.listAudit());
    expect(all).not.toContain(key.token);
    expect(all).not.toContain(rotated.token);
  });

  test("of blocks: lifted", async () => {
    const key = await operator.addKey(await operator.addServer());
    await Promise.all(Array.from({ length: 520 }, () => gatehouse.get(PATH, key.token)));
    const blocked_until = gatehouse.clock.now + 300_000;
    expect(await entryOf(() => gatehouse.admin("DELETE", `/admin/blocks/${key.key_id}`))).toEqual({
      action: "block.lifted",
      target: key.key_id,
      details: { before: { blocked_until } },
    });
  });
});

describe("no entry is left by", () => {
  test("a change that changes nothing", async () => {
    const server = await operator.addServer({ name: "Idle", community: "town" });
    const key = await operator.addKey(server, { sections: ["Players", "Queue"], ip_allow: ["::1"] });
    const gone = await operator.addKey(server);
    const doomed = await operator.addServer();
    await operator.revoke(gone);
    await gatehouse.admin("DELETE", `/admin/servers/${doomed.server_id}`);
    const changes: [method: string, path: string, body?: object][] = [
      ["PATCH", `/admin/servers/${server.server_id}`, {}],
      ["PATCH", `/admin/servers/${server.server_id}`, { name: "Idle", community: "town" }],
      ["PATCH", `/admin/keys/${key.key_id}`, {}],
      ["PATCH", `/admin/keys/${key.key_id}`, { suspended: false, label: "bot", expires_at: null }],
      ["PATCH", `/admin/keys/${key.key_id}`, { sections: ["Queue", "Players"], ip_allow: ["::1"] }],
      ["DELETE", `/admin/keys/${gone.key_id}`],
      ["DELETE", `/admin/blocks/${key.key_id}`],
      ["DELETE", `/admin/blocks/${gone.key_id}`],
      ["DELETE", `/admin/servers/${doomed.server_id}`],
    ];
    for (const [method, path, body] of changes) {
      const entries = await entriesOf(async () => {
        expect([200, 204]).toContain((await gatehouse.admin(method, path, body)).status);
      });
      expect([method, path, body, entries]).toEqual([method, path, body, []]);
    }
  });

  test("lifting a block that does not exist, which also leaves the key's window unchanged", async () => {
    const key = await operator.addKey(await operator.addServer());
    const remaining = async () => {
      return (await gatehouse.get(PATH, key.token)).headers.get("x-ratelimit-remaining");
    };
    expect(await remaining()).toBe("119");
    expect(await entriesOf(() => gatehouse.admin("DELETE", `/admin/blocks/${key.key_id}`))).toEqual([]);
    expect(await remaining()).toBe("118");
  });

  test("a change that is refused, for whatever reason", async () => {
    const server = await operator.addServer({ name: "Firm" });
    const other = await operator.addServer();
    const key = await operator.addKey(server);
    const gone = await operator.addKey(server);
    await operator.revoke(gone);
    const changes: [method: string, path: string, body: unknown, status: number][] = [
      ["POST", "/admin/servers", { name: "Firm", server_key: "a-b" }, 400],
      ["POST", "/admin/servers", { name: "New", server_key: "ab" }, 400],
      ["POST", "/admin/servers", "{", 400],
      ["POST", "/admin/servers", "x".repeat(9_000), 413],
      ["PATCH", `/admin/servers/${other.server_id}`, { name: "Firm", community: "new" }, 400],
      ["PATCH", "/admin/servers/srv_never", { name: "x" }, 404],
      ["DELETE", "/admin/servers/srv_never", undefined, 404],
      ["POST", "/admin/keys", { server_id: "srv_never", label: "x" }, 400],
      ["PATCH", `/admin/keys/${key.key_id}`, { label: "new", expires_at: 1 }, 400],
      ["PATCH", `/admin/keys/${gone.key_id}`, { label: "new" }, 409],
      ["POST", `/admin/keys/${gone.key_id}/rotate`, {}, 409],
      ["POST", `/admin/keys/${key.key_id}/rotate`, { grace_seconds: -1 }, 400],
      ["DELETE", "/admin/keys/key_never", undefined, 404],
      ["DELETE", "/admin/blocks/key_never", undefined, 404],
    ];
    for (const [method, path, body, status] of changes) {
      const entries = await entriesOf(async () => {
        expect((await gatehouse.admin(method, path, body)).status).toBe(status);
      });
      expect([method, path, body, entries]).toEqual([method, path, body, []]);
    }
    const wrong = { Authorization: "Bearer wrong" };
    expect(await entriesOf(() => gatehouse.admin("DELETE", `/admin/keys/${key.key_id}`, undefined, wrong))).toEqual([]);
  });

  test("reading, and using a key", async () => {
    const key = await operator.addKey(await operator.addServer());
    const looks = ["/admin/servers", "/admin/keys", `/admin/keys/${key.key_id}`, "/admin/blocks", "/admin/audit"];
    const entries = await entriesOf(async () => {
      for (const path of looks) await gatehouse.admin("GET", path);
      await Promise.all(Array.from({ length: 520 }, () => gatehouse.get(PATH, key.token)));
    });
    expect(entries).toEqual([]);
  });
});

test("the entries of concurrent changes have the order of the changes, and each begins with the values that the one before left", async () => {
  const server = await operator.addServer({ name: "Busy" });
  const { store } = gatehouse.app;
  const { update } = store.servers;
  store.servers.update = async (...change) => {
    await new Promise((resolve) => setTimeout(resolve, 1));
    return update.apply(store.servers, change);
  };
  const entries = await entriesOf(() =>
    Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        gatehouse.admin("PATCH", `/admin/servers/${server.server_id}`, { community: `c${i}` }),
      ),
    ),
  );
  store.servers.update = update;
  expect(entries).toHaveLength(20);
  let community: unknown = null;
  for (const { details } of entries.toReversed()) {
    expect(details.before).toEqual({ community });
    community = (details.after as { community: string }).community;
  }
});

test("the log is listed newest first, page by page, without gap or repeat while entries are added", async () => {
  const server = await operator.addServer();
  for (let i = 0; i < 7; i++) await operator.addKey(server);
  const whole = (await operator.listAudit()).map((entry) => entry.id);
  expect(new Set(whole).size).toBe(whole.length);
  const seen: string[] = [];
  let next: string | null = null;
  do {
    const cursor: string = next === null ? "" : `&cursor=${next}`;
    const path: string = `/admin/audit?limit=3${cursor}`;
    const page: PageBody<AuditBody> = await readAs(await gatehouse.admin("GET", path));
    expect(page.items.length).toBe(next === null ? 3 : Math.min(3, whole.length - seen.length));
    seen.push(...page.items.map((entry) => entry.id));
    next = page.next;
    if (seen.length < 8) await operator.addKey(server);
  } while (next !== null);
  expect(seen).toEqual(whole);
});

test("actors are identified by their master key and their address", async () => {
  const folder = makeTestFolder();
  const clock = new FakeClock();
  const keys = ["first-master-key-of-a-good-length-1", "second-master-key-of-a-good-length2"];
  for (const [index, GATEHOUSE_MASTER_KEY] of keys.entries()) {
    const env = { GATEHOUSE_UPSTREAM_URL: api.url, GATEHOUSE_MASTER_KEY, GATEHOUSE_TRUST_PROXY: "127.0.0.1" };
    const one = await startGatehouse({ folder, clock, env });
    for (const address of ["203.0.113.7", "2001:db8::7"]) {
      const body = { name: `${index} ${address}`, server_key: "a-b" };
      await one.admin("POST", "/admin/servers", body, { "X-Forwarded-For": address });
    }
    if (index === 1) {
      const actors = (await createOperator(one).listAudit()).map((entry) => entry.actor);
      expect(actors.map((actor) => actor.address)).toEqual([
        "2001:db8::7",
        "203.0.113.7",
        "2001:db8::7",
        "203.0.113.7",
      ]);
      const [a, b, c, d] = actors.map((actor) => actor.id);
      expect([a, c]).toEqual([b, d]);
      expect(a).not.toBe(c);
    }
    await one.app.stop();
  }
  rmSync(folder, { recursive: true, force: true });
});

test("entries are kept for GATEHOUSE_AUDIT_DAYS and forgotten after the next start", async () => {
  const folder = makeTestFolder();
  const clock = new FakeClock();
  const start = (days?: string) =>
    startGatehouse({
      folder,
      clock,
      env: { GATEHOUSE_UPSTREAM_URL: api.url, ...(days !== undefined && { GATEHOUSE_AUDIT_DAYS: days }) },
    });
  const namesIn = async (one: TestGatehouse) => {
    const entries = await createOperator(one).listAudit();
    return entries.map((entry) => (entry.details.after as { name: string }).name);
  };
  const first = await start("2");
  await createOperator(first).addServer({ name: "old" });
  clock.advance(DAY_MS);
  await createOperator(first).addServer({ name: "young" });
  await first.app.stop();

  clock.advance(DAY_MS);
  const second = await start("2");
  expect(await namesIn(second)).toEqual(["young", "old"]);
  await second.app.stop();

  clock.advance(1);
  const third = await start("2");
  await until("the old entry is not forgotten", async () => (await namesIn(third)).length === 1);
  expect(await namesIn(third)).toEqual(["young"]);
  expect(await createOperator(third).list("/admin/servers")).toHaveLength(2);
  await third.app.stop();

  clock.advance(300 * DAY_MS);
  const byDefault = await start();
  expect(await namesIn(byDefault)).toEqual(["young"]);
  await byDefault.app.stop();
  rmSync(folder, { recursive: true, force: true });
});

test("one entry is shown by its id; an id that never was is 404", async () => {
  await operator.addServer();
  const [entry] = await operator.listAudit();
  const shown = await gatehouse.admin("GET", `/admin/audit/${entry?.id}`);
  expect(await readAs<AuditBody>(shown)).toEqual(entry as AuditBody);
  for (const id of ["aud_zzzz", "aud_", "1"]) {
    expect((await gatehouse.admin("GET", `/admin/audit/${id}`)).status).toBe(404);
  }
});

test("an entry cannot be altered, not even in the database itself", async () => {
  await operator.addServer();
  const before = await operator.listAudit();
  const db = new Database(join(gatehouse.folder, "gatehouse.db"));
  db.exec("PRAGMA busy_timeout = 2000");
  for (const change of [
    "UPDATE audit SET details = '{}'",
    "UPDATE audit SET at = at + 1",
    "UPDATE audit SET actor = '{}' WHERE seq = 1",
    "UPDATE OR REPLACE audit SET seq = seq + 1",
  ]) {
    expect(() => db.exec(change)).toThrow(/append-only/);
  }
  db.close();
  expect(await operator.listAudit()).toEqual(before);
});
