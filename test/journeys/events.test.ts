// Reading events through the whole app: rights, cursors, waiting, and what is refused in which order.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { StoreUnavailable } from "../../src/core/errors.ts";
import { writeCursor } from "../../src/core/events/cursor.ts";
import { toGapEvent } from "../../src/core/events/new-event.ts";
import { toSectionSet } from "../../src/core/sections.ts";
import type { EventPage } from "../../src/core/wire/event.ts";
import { POLL_MS } from "../../src/gateway/events/event-notifier.ts";
import { EVENT_AT, HeldPauses, MemoryArchive, makeEvent } from "../event-archive.ts";
import { startGatehouse, type TestGatehouse } from "../start-gatehouse.ts";

const EVENTS = "/v2/game/server/events";
const archive = new MemoryArchive();
const pauses = new HeldPauses();
let gatehouse: TestGatehouse;

beforeAll(async () => {
  gatehouse = await startGatehouse({ archive, waitForEvents: pauses.pause });
});
afterAll(() => gatehouse.stop());

type Refused = {
  readonly code: number;
  readonly details?: Record<string, unknown>;
  readonly oldest?: string;
};

/** A server of its own, and a key that may read these sections. */
async function makeHome(sections?: readonly string[]) {
  const server = await gatehouse.addServer({ community: "cedar" });
  const rights = sections && { sections: toSectionSet(sections) };
  const key = await gatehouse.addKey(server, rights);
  const get = (query = "", headers?: Record<string, string>) => gatehouse.get(`${EVENTS}${query}`, key.token, headers);
  return {
    server,
    key,
    serverId: server.serverId,
    get,
    read: async (query = "") => (await (await get(query)).json()) as EventPage,
    refused: async (query = "") => {
      const answer = await get(query);
      return [answer.status, (await answer.json()) as Refused] as const;
    },
  };
}

function timesOf({ items }: EventPage): number[] {
  return items.map(({ at }) => at - EVENT_AT);
}

describe("a page of events", () => {
  test("has each event as it is stored, with exact integers, and the headers of a counted answer", async () => {
    const home = await makeHome();
    const changed = makeEvent(2, { type: "server.changed", data: "{}", meta: '{"before":{"Name":"x"}}' });
    await archive.add(home.serverId, makeEvent(1, { isBackfill: true }), changed);
    const answer = await home.get("?after=earliest");
    const text = await answer.text();
    const { items, next } = JSON.parse(text) as EventPage;
    const [first, second] = items;
    expect(text).toBe(
      `{"items":[{"id":"${first?.id}","type":"player.killed","at":${EVENT_AT + 1},"seen_at":${EVENT_AT + 1},"source":"log","backfill":true,` +
        `"data":{"Killed":"B:1","Timestamp":1800000000,"Killer":"A:12345678901234567890"}},` +
        `{"id":"${second?.id}","type":"server.changed","at":${EVENT_AT + 2},"seen_at":${EVENT_AT + 2},"source":"log","backfill":false,` +
        `"data":{},"meta":{"before":{"Name":"x"}}}],"next":"${next}","has_more":false}`,
    );
    expect(next).toBe(second?.id ?? "");
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(answer.headers.get("etag")).toBeNull();
    expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
    expect(answer.headers.get("x-ratelimit-remaining")).toBe("119");
  });

  test("follows the one before it, and the id of an event is a cursor", async () => {
    const home = await makeHome();
    expect(await home.read()).toMatchObject({ items: [], has_more: false });
    const { next: start } = await home.read("?after=now");
    await archive.add(home.serverId, ...[1, 2, 3, 4, 5].map((n) => makeEvent(n)));
    const first = await home.read(`?after=${start}&limit=2`);
    expect([timesOf(first), first.has_more]).toEqual([[1, 2], true]);
    const second = await home.read(`?after=${first.items[0]?.id}&limit=2`);
    expect(timesOf(second)).toEqual([2, 3]);
    const last = await home.read(`?after=${second.next}`);
    expect([timesOf(last), last.has_more]).toEqual([[4, 5], false]);
    expect(await home.read(`?after=${last.next}`)).toMatchObject({ items: [], next: last.next });
    const newest = await home.read("?limit=2");
    expect([timesOf(newest), newest.next, newest.has_more]).toEqual([[4, 5], last.next, false]);
    expect(newest.previous).toBeUndefined();
  });

  test("can be read backwards, and for one player", async () => {
    const home = await makeHome();
    await archive.add(home.serverId, ...[1, 2, 3, 4, 5].map((n) => makeEvent(n)));
    const newest = await home.read("?before=now&limit=3");
    expect([timesOf(newest), newest.has_more]).toEqual([[3, 4, 5], true]);
    const older = await home.read(`?before=${newest.previous}&limit=3`);
    expect([timesOf(older), older.has_more]).toEqual([[1, 2], false]);
    expect(timesOf(await home.read("?player=4&after=earliest"))).toEqual([4]);
  });

  test("has what the key may read, and the gaps of it", async () => {
    const home = await makeHome(["KillLogs"]);
    const gapOf = (section: "KillLogs" | "JoinLogs" | "*") =>
      toGapEvent({ section, reason: "no_overlap", from: null, to: null }, EVENT_AT);
    await archive.add(
      home.serverId,
      gapOf("KillLogs"),
      gapOf("JoinLogs"),
      gapOf("*"),
      makeEvent(1),
      makeEvent(2, { type: "player.joined" }),
      makeEvent(3, { type: "server.online" }),
    );
    const all = await home.read("?after=earliest");
    expect(all.items.map(({ type }) => type)).toEqual(["gap", "gap", "player.killed", "server.online"]);
    const kills = await home.read("?after=earliest&types=player.*");
    expect(kills.items.map(({ type }) => type)).toEqual(["gap", "player.killed"]);
    expect(kills.next).toBe(all.next);
  });

  test("is the same in the community form; another community is refused", async () => {
    const { serverId, key } = await makeHome();
    await archive.add(serverId, makeEvent(1));
    const right = await gatehouse.get("/v2/cedar/game/server/events", key.token);
    expect(timesOf((await right.json()) as EventPage)).toEqual([1]);
    const wrong = await gatehouse.get("/v2/oak/game/server/events", key.token);
    expect([wrong.status, ((await wrong.json()) as Refused).code]).toEqual([403, 5009]);
  });

  test("is compressed when the caller accepts it, also a large one, and is the same", async () => {
    const home = await makeHome();
    await archive.add(home.serverId, ...Array.from({ length: 500 }, (_, n) => makeEvent(n)));
    for (const limit of [20, 120, 500]) {
      const get = (encoding: string) =>
        fetch(`${gatehouse.url}${EVENTS}?limit=${limit}`, {
          headers: { Authorization: `Bearer ${home.key.token}`, "Accept-Encoding": encoding },
          decompress: false,
        });
      const packed = await get("gzip");
      expect(packed.headers.get("content-encoding")).toBe("gzip");
      expect(packed.headers.get("content-type")).toBe("application/json");
      const plain = await get("identity");
      expect([plain.headers.get("content-encoding"), plain.headers.get("vary")]).toEqual([null, "Accept-Encoding"]);
      const text = await plain.text();
      expect(timesOf(JSON.parse(text) as EventPage)).toHaveLength(limit);
      expect(new TextDecoder().decode(Bun.gunzipSync(await packed.arrayBuffer()))).toBe(text);
    }
  });
});

describe("refusals", () => {
  test("a type that the key may not have, before anything else; then every wrong parameter", async () => {
    const home = await makeHome(["KillLogs"]);
    expect(await home.refused("?types=player.joined&limit=0")).toMatchObject([
      403,
      { code: 5011, details: { sections: ["JoinLogs"] } },
    ]);
    const [status, { code, details }] = await home.refused("?types=x&limit=0&after=x");
    expect([status, code, Object.keys(details ?? {}).toSorted()]).toEqual([400, 5104, ["after", "limit", "types"]]);
    expect(await home.refused(`?types=${"x,".repeat(5_000)}`)).toMatchObject([
      400,
      { code: 5104, details: { types: "has more than 2,000 characters" } },
    ]);
  });

  test("a cursor that is too old gets the place to go on from", async () => {
    const home = await makeHome();
    await archive.add(home.serverId, ...[1, 2, 3].map((n) => makeEvent(n)));
    const { items } = await home.read();
    while (await archive.prune({ now: EVENT_AT, days: 30, eventsMax: 1 }));
    const [status, body] = await home.refused(`?after=${items[0]?.id}`);
    expect([status, body.code]).toEqual([410, 5108]);
    expect(timesOf(await home.read(`?after=${body.oldest}`))).toEqual([3]);
    const beyond = writeCursor(home.serverId, { number: 99, mark: 1 });
    expect((await home.refused(`?after=${beyond}`))[1].code).toBe(5108);
  });

  test("503 while the archive does not answer", async () => {
    const home = await makeHome();
    archive.fault = new StoreUnavailable("away");
    expect(await home.refused()).toMatchObject([503, { code: 5106, retry_after: 1 }]);
    archive.fault = undefined;
    expect(await home.read()).toMatchObject({ items: [] });
  });

  test("501 without an archive, after the steps of the caller and counted", async () => {
    const bare = await startGatehouse();
    const server = await bare.addServer();
    const { token } = await bare.addKey(server);
    const answer = await bare.get(`${EVENTS}?limit=0`, token);
    expect([answer.status, await answer.json()]).toEqual([501, { code: 5110, message: "not_configured" }]);
    expect(answer.headers.get("x-ratelimit-remaining")).toBe("119");
    expect((await bare.get(EVENTS)).status).toBe(401);
    expect((await bare.admin("GET", `/admin/servers/${server.serverId}/events`)).status).toBe(501);
    await bare.stop();
  });
});

describe("a read that waits", () => {
  const WAIT_MS = 20_000;

  test("is answered with the first event, and once more after that", async () => {
    const home = await makeHome();
    const { next } = await home.read("?after=now");
    const waiting = home.read(`?after=${next}&wait=20`);
    await pauses.reach(WAIT_MS);
    await archive.add(home.serverId, makeEvent(1));
    pauses.end(POLL_MS);
    expect(timesOf(await waiting)).toEqual([1]);
  });

  test("ends without an event after its time; HEAD does not wait", async () => {
    const home = await makeHome();
    const head = await fetch(`${gatehouse.url}${EVENTS}?wait=20`, {
      method: "HEAD",
      headers: { Authorization: `Bearer ${home.key.token}` },
    });
    expect([head.status, await head.text()]).toEqual([200, ""]);
    expect(pauses.lengths).not.toContain(WAIT_MS);
    const waiting = home.read("?wait=20");
    await pauses.reach(WAIT_MS);
    pauses.end(WAIT_MS);
    expect(await waiting).toMatchObject({ items: [], has_more: false });
  });

  test("is given up when its caller goes away", async () => {
    const home = await makeHome();
    const gone = new AbortController();
    const waiting = fetch(`${gatehouse.url}${EVENTS}?wait=20`, {
      headers: { Authorization: `Bearer ${home.key.token}` },
      signal: gone.signal,
    });
    await pauses.reach(WAIT_MS);
    gone.abort();
    await waiting.catch(() => {});
    while (pauses.lengths.length > 0) await new Promise((resolve) => setImmediate(resolve));
  });

  test("by a key that is revoked meanwhile is refused like any other request of it", async () => {
    const home = await makeHome();
    const waiting = home.get("?wait=20");
    await pauses.reach(WAIT_MS);
    await gatehouse.app.store.keys.revoke(home.key.keyId, gatehouse.clock.now);
    pauses.end(1_000);
    const answer = await waiting;
    expect([answer.status, ((await answer.json()) as Refused).code]).toEqual([401, 5008]);
    expect(answer.headers.get("x-ratelimit-limit")).toBeNull();
  });

  test("by a key that may read less meanwhile gets what it may read now", async () => {
    const home = await makeHome();
    const { next } = await home.read("?after=now");
    const waiting = home.read(`?after=${next}&wait=20`);
    const named = home.refused(`?after=${next}&wait=20&types=player.killed`);
    await pauses.reach(WAIT_MS, 2);
    const sections = toSectionSet(["JoinLogs"]);
    await gatehouse.app.store.keys.update(home.key.keyId, { sections });
    await archive.add(home.serverId, makeEvent(1), makeEvent(2, { type: "player.joined" }));
    pauses.end(POLL_MS);
    expect(timesOf(await waiting)).toEqual([2]);
    expect(await named).toMatchObject([403, { code: 5011 }]);
  });

  test("is one of twenty of its key; the next is refused with 5109", async () => {
    const home = await makeHome();
    const waiting = Array.from({ length: 20 }, () => home.read("?wait=20"));
    await pauses.reach(WAIT_MS, 20);
    const [status, body] = await home.refused("?wait=20");
    expect([status, body.code]).toEqual([429, 5109]);
    pauses.end(WAIT_MS);
    expect(await Promise.all(waiting)).toHaveLength(20);
  });

  test("is answered at once when Gatehouse stops", async () => {
    const held = new HeldPauses();
    const other = await startGatehouse({ archive, waitForEvents: held.pause });
    const { token } = await other.addKey(await other.addServer());
    const waiting = other.get(`${EVENTS}?wait=20`, token);
    await held.reach(WAIT_MS);
    const stopping = other.stop();
    const answer = await waiting;
    expect([answer.status, answer.headers.get("connection")]).toEqual([200, "close"]);
    await stopping;
  });
});

describe("GET /admin/servers/:id/events", () => {
  test("has everything, with the same parameters, and counts nothing", async () => {
    const { serverId } = await makeHome();
    await archive.add(serverId, makeEvent(1), makeEvent(2, { type: "player.joined" }));
    const path = `/admin/servers/${serverId}/events`;
    const answer = await gatehouse.admin("GET", `${path}?after=earliest&limit=1`);
    expect(answer.headers.get("x-ratelimit-limit")).toBeNull();
    expect(await answer.json()).toMatchObject({ items: [{ type: "player.killed" }], has_more: true });
    expect((await gatehouse.admin("GET", `${path}?limit=x`)).status).toBe(400);
    expect((await gatehouse.admin("GET", "/admin/servers/srv_none/events")).status).toBe(404);
  });

  test("waits too, and is 404 when the server is deleted meanwhile", async () => {
    const { serverId } = await makeHome();
    const waiting = gatehouse.admin("GET", `/admin/servers/${serverId}/events?wait=20`);
    await pauses.reach(20_000);
    await gatehouse.admin("DELETE", `/admin/servers/${serverId}`);
    pauses.end(1_000);
    expect((await waiting).status).toBe(404);
  });
});
