// What an operator is told about each server without a key of it: its state, its players, and what it failed with.
import { beforeEach, describe, expect, test } from "bun:test";
import type { Readiness } from "../../src/core/wire/health.ts";
import { ALL_SECTIONS_INFO, BASE_INFO } from "../fake-game-api.ts";
import { startGatehouse, type TestGatehouse } from "../start-gatehouse.ts";
import { createOperator, expectRefusal, readAs, type ServerBody } from "./operator.ts";
import { openStage } from "./stage.ts";

let server: ServerBody;
let token: string;

const { game: api, gatehouse, operator } = await openStage();
beforeEach(async () => {
  gatehouse.clock.advance(60_000);
  api.answer = () => Response.json({ ...BASE_INFO, CurrentPlayers: 7 });
  api.calls.length = 0;
  server = await operator.addServer();
  token = (await operator.addKey(server)).token;
});

const show = async (): Promise<ServerBody> =>
  readAs(await gatehouse.admin("GET", `/admin/servers/${server.server_id}`));
const read = async () => (await gatehouse.get("/v2/game/server", token)).text();
const readInfo = (query = "", headers = {}) =>
  gatehouse.admin("GET", `/admin/servers/${server.server_id}/info${query}`, undefined, headers);

function fail(code: number, message: string, status = 400): void {
  api.answer = () => Response.json({ code, message }, { status });
}

describe("the state of a server", () => {
  test("is not_asked until somebody reads it, and telling it asks nobody", async () => {
    expect(await show()).toMatchObject({
      ...{ state: "not_asked", players: null, last_read_at: null, last_error: null },
    });
    expect(await operator.list<ServerBody>("/admin/servers")).toContainEqual(await show());
    expect(api.calls).toHaveLength(0);
  });

  test("is online after a good reading, with its players and its time", async () => {
    await read();
    const at = gatehouse.clock.now;
    gatehouse.clock.advance(30_000);
    expect(await show()).toMatchObject({ state: "online", players: 7, last_read_at: at, last_error: null });
    expect(await operator.list<ServerBody>("/admin/servers")).toContainEqual(await show());
  });

  test("is offline with no players when the game says so, which is a good reading", async () => {
    await read();
    gatehouse.clock.advance(10_000);
    fail(3002, "The server is offline.", 422);
    await read();
    const at = gatehouse.clock.now;
    expect(await show()).toMatchObject({ state: "offline", players: 0, last_read_at: at, last_error: null });
  });

  test("is unreachable after a failed reading, and tells the reason until a reading succeeds", async () => {
    await read();
    const readAt = gatehouse.clock.now;
    gatehouse.clock.advance(10_000);
    fail(1001, "The game did not answer.", 500);
    await read();
    const last_error = {
      ...{ at: gatehouse.clock.now, upstream_code: 1001, upstream_message: "The game did not answer." },
    };
    expect(await show()).toMatchObject({
      state: "unreachable",
      players: 7,
      last_read_at: readAt,
      last_error,
    });
    gatehouse.clock.advance(10_000);
    api.answer = () => Response.json({ ...BASE_INFO, CurrentPlayers: 9 });
    await read();
    const at = gatehouse.clock.now;
    expect(await show()).toMatchObject({ state: "online", players: 9, last_read_at: at, last_error: null });
  });

  test("stays known when nobody has read the server for an hour", async () => {
    await read();
    const at = gatehouse.clock.now;
    gatehouse.clock.advance(3_600_000);
    // Another server's first read is what drops statuses that are not used any more.
    const other = await operator.addServer();
    await (await gatehouse.get("/v2/game/server", (await operator.addKey(other)).token)).text();
    expect(await show()).toMatchObject({ state: "online", players: 7, last_read_at: at });
  });

  test("is key_refused until the key is set again, then not_asked", async () => {
    fail(2002, "You provided an invalid server-key.", 403);
    await read();
    const last_error = {
      ...{ at: gatehouse.clock.now, upstream_code: 2002 },
      upstream_message: "You provided an invalid server-key.",
    };
    expect(await show()).toMatchObject({
      state: "key_refused",
      players: null,
      last_read_at: null,
      last_error,
    });
    await gatehouse.admin("PATCH", `/admin/servers/${server.server_id}`, { server_key: "new-Key" });
    expect(await show()).toMatchObject({ state: "not_asked", last_error: null });
  });

  test("does not change with a rate limit, which is told as the last error", async () => {
    await read();
    gatehouse.clock.advance(10_000);
    api.answer = () => Response.json({ code: 4001, message: "You are being rate limited." }, { status: 429 });
    await read();
    expect(await show()).toMatchObject({ state: "online", players: 7, last_error: { upstream_code: 4001 } });
  });
});

describe("looking into a server with the master key", () => {
  test("gets what a caller gets, with any section, from the same cache and with one call", async () => {
    api.answer = () => Response.json({ ...BASE_INFO, ...ALL_SECTIONS_INFO });
    const { keyId, token: bare } = await gatehouse.addKey(
      ...[{ ...server, serverId: server.server_id } as never, { sections: 0 }],
    );
    await (await gatehouse.get("/v2/game/server", bare)).text();
    const info = await readInfo("?Players=true&Staff=true");
    expect(await info.json()).toEqual({
      ...BASE_INFO,
      ...{ Players: ALL_SECTIONS_INFO.Players, Staff: ALL_SECTIONS_INFO.Staff },
    });
    expect(info.headers.get("x-cache")).toBe("hit");
    expect(info.headers.get("x-ratelimit-limit")).toBeNull();
    expect(info.headers.get("x-ratelimit-bucket")).toBeNull();
    expect(api.calls).toHaveLength(1);
    const { usage } = await operator.showKey({ key_id: keyId });
    expect(usage.requests).toBe(1);
  });

  test("reads a server that has no key, and shows it online afterwards", async () => {
    const info = await readInfo();
    expect(info.status).toBe(200);
    expect(info.headers.get("x-cache")).toBe("miss");
    expect(api.calls).toHaveLength(1);
    expect(await show()).toMatchObject({ state: "online", players: 7 });
    const again = await readInfo("", { "If-None-Match": info.headers.get("etag") ?? "" });
    expect(again.status).toBe(304);
  });

  test("is refused with 5019 as a caller is, and with 404 when there is no such server", async () => {
    fail(3002, "The server is offline.", 422);
    await expectRefusal(await readInfo(), 400, {
      ...{ code: 5019, message: "game_api_error" },
      ...{ upstream_code: 3002, upstream_message: "The server is offline." },
    });
    await expectRefusal(await gatehouse.admin("GET", "/admin/servers/srv_none/info"), 404, {
      ...{ code: 5020, message: "not_found" },
    });
  });

  test("is 404 when the server is deleted during the read", async () => {
    const { readServerKey } = gatehouse.app.store.servers;
    gatehouse.app.store.servers.readServerKey = async () => undefined;
    const info = await readInfo();
    gatehouse.app.store.servers.readServerKey = readServerKey;
    await expectRefusal(info, 404, { code: 5020, message: "not_found" });
  });
});

describe("notices about servers", () => {
  const read = async (of: TestGatehouse, key?: string) =>
    ((await (await of.get("/readyz", key)).json()) as Readiness).notices;
  const listNotices = async (key?: string) => JSON.stringify(await read(gatehouse, key));

  test("name the servers for the operator, and nobody else", async () => {
    const [refused, failing, parked] = [
      await operator.addServer({ name: "Refused town" }),
      await operator.addServer({ name: "Failing town" }),
      await gatehouse.addServer({ name: "Parked town", isSimulated: true }),
    ];
    fail(2002, "You provided an invalid server-key.", 403);
    await gatehouse.admin("GET", `/admin/servers/${refused.server_id}/info`);
    fail(1001, "The game did not answer.", 500);
    for (let i = 0; i < 5; i++) await gatehouse.admin("GET", `/admin/servers/${failing.server_id}/info`);

    const told = await listNotices(gatehouse.masterKey);
    expect(told).toContain("fails for Failing town; it is probed");
    expect(told).toContain("refused the server key of Refused town; it must be set anew");
    expect(told).toContain("Parked: Parked town. It was added on the simulator");

    for (const key of [undefined, "wrong-master-key-wrong-master-key-0"]) {
      const shown = await listNotices(key);
      expect(shown).toContain("fails for 1 server(s);");
      expect(shown).toContain("refused 1 server key(s)");
      expect(shown).toContain("Parked: 1 server(s).");
      expect(shown).not.toContain("town");
    }
    await gatehouse.app.store.servers.delete(parked.serverId, gatehouse.clock.now);
  });

  test("speak of one server in the singular and of several in the plural", async () => {
    const lone = await startGatehouse({ env: { GATEHOUSE_UPSTREAM_URL: api.url } });
    const list = async () => (await read(lone, lone.masterKey)).map(({ message }) => message);
    const makeServer = async (name: string) => {
      const { server_id } = await createOperator(lone).addServer({ name });
      await lone.admin("GET", `/admin/servers/${server_id}/info`);
      await lone.addServer({ name: `${name} parked`, isSimulated: true });
    };
    fail(2002, "You provided an invalid server-key.", 403);
    await makeServer("Oak");
    const remedies = async () => (await read(lone, lone.masterKey)).map(({ remedy }) => remedy);
    const why = "on the simulator, and a real game API is in use.";
    expect(await list()).toEqual([
      "The game API has refused the server key of Oak; it must be set anew.",
      `Parked: Oak parked. It was added ${why}`,
    ]);
    expect(await remedies()).toEqual([
      "Get a new server key from the game's settings, then: gatehouse servers set-key Oak",
      'Remove it, or set its real key: gatehouse servers set-key "Oak parked"',
    ]);
    await makeServer("Elm");
    expect(await list()).toEqual([
      "The game API has refused the server keys of Oak, Elm; they must be set anew.",
      `Parked: Oak parked, Elm parked. They were added ${why}`,
    ]);
    await lone.stop();
  });

  test("name ten servers at most", async () => {
    const made: ServerBody[] = [];
    for (let i = 0; i < 12; i++) {
      made.push(await operator.addServer({ name: `Many ${i}` }));
      await gatehouse.app.store.servers.update(made.at(-1)?.server_id ?? "", { isSimulated: true });
    }
    const [notice] = (await read(gatehouse, gatehouse.masterKey)).filter(({ code }) => code === "parked_servers");
    expect(notice?.message).toMatch(/Parked: (Many \d+, ){9}Many \d+ and 2 more\./);
    expect([notice?.count, notice?.servers?.length]).toEqual([12, 10]);
    for (const { server_id } of made) await gatehouse.app.store.servers.delete(server_id, gatehouse.clock.now);
  });
});
