// A key from which join key and location are hidden finds neither in anything that it can reach.
import { beforeAll, describe, expect, test } from "bun:test";
import { HIDES_JOIN_KEY, HIDES_LOCATION } from "../../src/core/keys/rights.ts";
import { SECTIONS } from "../../src/core/sections.ts";
import type { EventPage } from "../../src/core/wire/event.ts";
import type { ModCallPage } from "../../src/core/wire/players.ts";
import { FACADE_V1 } from "../../src/http/facade/facade-handlers.ts";
import { MemoryArchive } from "../event-archive.ts";
import { ALL_SECTIONS_INFO, BASE_INFO } from "../fake-game-api.ts";
import type { TestKey } from "../start-gatehouse.ts";
import { SocketReader, SseReader } from "../stream-reader.ts";
import { until } from "../until.ts";
import { createFacadeClient } from "./facade-client.ts";
import { expectRefusal, readAs } from "./operator.ts";
import { addSignedIn, findToken, putRole } from "./person.ts";
import { openStage } from "./stage.ts";

const EVERYTHING = SECTIONS.map((name) => `${name}=true`).join("&");
const EVENTS = "/v2/game/server/events";
/** None of them is anywhere else in what the game shows. */
const SECRETS = ["FirstSecret", "SecondSecret", "HiddenStreet", "HiddenPostal", "1084.965", '"LocationX"'];

const archive = new MemoryArchive();
const { game, gatehouse, operator } = await openStage({ archive });
let serverId: string;
let open: TestKey;
let hiding: TestKey;

/** Sets what the game shows, lets a caller read it, and waits until it is recorded. */
async function read(change: object): Promise<void> {
  const { clock } = gatehouse;
  clock.advance(10_000);
  const [player] = ALL_SECTIONS_INFO.Players;
  const Location = { ...player?.Location, StreetName: "HiddenStreet", PostalCode: "HiddenPostal" };
  const hostile = { ...player, Player: '","Location":{"LocationX":1:9', Location };
  const info = { ...BASE_INFO, ...ALL_SECTIONS_INFO, Players: [{ ...player, Location }, hostile], ...change };
  game.answer = () => Response.json(info);
  expect((await gatehouse.get("/v2/game/server", open.token)).status).toBe(200);
  await until("the reading is not recorded", async () => {
    const { counts } = await archive.readOpenHistory(serverId);
    return counts.last?.at === clock.now;
  });
}

beforeAll(async () => {
  const server = await gatehouse.addServer({ community: "town" });
  serverId = server.serverId;
  open = await gatehouse.addKey(server);
  hiding = await gatehouse.addKey(server, { hide: HIDES_JOIN_KEY | HIDES_LOCATION, commands: ["*"] });
  await read({ JoinKey: "FirstSecret", Name: "Town" });
  await read({ JoinKey: "SecondSecret", Name: "Town" });
  await read({ JoinKey: "FirstSecret", Name: "City" });
  await read({ JoinKey: "SecondSecret", Name: "City" });
});

const ask = (path: string, key = hiding) => gatehouse.get(path, key.token);
const codeOf = async (answer: Response) => ((await answer.json()) as { code?: number }).code;

function expectNoSecret(text: string, where: string): void {
  for (const secret of SECRETS) expect([where, secret, text.includes(secret)]).toEqual([where, secret, false]);
}

describe("what a key can reach", () => {
  test("has neither join key nor location, in our own API", async () => {
    const { paths } = await readAs<{ paths: Record<string, { get?: unknown }> }>(await gatehouse.get("/openapi.json"));
    const own = Object.keys(paths).filter((path) => path.startsWith("/v2/") && paths[path]?.get);
    const queries = ["", `?${EVERYTHING}`, "?after=earliest", "?before=now"];
    let answered = 0;
    for (const path of own.filter((name) => !name.endsWith("/stream") && !name.endsWith("/socket"))) {
      const concrete = path.replace("{community}", "town").replaceAll(/\{\w+\}/g, "cmd_none");
      for (const query of queries) {
        gatehouse.clock.advance(1_000);
        const answer = await ask(`${concrete}${query}`);
        if (answer.ok) answered++;
        expectNoSecret(await answer.text(), concrete + query);
      }
    }
    expect(answered).toBeGreaterThan(30);
    // The secrets are there for a key from which nothing is hidden.
    const whole = await (await ask(`/v2/game/server?${EVERYTHING}`, open)).text();
    for (const secret of SECRETS.slice(1)) expect(whole).toContain(secret);
  });

  test("has neither in the façade, where the field of the join key stays", async () => {
    const client = createFacadeClient(gatehouse, { ...hiding, serverId } as Parameters<typeof createFacadeClient>[1]);
    for (const path of ["/v2/server", `/v2/server?${EVERYTHING}`, ...FACADE_V1.map((route) => route.path)]) {
      gatehouse.clock.advance(1_000);
      const answer = await client.get(path);
      expect([path, answer.status]).toEqual([path, 200]);
      const text = await answer.text();
      expectNoSecret(text, path);
      if (path.endsWith("server")) expect(JSON.parse(text).JoinKey).toBe("");
    }
  });

  test("keeps what is not hidden: the position of a call, and each of the two alone", async () => {
    const info = await readAs<Record<string, unknown>>(await ask(`/v2/game/server?${EVERYTHING}`));
    expect(info).toMatchObject({ JoinKey: "", EmergencyCalls: ALL_SECTIONS_INFO.EmergencyCalls });
    const server = gatehouse.app.store.servers.find(serverId);
    if (!server) throw new Error("the server is gone");
    const keyless = await gatehouse.addKey(server, { hide: HIDES_JOIN_KEY });
    const placeless = await gatehouse.addKey(server, { hide: HIDES_LOCATION });
    const [first, second] = [
      await ask("/v2/game/server?Players=true", keyless),
      await ask("/v2/game/server", placeless),
    ];
    expect(await first.text()).toContain("HiddenStreet");
    expect(await second.text()).toContain("SecondSecret");
    expect((await ask("/v2/game/server/map", keyless)).status).toBe(200);
  });

  test("has an ETag of its own", async () => {
    const [mine, theirs] = [await ask("/v2/game/server"), await ask("/v2/game/server", open)];
    expect(mine.headers.get("etag")).not.toBe(theirs.headers.get("etag"));
    const again = await gatehouse.get("/v2/game/server", hiding.token, {
      "If-None-Match": mine.headers.get("etag") ?? "",
    });
    expect(again.status).toBe(304);
  });
});

test("map and picture are refused, with the reason", async () => {
  const details = { sections: ["Players"], hidden: ["Location"] };
  for (const path of ["/v2/game/server/map", "/v2/town/game/server/map/image"])
    await expectRefusal(await ask(path), 403, { code: 5011, message: "query_param_forbidden", details });
});

test("a call for a moderator has no position, however it is read", async () => {
  const Caller = ALL_SECTIONS_INFO.Players[0]?.Player;
  const ModCalls = [{ Caller, Moderator: null, Timestamp: gatehouse.clock.now / 1_000 }];
  await read({ JoinKey: "SecondSecret", Name: "City", ModCalls });
  const calls = "/v2/game/server/modcalls";
  const shown = await readAs<ModCallPage>(await ask(calls, open));
  expect(shown.items).toMatchObject([{ caller: Caller, position: { StreetName: "HiddenStreet" } }]);
  const headers = { Authorization: `Bearer ${hiding.token}` };
  const claim = `${calls}/${shown.items[0]?.id}/claim`;
  const answers = [
    await ask(calls),
    await gatehouse.admin("POST", claim, undefined, headers),
    await gatehouse.admin("DELETE", claim, undefined, headers),
    await ask(`/v2/game/server/players/${shown.items[0]?.caller.split(":")[1]}`),
    await ask(`${EVENTS}?types=modcall.*&before=now`),
  ];
  for (const answer of answers) {
    const text = await answer.text();
    expect([answer.status, text]).toEqual([200, expect.stringContaining("opened")]);
    expectNoSecret(text, answer.url);
  }
});

test("the key says what is hidden and what it may do", async () => {
  const own = await readAs<Record<string, unknown>>(await ask("/v2/game/key"));
  expect(own).toMatchObject({ hide: ["JoinKey", "Location"], may: ["claim", "notes"] });
  expect(await readAs<Record<string, unknown>>(await ask("/v2/game/key", open))).toMatchObject({ hide: [], may: [] });
});

describe("a change of the server", () => {
  const changes = async (query: string, key = hiding) =>
    readAs<EventPage>(await ask(`${EVENTS}?types=server.changed&${query}`, key));

  test("in which only the join key changed is not theirs, and the cursor moves past it", async () => {
    const all = await changes("after=earliest", open);
    expect(all.items.map(({ meta }) => Object.keys(meta?.before as object))).toEqual([
      ["JoinKey"],
      ["Name", "JoinKey"],
      ["JoinKey"],
    ]);
    const mine = await changes("after=earliest");
    expect(mine.items.map(({ data, meta }) => [data.JoinKey, meta])).toEqual([["", { before: { Name: "Town" } }]]);
    expect(mine.next).toBe(all.next);
    const [newest] = (await changes("limit=1")).items;
    expect(newest?.id).toBe(mine.items[0]?.id ?? "");
    expect((await changes("before=now&limit=1")).items).toEqual(newest ? [newest] : []);
  });

  test("is the same in both kinds of streams", async () => {
    const query = `?types=server.changed&after=earliest`;
    const sse = new SseReader(await ask(`${EVENTS}/stream${query}`));
    const [, event] = await sse.take(2);
    const socket = new SocketReader(`${gatehouse.url}${EVENTS}/socket${query}`, {
      Authorization: `Bearer ${hiding.token}`,
    });
    const [, frame] = await socket.take(2);
    const [page] = (await changes("after=earliest")).items;
    expect(event?.data).toEqual(page);
    expect(frame?.event).toEqual(page);
    await read({ JoinKey: "FirstSecret", Name: "City" });
    await read({ JoinKey: "SecondSecret", Name: "Village" });
    const next = await sse.takeEvent();
    expect(next.data).toMatchObject({ data: { JoinKey: "", Name: "Village" }, meta: { before: { Name: "City" } } });
    expectNoSecret(next.raw, "stream");
    await sse.cancel();
    socket.socket.close();
  });
});

test("a role hides for everybody who has it, at once, and open streams end", async () => {
  const put = (hide: readonly string[]) =>
    putRole(gatehouse, "guest", { sections: ["Players"], may: ["exports"], hide });
  await put([]);
  const { browser } = await addSignedIn(gatehouse, { name: "Gus", servers: [{ server_id: serverId, role: "guest" }] });
  const guest = { keyId: "", token: (await findToken(browser, serverId)) ?? "" };
  const readText = async () => (await ask("/v2/game/server?Players=true", guest)).text();
  expect(await readText()).toContain("HiddenStreet");
  const sse = new SseReader(await ask(`${EVENTS}/stream`, guest));
  await sse.take(1);
  await put(["JoinKey", "Location"]);
  expectNoSecret(await readText(), "a read");
  expect(await sse.takeEvent()).toMatchObject({ event: "bye", data: { code: 5011 } });
  expect((await ask("/v2/game/server/map", guest)).status).toBe(403);
  expect(await readAs<object>(await ask("/v2/game/key", guest))).toMatchObject({
    label: "Gus",
    hide: ["JoinKey", "Location"],
    may: ["exports"],
  });
});

describe("the operator", () => {
  test("hides with the key's hide, and open streams end", async () => {
    const server = await operator.addServer({});
    const key = await operator.addKey(server, { hide: ["Location"] });
    expect(key.hide).toEqual(["Location"]);
    const sse = new SseReader(await gatehouse.get(`${EVENTS}/stream`, key.token));
    await sse.take(1);
    expect(await operator.changeKey(key, { hide: [] })).toMatchObject({ hide: [] });
    await operator.changeKey(key, { hide: ["Location", "JoinKey"] });
    const [bye] = await sse.take(1);
    expect(bye).toMatchObject({ event: "bye", data: { code: 5011 } });
    expect(await sse.next()).toBeUndefined();
  });

  test("is told which fields there are", async () => {
    const server = await operator.addServer({});
    const body = { server_id: server.server_id, label: "bot", hide: ["Name"] };
    const answer = await gatehouse.admin("POST", "/admin/keys", body);
    expect(answer.status).toBe(400);
    expect(await codeOf(answer)).toBe(5104);
  });
});
