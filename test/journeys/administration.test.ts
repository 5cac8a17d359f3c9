// The admin API over HTTP, endpoint by endpoint: what an operator creates, reads, changes and deletes.
import { beforeEach, describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { DAY_MS } from "../../src/core/durations.ts";
import { StartRefused } from "../../src/core/errors.ts";
import { isWellFormedToken } from "../../src/core/keys/token.ts";
import { TOKENS_IN_GRACE_MAX } from "../../src/core/ports/keys.ts";
import { SECTIONS } from "../../src/core/sections.ts";
import { operatorEn } from "../../src/dashboard/locales/operator-en.ts";
import { BASE_INFO } from "../fake-game-api.ts";
import { startGatehouse, type TestGatehouse } from "../start-gatehouse.ts";
import {
  createOperator,
  expectRefusal,
  type KeyBody,
  type NewKeyBody,
  type PageBody,
  readAs,
  type ServerBody,
} from "./operator.ts";
import { openStage } from "./stage.ts";

const PATH = "/v2/game/server";
const NOT_FOUND = { code: 5020, message: "not_found" };
const REVOKED_TOKEN = { code: 5008, message: "invalid_token" };
const WRONG_KEY = { code: 5006, message: "invalid_master_key" };
/** A valid master key, but not the right one. */
const WRONG = "wrong-master-key-wrong-master-key-0";

/** Every admin path, and the methods it answers. */
const ADMIN_PATHS: readonly [path: string, allow: string][] = [
  ["/admin/servers", "GET, HEAD, POST"],
  ["/admin/servers/srv_x", "GET, HEAD, PATCH, DELETE"],
  ["/admin/servers/srv_x/info", "GET, HEAD"],
  ["/admin/keys", "GET, HEAD, POST"],
  ["/admin/keys/key_x", "GET, HEAD, PATCH, DELETE"],
  ["/admin/keys/key_x/rotate", "POST"],
  ["/admin/blocks", "GET, HEAD"],
  ["/admin/blocks/key_x", "DELETE"],
  ["/admin/commands", "GET, HEAD"],
  ["/admin/commands/cmd_x", "GET, HEAD, DELETE"],
  ["/admin/upstream", "GET, HEAD"],
  ["/admin/upstream/resume", "POST"],
  ["/admin/audit", "GET, HEAD"],
  ["/admin/audit/aud_x", "GET, HEAD"],
];

const LISTS = ["/admin/servers", "/admin/keys", "/admin/blocks", "/admin/commands", "/admin/audit"];

let server: ServerBody;

const { game: api, gatehouse, operator } = await openStage();
beforeEach(async () => {
  // A minute later no address is refused for guessing, and every snapshot is stale.
  gatehouse.clock.advance(60_000);
  api.answer = () => Response.json(BASE_INFO);
  api.calls.length = 0;
  server = await operator.addServer();
});

const statusOf = async (token: string, path = PATH) => (await gatehouse.get(path, token)).status;

function guess(key: string = WRONG, headers: Record<string, string> = {}, at = gatehouse): Promise<Response> {
  return at.get("/admin/servers", key, headers);
}

async function block({ token }: { token: string }): Promise<void> {
  await Promise.all(Array.from({ length: 520 }, () => gatehouse.get(PATH, token)));
}

describe("the master key", () => {
  test("every admin path requires it: none is 401/5007, a wrong one is 401/5006, and nothing is changed", async () => {
    const before = await operator.captureState();
    for (const [path, allow] of ADMIN_PATHS) {
      for (const method of allow.split(", ").filter((name) => name !== "HEAD")) {
        const none = await fetch(gatehouse.url + path, { method });
        expect(none.headers.get("www-authenticate")).toBe("Bearer");
        await expectRefusal(none, 401, { code: 5007, message: "missing_token" });
        const wrong = await fetch(gatehouse.url + path, {
          method,
          headers: { Authorization: `Bearer ${WRONG}` },
        });
        expect(wrong.headers.get("www-authenticate")).toBe("Bearer");
        await expectRefusal(wrong, 401, WRONG_KEY);
        gatehouse.clock.advance(60_000);
      }
    }
    expect(await operator.captureState()).toEqual(before);
  });

  test("an API key, a key with more or less to it, and two values are not the master key", async () => {
    const { token } = await operator.addKey(server);
    const { masterKey } = gatehouse;
    for (const key of [
      token,
      `${masterKey}x`,
      masterKey.slice(0, -1),
      masterKey.toLowerCase(),
      `${masterKey} ${masterKey}`,
    ]) {
      await expectRefusal(await guess(key), 401, WRONG_KEY);
    }
  });

  test("the scheme is Bearer in any case; another one is no key at all", async () => {
    const withHeader = (value: string) => gatehouse.admin("GET", "/admin/servers", undefined, { Authorization: value });
    expect((await withHeader(`bEARER ${gatehouse.masterKey}`)).status).toBe(200);
    for (const value of [`Basic ${gatehouse.masterKey}`, "Bearer", gatehouse.masterKey]) {
      await expectRefusal(await withHeader(value), 401, { code: 5007, message: "missing_token" });
    }
  });

  test("ten wrong keys a minute are answered; the 11th and later ones are 429/5107 until the minute is over", async () => {
    for (let i = 0; i < 10; i++) await expectRefusal(await guess(), 401, WRONG_KEY);
    gatehouse.clock.advance(14_500);
    for (let i = 0; i < 3; i++) {
      const refused = await guess(`${WRONG}${i}`);
      expect(refused.headers.get("retry-after")).toBe("46");
      await expectRefusal(refused, 429, { code: 5107, message: "too_many_attempts", retry_after: 46 });
    }
    gatehouse.clock.advance(45_499);
    const last = await guess();
    expect(last.headers.get("retry-after")).toBe("1");
    await expectRefusal(last, 429, { code: 5107, message: "too_many_attempts", retry_after: 1 });
    gatehouse.clock.advance(1);
    for (let i = 0; i < 10; i++) await expectRefusal(await guess(), 401, WRONG_KEY);
    expect((await guess()).status).toBe(429);
  });

  test("a missing key is not counted, and the right key is accepted while its address is refused, without resetting the count", async () => {
    for (let i = 0; i < 30; i++) expect((await gatehouse.get("/admin/keys")).status).toBe(401);
    for (let i = 0; i < 10; i++) await expectRefusal(await guess(), 401, WRONG_KEY);
    expect((await guess()).status).toBe(429);
    expect((await gatehouse.admin("GET", "/admin/servers")).status).toBe(200);
    await expectRefusal(await gatehouse.get("/admin/servers"), 401, { code: 5007, message: "missing_token" });
    expect((await guess()).status).toBe(429);
  });

  test("wrong keys on all admin paths count together, and do not affect API keys of that address", async () => {
    const key = await operator.addKey(server);
    for (let i = 0; i < 10; i++) await gatehouse.get(ADMIN_PATHS[i % 2 === 0 ? 2 : 9]?.[0] ?? "", WRONG);
    expect((await guess()).status).toBe(429);
    expect(await statusOf(key.token)).toBe(200);
  });

  test("forged X-Forwarded-For makes no other address", async () => {
    for (let i = 0; i < 10; i++) await guess(WRONG, { "X-Forwarded-For": `203.0.113.${i}` });
    expect((await guess(WRONG, { "X-Forwarded-For": "203.0.113.99" })).status).toBe(429);
  });

  test.each([
    ["of 32 characters", "x".repeat(32)],
    ["of 600 characters", "x".repeat(600)],
    ["with a comma in it", `${"x".repeat(16)},${"y".repeat(16)}`],
    ["of signs", "!\"#$%&'()*+-./:;<=>?@[\\]^_`{|}~~~"],
  ])("a master key %s is refused at the start or always let in", async (_, masterKey) => {
    const env = { GATEHOUSE_UPSTREAM_URL: api.url, GATEHOUSE_MASTER_KEY: masterKey };
    const started = await startGatehouse({ env }).catch((error: unknown) => error);
    if (started instanceof StartRefused) return;
    const one = started as TestGatehouse;
    const answer = await one.admin("GET", "/admin/servers");
    await one.stop();
    expect(answer.status).toBe(200);
  });

  test("behind a trusted proxy wrong keys are counted by the client's address", async () => {
    const proxied = await startGatehouse({
      env: { GATEHOUSE_UPSTREAM_URL: api.url, GATEHOUSE_TRUST_PROXY: "127.0.0.1" },
    });
    const from = (address: string) => guess(WRONG, { "X-Forwarded-For": `10.9.9.9, ${address}` }, proxied);
    for (let i = 0; i < 10; i++) expect((await from("203.0.113.7")).status).toBe(401);
    expect((await from("203.0.113.7")).status).toBe(429);
    expect((await from("::ffff:203.0.113.7")).status).toBe(429);
    expect((await from("203.0.113.8")).status).toBe(401);
    await proxied.stop();
  });
});

describe("paths and methods", () => {
  test("an unknown path under /admin is 404/5020 before the key is checked", async () => {
    for (const path of [
      "/admin",
      "/admin/",
      "/admin/servers/",
      "/admin/nothing",
      "/admin/servers/srv_x/keys",
      "/admin/keys/key_x/rotate/",
      "/admin/keys//rotate",
      "/admin/blocks/",
      "/admin/audit/1/",
      "/Admin/servers",
    ]) {
      for (const method of ["GET", "POST", "DELETE"]) {
        await expectRefusal(await fetch(gatehouse.url + path, { method }), 404, NOT_FOUND);
      }
      await expectRefusal(await gatehouse.get(path, gatehouse.masterKey), 404, NOT_FOUND);
    }
  });

  test("a wrong method is 405/5101 and says which are allowed, before the key is checked", async () => {
    for (const [path, allow] of ADMIN_PATHS) {
      const wrong = ["GET", "POST", "PATCH", "PUT", "DELETE", "OPTIONS"].filter(
        (name) => !allow.split(", ").includes(name),
      );
      expect(wrong.length).toBeGreaterThan(1);
      for (const method of wrong) {
        const response = await fetch(gatehouse.url + path, { method });
        expect(response.headers.get("allow")).toBe(allow);
        await expectRefusal(response, 405, { code: 5101, message: "method_not_allowed" });
      }
    }
  });

  test("an id that never was, or is of another kind, is 404/5020 for everything that takes one", async () => {
    const { key_id } = await operator.addKey(server);
    for (const [method, path, body] of [
      ["GET", "/admin/servers/srv_never", undefined],
      ["GET", `/admin/servers/${key_id}`, undefined],
      ["PATCH", "/admin/servers/srv_never", { name: "x" }],
      ["DELETE", "/admin/servers/srv_never", undefined],
      ["DELETE", `/admin/servers/${key_id}`, undefined],
      ["GET", "/admin/keys/key_never", undefined],
      ["GET", `/admin/keys/${server.server_id}`, undefined],
      ["PATCH", "/admin/keys/key_never", { label: "x" }],
      ["DELETE", "/admin/keys/key_never", undefined],
      ["DELETE", `/admin/keys/${server.server_id}`, undefined],
      ["POST", "/admin/keys/key_never/rotate", {}],
      ["DELETE", "/admin/blocks/key_never", undefined],
      ["DELETE", `/admin/blocks/${server.server_id}`, undefined],
      ["GET", "/admin/commands/cmd_never", undefined],
      ["DELETE", "/admin/commands/cmd_never", undefined],
      ["GET", "/admin/keys/__proto__", undefined],
      ["GET", "/admin/servers/%00", undefined],
      ["GET", `/admin/keys/${"x".repeat(3000)}`, undefined],
    ] as const) {
      await expectRefusal(await gatehouse.admin(method, path, body), 404, NOT_FOUND);
    }
  });

  test("no answer of the admin API may be cached", async () => {
    const key = await operator.addKey(server);
    for (const path of ["/admin/servers", `/admin/keys/${key.key_id}`, "/admin/keys/key_never", "/admin/audit"]) {
      expect((await gatehouse.admin("GET", path)).headers.get("cache-control")).toBe("no-store");
    }
    const rotated = await gatehouse.admin("POST", `/admin/keys/${key.key_id}/rotate`);
    expect(rotated.headers.get("cache-control")).toBe("no-store");
  });

  test("requests of an operator do not count toward any key's limit", async () => {
    for (let i = 0; i < 130; i++) await (await gatehouse.admin("GET", "/admin/blocks")).text();
    expect((await gatehouse.admin("GET", "/admin/blocks")).status).toBe(200);
  });
});

describe("servers", () => {
  test("a server is watched unless its operator says otherwise", async () => {
    const made = await operator.addServer({ name: "Watched", server_key: "a-b" });
    expect(made.watch).toBe(true);
    const path = `/admin/servers/${made.server_id}`;
    const changed = await readAs<ServerBody>(await gatehouse.admin("PATCH", path, { watch: false }));
    expect(changed).toMatchObject({ watch: false, name: "Watched" });
    expect(await readAs<ServerBody>(await gatehouse.admin("GET", path))).toEqual(changed);
    const unwatched = await operator.addServer({ name: "Unwatched", server_key: "a-b", watch: false });
    expect(unwatched).toMatchObject({ watch: false, watching: { state: "off", interval_ms: null } });
    for (const watch of ["on", 1, null]) {
      const refused = await gatehouse.admin("PATCH", path, { watch });
      expect(await refused.json()).toMatchObject({ code: 5104, details: { watch: "must be true or false" } });
    }
  });

  test("creating a server is 201 with the server, without its key, and causes no call to the game API", async () => {
    const body = { name: "Köln 東京 🚓", server_key: "abc-DEF9", community: "town_1-x" };
    const made = await readAs<ServerBody>(await gatehouse.admin("POST", "/admin/servers", body), 201);
    expect(made).toEqual({
      server_id: expect.stringMatching(/^srv_[0-9A-Za-z]+$/),
      name: "Köln 東京 🚓",
      community: "town_1-x",
      created_at: gatehouse.clock.now,
      simulated: false,
      watch: true,
      public_status: null,
      owners_sign_in: false,
      state: "not_asked",
      players: null,
      max_players: null,
      queue: null,
      open_modcalls: null,
      open_calls: null,
      last_read_at: null,
      last_error: null,
      watching: {
        state: "off",
        interval_ms: null,
        last_reading_at: null,
        reason: expect.any(String),
      },
    });
    expect(await readAs<object>(await gatehouse.admin("GET", `/admin/servers/${made.server_id}`))).toEqual(made);
    expect(await operator.list<ServerBody>("/admin/servers")).toContainEqual(made);
    expect(api.calls).toHaveLength(0);
  });

  test("a community that is left out, or null, is null", async () => {
    expect(server.community).toBeNull();
    expect((await operator.addServer({ community: null })).community).toBeNull();
  });

  test("names and communities of the greatest length are taken, counted in code points", async () => {
    const made = await operator.addServer({ name: "🚓".repeat(100), community: "c".repeat(64) });
    expect(made).toMatchObject({ name: "🚓".repeat(100), community: "c".repeat(64) });
  });

  test("PATCH answers with the server; omitted fields stay, null clears, and the next request sees the change", async () => {
    const made = await operator.addServer({ name: "Before", community: "before", server_key: "old-Key" });
    const key = await operator.addKey(made);
    const path = `/admin/servers/${made.server_id}`;
    const patch = async (body: object) => readAs<object>(await gatehouse.admin("PATCH", path, body));
    expect(await statusOf(key.token, "/v2/before/game/server")).toBe(200);
    const town = await readAs<ServerBody>(await gatehouse.admin("GET", path));

    expect(await patch({ name: "After" })).toEqual({ ...town, name: "After" });
    expect(await statusOf(key.token, "/v2/before/game/server")).toBe(200);
    expect(await patch({ community: "after" })).toEqual({ ...town, name: "After", community: "after" });
    expect(await statusOf(key.token, "/v2/before/game/server")).toBe(403);
    expect(await statusOf(key.token, "/v2/after/game/server")).toBe(200);
    expect(await patch({ community: null })).toEqual({ ...town, name: "After", community: null });
    expect(await statusOf(key.token, "/v2/anything/game/server")).toBe(200);
    expect(await patch({})).toEqual({ ...town, name: "After", community: null });
    expect(await readAs<object>(await gatehouse.admin("GET", path))).toEqual({
      ...town,
      name: "After",
      community: null,
    });
    expect(api.calls.every(({ headers }) => headers.get("server-key") === "old-Key")).toBe(true);
  });

  test("a new server key is used by the very next read, even while the old one's answer is fresh", async () => {
    const town = await operator.addServer({ server_key: "old-Key" });
    const key = await operator.addKey(town);
    await gatehouse.get(PATH, key.token);
    await gatehouse.admin("PATCH", `/admin/servers/${town.server_id}`, { server_key: "new-Key" });
    await gatehouse.get(PATH, key.token);
    expect(api.calls.map(({ headers }) => headers.get("server-key"))).toEqual(["old-Key", "new-Key"]);
  });

  test("setting the same server key again means: try again", async () => {
    const town = await operator.addServer({ server_key: "same-Key" });
    const key = await operator.addKey(town);
    api.answer = () => Response.json({ code: 2002, message: "bad" }, { status: 403 });
    expect(await statusOf(key.token)).toBe(400);
    api.answer = () => Response.json(BASE_INFO);
    expect(await statusOf(key.token)).toBe(400);
    await gatehouse.admin("PATCH", `/admin/servers/${town.server_id}`, { server_key: "same-Key" });
    expect(await statusOf(key.token)).toBe(200);
  });

  test("a name belongs to one server at a time, and is free again when that one is renamed or gone", async () => {
    const first = await operator.addServer({ name: "Only one" });
    const reasons = { name: { code: "name_taken" } };
    const taken = { code: 5104, message: "invalid_request", details: { name: expect.any(String) }, reasons };
    const again = { name: "Only one", server_key: "a-b" };
    await expectRefusal(await gatehouse.admin("POST", "/admin/servers", again), 400, taken);
    const rename = (to: string) => gatehouse.admin("PATCH", `/admin/servers/${server.server_id}`, { name: to });
    await expectRefusal(await rename("Only one"), 400, taken);
    expect((await rename(server.name)).status).toBe(200);
    await gatehouse.admin("PATCH", `/admin/servers/${first.server_id}`, { name: "Another" });
    const second = await operator.addServer(again);
    await gatehouse.admin("DELETE", `/admin/servers/${second.server_id}`);
    expect((await operator.addServer(again)).name).toBe("Only one");
  });

  test("the dashboard can translate every reason for refusing a field of its forms", async () => {
    const { key_id } = await operator.addKey(server);
    const { name } = await operator.addServer({ name: "Taken" });
    const other = await operator.addKey(server);
    await gatehouse.admin("DELETE", `/admin/keys/${other.key_id}`);
    const refusals: [method: string, path: string, body: object][] = [
      ["POST", "/admin/servers", { name, server_key: "a-b" }],
      ["POST", "/admin/servers", { name: "x" }],
      ["POST", "/admin/keys", { server_id: "srv_gone", label: "x" }],
      ["PATCH", `/admin/keys/${key_id}`, { commands: [":h", ":H"] }],
      ["PATCH", `/admin/keys/${key_id}`, { commands: [":h", "h"] }],
      ["PATCH", `/admin/keys/${key_id}`, { ip_allow: ["10.0.0.1", "nowhere"] }],
      ["PATCH", `/admin/keys/${key_id}`, { expires_at: 1 }],
      ["PATCH", `/admin/keys/${other.key_id}`, { label: "y" }],
    ];
    for (const [method, path, body] of refusals) {
      const { details, reasons } = (await (await gatehouse.admin(method, path, body)).json()) as {
        details: Record<string, string>;
        reasons: Record<string, { code: string }>;
      };
      for (const field of Object.keys(details)) {
        const code = reasons[field]?.code ?? "";
        expect(operatorEn.operatorReasons).toHaveProperty(code === "invalid" ? `invalid.${field}` : code);
      }
    }
  });

  test("of many concurrent requests for one name, one gets it, however slow the store is", async () => {
    const { store } = gatehouse.app;
    const { findByName } = store.servers;
    store.servers.findByName = async (name) => {
      const found = await findByName.call(store.servers, name);
      await new Promise((resolve) => setTimeout(resolve, 1));
      return found;
    };
    const body = { name: "In demand", server_key: "a-b" };
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => gatehouse.admin("POST", "/admin/servers", body)),
    );
    store.servers.findByName = findByName;
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(19);
  });

  test("deleting a server revokes its keys and says how many, also when it is repeated; other servers keep theirs", async () => {
    const doomed = await operator.addServer();
    const keys = [await operator.addKey(doomed), await operator.addKey(doomed), await operator.addKey(doomed)];
    const other = await operator.addKey(server);
    const [first, second, third] = keys;
    if (!first || !second || !third) throw new Error("three keys were made");
    await operator.revoke(third);
    await operator.rotate(second, { grace_seconds: 600 });
    expect(await statusOf(first.token)).toBe(200);
    gatehouse.clock.advance(5);

    const path = `/admin/servers/${doomed.server_id}`;
    const remove = async () => readAs<object>(await gatehouse.admin("DELETE", path));
    expect(await remove()).toEqual({ revoked_keys: 2, failed_commands: 0 });
    for (const { token } of keys) await expectRefusal(await gatehouse.get(PATH, token), 401, REVOKED_TOKEN);
    expect(await remove()).toEqual({ revoked_keys: 0, failed_commands: 0 });
    expect(await remove()).toEqual({ revoked_keys: 0, failed_commands: 0 });

    await expectRefusal(await gatehouse.admin("GET", path), 404, NOT_FOUND);
    await expectRefusal(await gatehouse.admin("PATCH", path, { name: "x" }), 404, NOT_FOUND);
    expect((await operator.list<ServerBody>("/admin/servers")).map((one) => one.server_id)).not.toContain(
      doomed.server_id,
    );
    expect((await operator.showKey(first)).revoked_at).toBe(gatehouse.clock.now);
    expect((await operator.showKey(third)).revoked_at).toBe(gatehouse.clock.now - 5);
    expect(await statusOf(other.token)).toBe(200);
  });
});

describe("keys", () => {
  test("a new key is 201 with its token and the documented defaults; the token works at once", async () => {
    const body = { server_id: server.server_id, label: "bot" };
    const made = await readAs<NewKeyBody>(await gatehouse.admin("POST", "/admin/keys", body), 201);
    expect(made).toEqual({
      key_id: expect.stringMatching(/^key_[0-9A-Za-z]+$/),
      server_id: server.server_id,
      label: "bot",
      state: "active",
      versions: ["v2"],
      sections: [...SECTIONS],
      commands: [],
      hide: [],
      may: [],
      ip_allow: [],
      expires_at: null,
      suspended: false,
      created_at: gatehouse.clock.now,
      last_used_at: null,
      revoked_at: null,
      token: expect.any(String),
      facade_key: expect.any(String),
    });
    expect(isWellFormedToken(made.token)).toBe(true);
    expect(await statusOf(made.token)).toBe(200);
  });

  test("a key keeps every right it is given, empty lists included", async () => {
    const rights = {
      label: "é".repeat(100),
      versions: [],
      sections: [],
      commands: [":h", ":M"],
      ip_allow: ["203.0.113.7", "10.0.0.0/8", "2001:db8::/32", "::ffff:1.2.3.4"],
      expires_at: gatehouse.clock.now + 1,
    };
    expect(await operator.addKey(server, rights)).toMatchObject(rights);
    const withoutColon = await operator.addKey(server, { commands: ["h", ":M", "/x"] });
    expect(withoutColon).toMatchObject({ commands: [":h", ":M", "/x"] });
    expect(await operator.addKey(server, { versions: ["v1", "v2"], commands: ["*"] })).toMatchObject({
      versions: ["v1", "v2"],
      commands: ["*"],
    });
  });

  test("a key is shown with its usage, and listed without; its token is in neither", async () => {
    const { token, facade_key, ...key } = await operator.addKey(server);
    const shown = await operator.showKey(key);
    expect(shown).toEqual({ ...key, grace_tokens: [], usage: { requests: 0, refusals: {}, hours: [] } });
    const listed = await operator.list<KeyBody>("/admin/keys");
    expect(listed).toContainEqual(key);
    expect(JSON.stringify([shown, listed])).not.toContain(token);
  });

  test("keys are searched by a part of the label, by server and by state, in pages", async () => {
    const other = await operator.addServer();
    const bots = [
      await operator.addKey(other, { label: "Searched Bot" }),
      await operator.addKey(server, { label: "the SEARCHED one" }),
      await operator.addKey(other, { label: "searched and suspended" }),
    ] as const;
    await operator.changeKey(bots[2], { suspended: true });
    const search = async (query: string) => {
      const page = await readAs<PageBody<KeyBody>>(await gatehouse.admin("GET", `/admin/keys?${query}`));
      return { ids: page.items.map((key) => key.key_id), next: page.next };
    };
    const idsOf = (...places: (0 | 1 | 2)[]) => places.map((place) => bots[place].key_id);
    expect(await search("label=searched")).toEqual({ ids: idsOf(0, 1, 2), next: null });
    expect(await search(`label=SearcheD&server_id=${other.server_id}`)).toMatchObject({ ids: idsOf(0, 2) });
    expect(await search("label=searched&state=suspended")).toMatchObject({ ids: idsOf(2) });
    expect(await search("label=searched&state=active")).toMatchObject({ ids: idsOf(0, 1) });
    expect(await search("label=never+seen")).toEqual({ ids: [], next: null });
    const first = await search("label=searched&limit=2");
    expect(first.ids).toEqual(idsOf(0, 1));
    expect(await search(`label=searched&limit=2&cursor=${first.next}`)).toEqual({
      ids: idsOf(2),
      next: null,
    });
    // An empty value asks for nothing.
    expect((await search("label=&state=")).ids).toEqual((await search("")).ids);
  });

  test("a search that cannot be is refused, naming the field", async () => {
    const states = "must be one of revoked, expired, suspended, blocked, active";
    for (const query of ["state=Active", "state=gone", "state=active&state=active"]) {
      const refusal = { code: 5104, message: "invalid_request", details: { state: states } };
      await expectRefusal(await gatehouse.admin("GET", `/admin/keys?${query}`), 400, refusal);
    }
    for (const query of [`label=${"x".repeat(101)}`, "label=a&label=b"]) {
      const details = { label: "must be a part of a label, at most 100 characters" };
      const refusal = { code: 5104, message: "invalid_request", details };
      await expectRefusal(await gatehouse.admin("GET", `/admin/keys?${query}`), 400, refusal);
    }
  });

  test("a key shows its state wherever it is shown", async () => {
    const key = await operator.addKey(server);
    expect(key.state).toBe("active");
    const shown = async () => [
      (await operator.showKey(key)).state,
      (await operator.list<KeyBody>("/admin/keys")).find(({ key_id }) => key_id === key.key_id)?.state,
      (await operator.changeKey(key, {})).state,
    ];
    await block(key);
    expect(await shown()).toEqual(["blocked", "blocked", "blocked"]);
    await operator.changeKey(key, { suspended: true });
    expect(await shown()).toEqual(["suspended", "suspended", "suspended"]);
    await operator.changeKey(key, { suspended: false, expires_at: gatehouse.clock.now + 1 });
    gatehouse.clock.advance(1);
    expect(await shown()).toEqual(["expired", "expired", "expired"]);
    await operator.revoke(key);
    expect((await operator.showKey(key)).state).toBe("revoked");
  });

  test("keys are listed oldest first, for all servers or one", async () => {
    const other = await operator.addServer();
    const keys = [await operator.addKey(other), await operator.addKey(server), await operator.addKey(other)];
    await operator.revoke(keys[0] ?? { key_id: "" });
    const ofServer = async (id: string) => {
      const page = await readAs<PageBody<KeyBody>>(await gatehouse.admin("GET", `/admin/keys?server_id=${id}`));
      return page.items.map((key) => key.key_id);
    };
    expect(await ofServer(other.server_id)).toEqual([keys[0]?.key_id ?? "", keys[2]?.key_id ?? ""]);
    expect(await ofServer(server.server_id)).toEqual([keys[1]?.key_id ?? ""]);
    expect(await ofServer("srv_never")).toEqual([]);
    const all = (await operator.list<KeyBody>("/admin/keys")).map((key) => key.key_id);
    expect(all.slice(-3)).toEqual(keys.map((key) => key.key_id));
  });

  test("PATCH answers with the key; omitted fields stay", async () => {
    const given = {
      versions: ["v1", "v2"],
      sections: ["Players"],
      commands: [":h"],
      ip_allow: ["127.0.0.1"],
    };
    const expires_at = gatehouse.clock.now + DAY_MS;
    const { token, facade_key, ...key } = await operator.addKey(server, { ...given, expires_at });
    let expected: KeyBody = key;
    for (const change of [
      { label: "renamed" },
      { suspended: true },
      { suspended: false },
      { versions: [] },
      { sections: ["Vehicles", "Staff"] },
      { sections: [] },
      { commands: ["*"] },
      { ip_allow: [] },
      { expires_at: expires_at + 1 },
      { expires_at: null },
      {},
      {
        label: "all",
        versions: ["v2"],
        sections: ["Queue"],
        commands: [],
        ip_allow: ["::1"],
        suspended: true,
      },
    ]) {
      const shown =
        "sections" in change && change.sections?.length === 2 ? { sections: ["Staff", "Vehicles"] } : change;
      expected = { ...expected, ...(shown as Partial<KeyBody>) };
      expected = { ...expected, state: expected.suspended ? "suspended" : "active" };
      expect(await operator.changeKey(key, change)).toEqual(expected);
      const { usage, grace_tokens, ...found } = await operator.showKey(key);
      expect(found).toEqual(expected);
    }
    expect(await statusOf(token)).toBe(403);
  });

  test("each change is seen by the very next request, even while an answer is cached", async () => {
    const key = await operator.addKey(server);
    const path = `${PATH}?Players=true`;
    const now = gatehouse.clock.now;
    for (const [change, status] of [
      [{}, 200],
      [{ suspended: true }, 403],
      [{ suspended: false }, 200],
      [{ versions: ["v1"] }, 403],
      [{ versions: ["v2"] }, 200],
      [{ sections: ["Staff"] }, 403],
      [{ sections: ["Players"] }, 200],
      [{ ip_allow: ["10.0.0.0/8"] }, 403],
      [{ ip_allow: [] }, 200],
      [{ expires_at: now + 1 }, 200],
    ] as const) {
      await operator.changeKey(key, change);
      expect([change, await statusOf(key.token, path)]).toEqual([change, status]);
    }
    gatehouse.clock.advance(1);
    await expectRefusal(await gatehouse.get(path, key.token), 401, REVOKED_TOKEN);
    await operator.changeKey(key, { expires_at: null });
    expect(await statusOf(key.token, path)).toBe(200);
  });

  test("DELETE revokes: 204 again and again, 5008 from the next request on, and the key stays readable", async () => {
    const { token, facade_key, ...key } = await operator.addKey(server);
    const rotated = await operator.rotate(key, { grace_seconds: 600 });
    expect(await statusOf(token)).toBe(200);
    const revokedAt = gatehouse.clock.now;
    for (let i = 0; i < 3; i++) {
      const response = await gatehouse.admin("DELETE", `/admin/keys/${key.key_id}`);
      expect(response.status).toBe(204);
      expect(await response.text()).toBe("");
      gatehouse.clock.advance(1000);
    }
    for (const old of [token, rotated.token]) {
      await expectRefusal(await gatehouse.get(PATH, old), 401, REVOKED_TOKEN);
    }
    const { usage, grace_tokens, ...shown } = await operator.showKey(key);
    expect(shown).toEqual({ ...key, state: "revoked", last_used_at: revokedAt, revoked_at: revokedAt });
    expect(await operator.list<KeyBody>("/admin/keys")).toContainEqual(shown);
  });

  test("a revoked key can be neither changed nor rotated back to life", async () => {
    const key = await operator.addKey(server);
    await operator.revoke(key);
    const before = await operator.captureState();
    const reasons = { key_id: { code: "revoked" } };
    const refusal = { code: 5104, message: "invalid_request", details: { key_id: expect.any(String) }, reasons };
    const path = `/admin/keys/${key.key_id}`;
    await expectRefusal(await gatehouse.admin("PATCH", path, { suspended: false }), 409, refusal);
    await expectRefusal(await gatehouse.admin("POST", `${path}/rotate`, {}), 409, refusal);
    expect(await operator.captureState()).toEqual(before);
  });
});

describe("rotation", () => {
  test("without grace the old token is refused at once; with or without a body it is the same", async () => {
    for (const body of [undefined, {}, { grace_seconds: 0 }]) {
      const key = await operator.addKey(server);
      const rotated = await operator.rotate(key, body);
      expect(rotated).toEqual({
        key_id: key.key_id,
        token: expect.any(String),
        facade_key: expect.any(String),
        old_token_valid_until: gatehouse.clock.now,
      });
      expect(isWellFormedToken(rotated.token)).toBe(true);
      expect(rotated.token).not.toBe(key.token);
      await expectRefusal(await gatehouse.get(PATH, key.token), 401, REVOKED_TOKEN);
      expect(await statusOf(rotated.token)).toBe(200);
    }
  });

  test("with grace both tokens work until the exact millisecond; then only the new one", async () => {
    const key = await operator.addKey(server);
    const rotated = await operator.rotate(key, { grace_seconds: 30 });
    expect(rotated.old_token_valid_until).toBe(gatehouse.clock.now + 30_000);
    gatehouse.clock.advance(29_999);
    expect(await statusOf(key.token)).toBe(200);
    expect(await statusOf(rotated.token)).toBe(200);
    gatehouse.clock.advance(1);
    await expectRefusal(await gatehouse.get(PATH, key.token), 401, REVOKED_TOKEN);
    expect(await statusOf(rotated.token)).toBe(200);
  });

  test("both tokens share one limit: a rotation does not start a second window", async () => {
    const key = await operator.addKey(server);
    const remaining = async (token: string) => {
      return (await gatehouse.get(PATH, token)).headers.get("x-ratelimit-remaining");
    };
    expect(await remaining(key.token)).toBe("119");
    const rotated = await operator.rotate(key, { grace_seconds: 30 });
    expect(await remaining(rotated.token)).toBe("118");
    expect(await remaining(key.token)).toBe("117");
    const again = await operator.rotate(key);
    expect(await remaining(again.token)).toBe("116");
  });

  test("both tokens share rights and a block", async () => {
    const key = await operator.addKey(server);
    const rotated = await operator.rotate(key, { grace_seconds: 600 });
    await operator.changeKey(key, { suspended: true });
    expect([await statusOf(key.token), await statusOf(rotated.token)]).toEqual([403, 403]);
    await block(key);
    expect((await readAs<{ code: number }>(await gatehouse.get(PATH, rotated.token), 429)).code).toBe(5100);
  });

  test("the token that was just replaced works for its grace, however many older ones are in theirs", async () => {
    const key = await operator.addKey(server);
    let current = key.token;
    for (let i = 0; i < TOKENS_IN_GRACE_MAX; i++) {
      current = (await operator.rotate(key, { grace_seconds: 3600 })).token;
    }
    const rotated = await operator.rotate(key, { grace_seconds: 60 });
    expect(rotated.old_token_valid_until).toBe(gatehouse.clock.now + 60_000);
    expect(await statusOf(current)).toBe(200);
  });

  test("a rotation without grace ends the tokens of earlier rotations too", async () => {
    const key = await operator.addKey(server);
    const second = await operator.rotate(key, { grace_seconds: 3600 });
    const third = await operator.rotate(key, { grace_seconds: 60 });
    const ends = [gatehouse.clock.now + 60_000, gatehouse.clock.now + 3_600_000];
    expect((await operator.showKey(key)).grace_tokens).toEqual(ends.map((end) => ({ valid_until: end })));
    const fourth = await operator.rotate(key);
    expect((await operator.showKey(key)).grace_tokens).toEqual([]);
    for (const { token } of [key, second, third]) {
      await expectRefusal(await gatehouse.get(PATH, token), 401, REVOKED_TOKEN);
    }
    expect(await statusOf(fourth.token)).toBe(200);
  });

  test("rotation changes nothing else of the key", async () => {
    const { token, facade_key, ...key } = await operator.addKey(server, {
      sections: ["Queue"],
      label: "same",
    });
    await operator.rotate(key, { grace_seconds: 30 });
    const { usage, grace_tokens, ...shown } = await operator.showKey(key);
    expect(shown).toEqual(key);
  });
});

describe("blocks", () => {
  test("a block is listed until it is over, with whose it is", async () => {
    const key = await operator.addKey(server, { label: "spammer" });
    await block(key);
    const item = {
      key_id: key.key_id,
      server_id: server.server_id,
      label: "spammer",
      blocked_until: gatehouse.clock.now + 300_000,
    };
    const mine = async () => {
      return (await operator.list<{ key_id: string }>("/admin/blocks")).filter((one) => one.key_id === key.key_id);
    };
    expect(await mine()).toEqual([item]);
    gatehouse.clock.advance(299_999);
    expect(await mine()).toEqual([item]);
    gatehouse.clock.advance(1);
    expect(await mine()).toEqual([]);
  });

  test("lifting a block is 204, again and again, and gives a fresh window at once", async () => {
    const key = await operator.addKey(server);
    await block(key);
    expect(await statusOf(key.token)).toBe(429);
    for (let i = 0; i < 3; i++) {
      const lifted = await gatehouse.admin("DELETE", `/admin/blocks/${key.key_id}`);
      expect(lifted.status).toBe(204);
      expect(await lifted.text()).toBe("");
    }
    const free = await gatehouse.get(PATH, key.token);
    expect(free.status).toBe(200);
    expect(free.headers.get("x-ratelimit-remaining")).toBe("119");
    expect(JSON.stringify(await operator.list("/admin/blocks"))).not.toContain(key.key_id);
  });

  test("lifting one key's block leaves another's in force", async () => {
    const [first, second] = [await operator.addKey(server), await operator.addKey(server)];
    await block(first);
    await block(second);
    await gatehouse.admin("DELETE", `/admin/blocks/${first.key_id}`);
    expect([await statusOf(first.token), await statusOf(second.token)]).toEqual([200, 429]);
  });

  test("blocks are paged like every list", async () => {
    gatehouse.clock.advance(3_600_000);
    const keys = [await operator.addKey(server), await operator.addKey(server), await operator.addKey(server)];
    for (const key of keys) await block(key);
    const seen: string[] = [];
    let next: string | null = null;
    do {
      const query: string = next === null ? "?limit=2" : `?limit=2&cursor=${next}`;
      const page: PageBody<{ key_id: string }> = await readAs(await gatehouse.admin("GET", `/admin/blocks${query}`));
      expect(page.items.length).toBeLessThanOrEqual(2);
      seen.push(...page.items.map((item) => item.key_id));
      next = page.next;
    } while (next !== null);
    expect(seen.toSorted()).toEqual(keys.map((key) => key.key_id).toSorted());
  });
});

describe("commands", () => {
  type CommandBody = {
    readonly command_id: string;
    readonly status: string;
    readonly position: number | null;
  };

  test("the queue is listed for all servers or one, newest first; deleting the server fails what waits, visibly", async () => {
    const arrived = Promise.withResolvers<void>();
    const held = Promise.withResolvers<Response>();
    api.answer = () => {
      arrived.resolve();
      return held.promise;
    };
    const busy = await operator.addServer();
    const key = await operator.addKey(busy, { commands: ["*"] });
    const headers = { Authorization: `Bearer ${key.token}` };
    const ids: string[] = [];
    for (const command of [":h one", ":h two", ":h three"]) {
      const response = await gatehouse.admin("POST", "/v2/game/server/command", { command }, headers);
      ids.unshift((await readAs<CommandBody>(response, 202)).command_id);
      await arrived.promise;
    }
    const list = async (query: string) => {
      return (await readAs<PageBody<CommandBody>>(await gatehouse.admin("GET", `/admin/commands${query}`))).items;
    };
    const listed = await list(`?server_id=${busy.server_id}`);
    expect(listed.map((item) => [item.command_id, item.status, item.position])).toEqual([
      [ids[0] ?? "", "queued", 2],
      [ids[1] ?? "", "queued", 1],
      [ids[2] ?? "", "sending", null],
    ]);
    expect(listed[0]).toEqual({
      command_id: ids[0] ?? "",
      server_id: busy.server_id,
      key_id: key.key_id,
      key_label: key.label,
      sent_by: { kind: "key", id: key.key_id, name: key.label },
      command: ":h three",
      status: "queued",
      position: 2,
      queued_at: gatehouse.clock.now,
      sent_at: null,
      finished_at: null,
      confirmed_at: null,
      upstream_code: null,
      upstream_message: null,
    } as CommandBody);
    expect((await list("")).map((item) => item.command_id).slice(0, 3)).toEqual(ids);
    expect(await list(`?server_id=${server.server_id}`)).toEqual([]);

    const removed = await gatehouse.admin("DELETE", `/admin/servers/${busy.server_id}`);
    expect(await readAs<object>(removed)).toEqual({ revoked_keys: 1, failed_commands: 2 });
    const states = (await list(`?server_id=${busy.server_id}`)).map((item) => item.status);
    expect(states.slice(0, 2)).toEqual(["failed", "failed"]);
    held.resolve(Response.json({}));
    expect(api.calls.filter(({ url }) => url.endsWith("/command"))).toHaveLength(1);
  });
});

describe("lists", () => {
  test("a list is {items, next}: 50 by default, 200 at most, next is null at the end", async () => {
    const crowded = await operator.addServer();
    const ids: string[] = [];
    for (let i = 0; i < 205; i++) ids.push((await operator.addKey(crowded)).key_id);
    const path = `/admin/keys?server_id=${crowded.server_id}`;
    const idsOf = async (query: string) => {
      const page = await readAs<PageBody<KeyBody>>(await gatehouse.admin("GET", path + query));
      expect(Object.keys(page)).toEqual(["items", "next"]);
      return { ids: page.items.map((key) => key.key_id), next: page.next };
    };
    expect((await idsOf("")).ids).toEqual(ids.slice(0, 50));
    expect((await idsOf("&limit=1")).ids).toEqual(ids.slice(0, 1));
    const most = await idsOf("&limit=200");
    expect(most.ids).toEqual(ids.slice(0, 200));
    expect(await idsOf(`&limit=200&cursor=${most.next}`)).toEqual({ ids: ids.slice(200), next: null });
    expect(await idsOf(`&limit=5&cursor=${most.next}`)).toEqual({ ids: ids.slice(200), next: null });
  });

  test("a reader who follows the cursors sees every item once, while items are added and changed", async () => {
    const crowded = await operator.addServer();
    const early: KeyBody[] = [];
    for (let i = 0; i < 7; i++) early.push(await operator.addKey(crowded));
    const added: string[] = [];
    const seen: string[] = [];
    let next: string | null = null;
    do {
      const cursor: string = next === null ? "" : `&cursor=${next}`;
      const path: string = `/admin/keys?server_id=${crowded.server_id}&limit=2${cursor}`;
      const page: PageBody<KeyBody> = await readAs(await gatehouse.admin("GET", path));
      seen.push(...page.items.map((key) => key.key_id));
      next = page.next;
      if (added.length < 3) added.push((await operator.addKey(crowded)).key_id);
      await operator.revoke(early[added.length] ?? { key_id: "" });
    } while (next !== null);
    expect(seen).toEqual([...early.map((key) => key.key_id), ...added]);
  });

  test("servers are paged the same way, and one that is deleted under the cursor ends nothing", async () => {
    const ids = [];
    for (let i = 0; i < 5; i++) ids.push((await operator.addServer()).server_id);
    const all = (await operator.list<ServerBody>("/admin/servers")).map((one) => one.server_id);
    expect(all.slice(-5)).toEqual(ids);
    const pageOf = async (query: string) => {
      return readAs<PageBody<ServerBody>>(await gatehouse.admin("GET", `/admin/servers?${query}`));
    };
    const seen: string[] = [];
    let page = await pageOf("limit=2");
    for (;;) {
      seen.push(...page.items.map((one) => one.server_id));
      const last = seen.at(-1) ?? "";
      if (ids.includes(last)) await gatehouse.admin("DELETE", `/admin/servers/${last}`);
      if (page.next === null) break;
      page = await pageOf(`limit=2&cursor=${page.next}`);
    }
    expect(seen).toEqual(all);
  });

  test("a limit that is no whole number from 1 to 200, or a cursor that was never given, is 400/5104", async () => {
    const bad: [field: string, query: string][] = [
      ...["0", "201", "-1", "1.5", "1e1", "", "abc", "0x10", "99999999999999999999", "%31%20"].map(
        (limit): [string, string] => ["limit", `limit=${limit}`],
      ),
      ["limit", "limit=5&limit=6"],
      ["cursor", "cursor="],
      ["cursor", "cursor=%00"],
      ["cursor", "cursor='%20OR%201=1"],
      ["cursor", `cursor=${"x".repeat(1000)}`],
      ["cursor", "cursor=1&cursor=2"],
    ];
    for (const path of LISTS) {
      for (const [field, query] of bad) {
        await expectRefusal(await gatehouse.admin("GET", `${path}?${query}`), 400, {
          code: 5104,
          message: "invalid_request",
          details: { [field]: expect.any(String) },
        });
      }
    }
  });

  test("a cursor that looks right and never was given is an answer or a 400, never a fault", async () => {
    for (const path of LISTS) {
      for (const cursor of ["-1", "_", "NaN", "Infinity", "z".repeat(200), "key_x", "0.5", "-zz"]) {
        expect([200, 400]).toContain((await gatehouse.admin("GET", `${path}?cursor=${cursor}`)).status);
      }
    }
  });

  test("a server_id in a query that is no server's id is 400/5104", async () => {
    for (const id of ["", "key_x", "srv_%00", "srv_a&server_id=srv_b", `srv_${"x".repeat(500)}`]) {
      for (const path of ["/admin/keys", "/admin/commands"]) {
        await expectRefusal(await gatehouse.admin("GET", `${path}?server_id=${id}`), 400, {
          code: 5104,
          message: "invalid_request",
          details: { server_id: expect.any(String) },
        });
      }
    }
  });
});

test("everything an operator made is still there after a restart, and tokens still work", async () => {
  const env = { GATEHOUSE_UPSTREAM_URL: api.url };
  const first = await startGatehouse({ env });
  const before = createOperator(first);
  const town = await before.addServer({ community: "town" });
  const key = await before.addKey(town, { sections: ["Players"] });
  const rotated = await before.rotate(key, { grace_seconds: 600 });
  const gone = await before.addKey(town);
  await before.revoke(gone);
  const captureState = await before.captureState();
  await first.app.stop();
  const { folder, clock } = first;
  const second = await startGatehouse({ env, folder, clock });
  expect(second.masterKey).toBe(first.masterKey);
  expect(await createOperator(second).captureState()).toEqual(captureState);
  for (const [token, status] of [
    [key.token, 200],
    [rotated.token, 200],
    [gone.token, 401],
  ] as const) {
    expect((await second.get("/v2/town/game/server?Players=true", token)).status).toBe(status);
  }
  await second.stop();
  rmSync(folder, { recursive: true, force: true });
});
