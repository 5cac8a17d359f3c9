// Alerts through the whole app: how rules are set, and what a reader of the stream sees of them over a restart.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { SUGGESTED_ALERTS } from "../../src/core/alerts/rules.ts";
import { StoreUnavailable } from "../../src/core/errors.ts";
import { toSectionSet } from "../../src/core/sections.ts";
import { MemoryArchive } from "../event-archive.ts";
import { BASE_INFO, type FakeGameApi, startFakeGameApi } from "../fake-game-api.ts";
import { FakeClock, startGatehouse, type TestGatehouse } from "../start-gatehouse.ts";
import { SseReader } from "../stream-reader.ts";

const KILLS = { kills: { count: 3, seconds: 60 } };
const archive = new MemoryArchive();
const clock = new FakeClock();
let game: FakeGameApi;
let gatehouse: TestGatehouse;
let kills: readonly object[] = [];
let calls: readonly object[] = [];

beforeAll(async () => {
  game = startFakeGameApi(() => Response.json({ ...BASE_INFO, KillLogs: kills, ModCalls: calls }));
  gatehouse = await startGatehouse({ archive, clock, env: { GATEHOUSE_UPSTREAM_URL: game.url } });
});
afterAll(async () => {
  await gatehouse.app.stop();
  rmSync(gatehouse.folder, { recursive: true });
  await game.stop();
});

async function restart(): Promise<void> {
  const { folder } = gatehouse;
  await gatehouse.app.stop();
  gatehouse = await startGatehouse({ archive, clock, folder, env: { GATEHOUSE_UPSTREAM_URL: game.url } });
}

const pathOf = (serverId: string) => `/admin/servers/${serverId}/alerts`;
const put = (serverId: string, body: unknown) => gatehouse.admin("PUT", pathOf(serverId), body);

describe("the rules of a server", () => {
  test("are off at first, replaced as a whole, and audited", async () => {
    const { serverId } = await gatehouse.addServer();
    const read = async () => (await gatehouse.admin("GET", pathOf(serverId))).json();
    expect(await read()).toEqual({});
    const answer = await put(serverId, SUGGESTED_ALERTS);
    expect([answer.status, await answer.json(), await read()]).toEqual([200, SUGGESTED_ALERTS, SUGGESTED_ALERTS]);
    const players = { players: { above: 0, minutes: 10_080 } };
    expect((await put(serverId, players)).status).toBe(200);
    expect(await read()).toEqual(players);
    const { items } = (await (await gatehouse.admin("GET", "/admin/audit?limit=1")).json()) as {
      items: object[];
    };
    expect(items).toMatchObject([
      {
        action: "server.alerts_set",
        target: serverId,
        details: { before: SUGGESTED_ALERTS, after: players },
      },
    ]);
  });

  test.each([
    [{ kills: { count: 1, seconds: 60 } }, "kills"],
    [{ kills: { count: 5, seconds: 60, minutes: 1 } }, "kills"],
    [{ kills: null }, "kills"],
    [{ mass_command: { patterns: [] } }, "mass_command"],
    [{ mass_command: { patterns: [":ban all", "  "] } }, "mass_command"],
    [{ unanswered_modcall: { minutes: 0.5 } }, "unanswered_modcall"],
    [{ offline: { minutes: "10" } }, "offline"],
    [{ unreachable: { minutes: 10_081 } }, "unreachable"],
    [{ players: { minutes: 5 } }, "players"],
    [{ players: { below: 30, above: 10, minutes: 5 } }, "players"],
    [{ deaths: {} }, "deaths"],
    [[], "body"],
  ])("%j is refused because of %s, and nothing is changed", async (body, field) => {
    const { serverId } = await gatehouse.addServer();
    const answer = await put(serverId, body);
    const { code, details } = (await answer.json()) as { code: number; details: Record<string, string> };
    expect([answer.status, code, Object.keys(details)]).toEqual([400, 5104, [field]]);
    expect(await archive.readAlertRules(serverId)).toEqual({});
  });

  test("of an unknown server are 404, and without an archive 501; one that is away is 503", async () => {
    expect([(await put("srv_none", KILLS)).status, (await put("srv_none", { x: 1 })).status]).toEqual([404, 404]);
    const { serverId } = await gatehouse.addServer();
    archive.fault = new StoreUnavailable("away");
    expect((await gatehouse.admin("GET", pathOf(serverId))).status).toBe(503);
    archive.fault = undefined;
    const other = await startGatehouse();
    const server = await other.addServer();
    expect((await other.admin("GET", pathOf(server.serverId))).status).toBe(501);
    await other.stop();
  });
});

test("an alert is raised and cleared once on a stream, over a restart, for those who may read its section", async () => {
  const server = await gatehouse.addServer({ serverKey: "test-Alerts" });
  const { token } = await gatehouse.addKey(server);
  const { token: other } = await gatehouse.addKey(server, { sections: toSectionSet(["JoinLogs"]) });
  const readServer = async (later: number) => {
    clock.advance(later);
    expect((await gatehouse.get("/v2/game/server", token)).status).toBe(200);
  };
  const kill = (n: number) => ({ Killed: `V:10${n}`, Timestamp: clock.now / 1_000, Killer: "Bob:2" });
  await readServer(0);
  expect((await put(server.serverId, KILLS)).status).toBe(200);
  const open = async (cursor = "now") => {
    return new SseReader(await gatehouse.get(`/v2/game/server/events/stream?after=${cursor}&types=alert.*`, token));
  };
  const before = await open();
  await before.take(1);
  kills = [kill(1), kill(2), kill(3)];
  await readServer(10_000);
  const raised = await before.takeEvent();
  expect(raised.data).toMatchObject({
    type: "alert.raised",
    source: "gateway",
    data: { rule: "kills", subject: "Bob:2", text: "Bob killed 3 players within 60 seconds." },
    meta: { events: [expect.any(String), expect.any(String), expect.any(String)] },
  });
  await before.cancel();
  await restart();
  const after = await open(raised.id);
  await after.take(1);
  await readServer(20_000);
  await readServer(40_000);
  const cleared = await after.takeEvent();
  expect(cleared.data).toMatchObject({
    type: "alert.cleared",
    data: { rule: "kills", subject: "Bob:2" },
    meta: { events: raised.data.meta.events },
  });
  await after.cancel();
  const all = async (key: string) => {
    const answer = await gatehouse.get("/v2/game/server/events?after=earliest&types=alert.*", key);
    return ((await answer.json()) as { items: { type: string }[] }).items.map(({ type }) => type);
  };
  expect([await all(token), await all(other)]).toEqual([["alert.raised", "alert.cleared"], []]);
  const ids: string[] = raised.data.meta.events ?? [];
  const page = await gatehouse.get("/v2/game/server/events?after=earliest&types=player.killed", token);
  const { items } = (await page.json()) as { items: { id: string }[] };
  expect(items.map(({ id }) => id)).toEqual(ids);
});

test("an alert about a call ends at once when somebody claims the call, without another reading", async () => {
  const server = await gatehouse.addServer({ serverKey: "test-Calls" });
  const { token } = await gatehouse.addKey(server, { commands: [":h"] });
  expect((await put(server.serverId, { unanswered_modcall: { minutes: 1 } })).status).toBe(200);
  const readServer = async (later: number) => {
    clock.advance(later);
    expect((await gatehouse.get("/v2/game/server", token)).status).toBe(200);
  };
  await readServer(0);
  const answer = await gatehouse.get("/v2/game/server/events/stream?types=alert.*,modcall.opened", token);
  const stream = new SseReader(answer);
  await stream.take(1);
  calls = [{ Caller: "Bob:2", Moderator: null, Timestamp: clock.now / 1_000 }];
  await readServer(5_000);
  await readServer(60_000);
  const told = [await stream.takeEvent(), await stream.takeEvent()];
  expect(told.map(({ event }) => event)).toEqual(["modcall.opened", "alert.raised"]);
  const readings = game.calls.length;
  const list = await gatehouse.get("/v2/game/server/modcalls", token);
  const { items } = (await list.json()) as { items: { id: string }[] };
  const claimed = await fetch(`${gatehouse.url}/v2/game/server/modcalls/${items[0]?.id}/claim`, {
    method: "POST",
    headers: { Authorization: `Bearer ${token}` },
  });
  expect(claimed.status).toBe(200);
  const cleared = await stream.takeEvent();
  expect([cleared.event, cleared.data.meta.code, game.calls.length]).toEqual(["alert.cleared", "claimed", readings]);
  await stream.cancel();
});
