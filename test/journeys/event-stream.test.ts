// Server-Sent Events through the whole app: what is said, where a stream begins, what is refused, and what ends it.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { ArchiveUnavailable } from "../../src/core/errors.ts";
import { writeCursor } from "../../src/core/events/cursor.ts";
import type { Person } from "../../src/core/people/person.ts";
import { ALL_SECTIONS, toSectionSet } from "../../src/core/sections.ts";
import { POLL_MS } from "../../src/gateway/events/event-notifier.ts";
import { CHECK_MS } from "../../src/gateway/events/event-streams.ts";
import { GATHER_MS, RETRY_MS } from "../../src/gateway/events/server-feed.ts";
import { EVENT_AT, HeldPauses, MemoryArchive, makeEvent } from "../event-archive.ts";
import { addPerson, signIn } from "../people.ts";
import { startGatehouse, type TestGatehouse } from "../start-gatehouse.ts";
import { SseReader } from "../stream-reader.ts";

const STREAM = "/v2/game/server/events/stream";
const archive = new MemoryArchive();
const pauses = new HeldPauses();
const open = new Set<SseReader>();
let gatehouse: TestGatehouse;

beforeAll(async () => {
  gatehouse = await startGatehouse({
    archive,
    waitForEvents: pauses.pause,
    env: { GATEHOUSE_CORS_ORIGINS: "https://bots.example" },
  });
});
afterEach(async () => {
  for (const reader of open) await reader.cancel().catch(() => {});
  open.clear();
});
afterAll(() => gatehouse.stop());

type Refused = { readonly code: number; readonly details?: Record<string, unknown> };

async function makeHome(sections?: readonly string[]) {
  const server = await gatehouse.addServer({ community: "cedar" });
  const key = await gatehouse.addKey(server, sections && { sections: toSectionSet(sections) });
  const get = (query = "", headers: Record<string, string> = {}, path = STREAM) =>
    gatehouse.get(`${path}${query}`, key.token, headers);
  return {
    server,
    serverId: server.serverId,
    key,
    get,
    async read(query = "", headers: Record<string, string> = {}): Promise<SseReader> {
      const answer = await get(query, headers);
      expect(answer.status).toBe(200);
      const reader = new SseReader(answer);
      open.add(reader);
      return reader;
    },
    async refused(query = "", headers: Record<string, string> = {}) {
      const answer = await get(query, headers);
      return [answer.status, ((await answer.json()) as Refused).code] as const;
    },
    /** Events of another instance, which the archive is asked for. */
    async add(...numbers: number[]) {
      await archive.add(server.serverId, ...numbers.map((n) => makeEvent(n)));
    },
  };
}

/** Lets the feed look for what is new. */
async function poll(): Promise<void> {
  pauses.end(GATHER_MS);
  await pauses.reach(POLL_MS);
  pauses.end(POLL_MS);
}

/** Lets every stream be checked. */
async function check(): Promise<void> {
  await pauses.reach(CHECK_MS);
  pauses.end(CHECK_MS);
}

function timesOf(messages: readonly { readonly data: { readonly at: number } }[]): number[] {
  return messages.map(({ data }) => data.at - EVENT_AT);
}

describe("a stream", () => {
  test("begins with hello and now, and has each event with its cursor, type and whole text in one line", async () => {
    const home = await makeHome();
    await home.add(1);
    const answer = await home.get();
    expect(answer.headers.get("content-type")).toBe("text/event-stream");
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(answer.headers.get("content-encoding")).toBeNull();
    expect(answer.headers.get("x-accel-buffering")).toBe("no");
    expect(answer.headers.get("x-ratelimit-remaining")).toBe("119");
    const reader = new SseReader(answer);
    open.add(reader);
    const [hello] = await reader.take(1);
    expect(hello).toMatchObject({
      event: "hello",
      retry: "2000",
      data: { cursor: hello?.id, server_time: gatehouse.clock.now },
    });
    await home.add(2);
    await poll();
    const [message] = await reader.take(1);
    expect(message?.raw).toBe(
      `id: ${message?.data.id}\nevent: player.killed\ndata: {"id":"${message?.data.id}","type":"player.killed","at":${EVENT_AT + 2},` +
        `"seen_at":${EVENT_AT + 2},"source":"log","backfill":false,"data":{"Killed":"B:2","Timestamp":1800000000,"Killer":"A:12345678901234567890"}}`,
    );
    // The cursor of hello was the newest event.
    const page = await gatehouse.get(`/v2/game/server/events?after=${hello?.id}`, home.key.token);
    expect(((await page.json()) as { items: { id: string }[] }).items.map(({ id }) => id)).toEqual([message?.id ?? ""]);
  });

  test("goes on after a place: the header wins over last_event_id, which wins over after", async () => {
    const home = await makeHome();
    await home.add(1, 2, 3, 4);
    const all = await (await home.read("?after=earliest")).take(5);
    expect(timesOf(all.slice(1))).toEqual([1, 2, 3, 4]);
    const [, first, second, third] = all.map(({ id }) => id);
    const timesAfter = async (query: string, headers?: Record<string, string>) => {
      const [hello, message] = await (await home.read(query, headers)).take(2);
      return [hello?.id, message && timesOf([message])] as const;
    };
    const query = `?after=${first}&last_event_id=${second}&limit=0&wait=x`;
    expect(await timesAfter(query, { "Last-Event-ID": third ?? "" })).toEqual([third, [4]]);
    expect(await timesAfter(query, { "Last-Event-ID": "" })).toEqual([second, [3]]);
    expect(await timesAfter(`?after=${first}`)).toEqual([first, [2]]);
  });

  test("leaves out what it did not ask for, and its heartbeat moves past that", async () => {
    const home = await makeHome();
    const reader = await home.read("?types=player.joined");
    const [hello] = await reader.take(1);
    await home.add(1);
    await poll();
    await pauses.reach(GATHER_MS);
    gatehouse.clock.advance(14_999);
    await check();
    gatehouse.clock.advance(1);
    await check();
    const [heartbeat] = await reader.take(1);
    expect(heartbeat).toMatchObject({ event: "heartbeat", data: { cursor: heartbeat?.id } });
    expect(heartbeat?.id).not.toBe(hello?.id ?? "");
    await home.add(2);
    await archive.add(home.serverId, makeEvent(3, { type: "player.joined" }));
    await poll();
    expect(timesOf(await reader.take(1))).toEqual([3]);
    expect(timesOf((await (await home.read(`?after=${heartbeat?.id}`)).take(3)).slice(1))).toEqual([2, 3]);
  });

  test("with a cursor that is too old begins with a gap, which a reader that is cut before it gets again", async () => {
    const home = await makeHome();
    await home.add(1, 2, 3);
    const [, first] = await (await home.read("?after=earliest")).take(2);
    while (await archive.prune({ now: EVENT_AT, days: 30, eventsMax: 1 }));
    const [hello, gap, event] = await (await home.read(`?types=player.*&after=${first?.id}`)).take(3);
    expect(hello?.id).toBe(first?.id ?? "");
    expect(gap).toMatchObject({
      event: "gap",
      data: { id: gap?.id, type: "gap", data: { section: "*", reason: "retention", from: null, to: null } },
    });
    expect(timesOf(event ? [event] : [])).toEqual([3]);
    expect(timesOf((await (await home.read(`?after=${gap?.id}`)).take(2)).slice(1))).toEqual([3]);
  });

  test("is long enough for more events than one read of the ledger brings, and then goes on", async () => {
    const home = await makeHome();
    const numbers = Array.from({ length: 1_000 }, (_, n) => n + 1);
    await home.add(...numbers);
    const reader = await home.read("?after=earliest");
    expect(timesOf((await reader.take(1_001)).slice(1))).toEqual(numbers);
    await home.add(1_001);
    await poll();
    expect(timesOf(await reader.take(1))).toEqual([1_001]);
  });

  test("works with the community form; another community is refused", async () => {
    const home = await makeHome();
    const right = await home.get("", {}, "/v2/cedar/game/server/events/stream");
    const reader = new SseReader(right);
    open.add(reader);
    expect((await reader.take(1))[0]?.event).toBe("hello");
    expect((await home.get("", {}, "/v2/oak/game/server/events/stream")).status).toBe(403);
  });

  test("HEAD gets the headers and opens no stream", async () => {
    const home = await makeHome();
    for (let asked = 0; asked < 25; asked++) {
      const answer = await fetch(gatehouse.url + STREAM, {
        method: "HEAD",
        headers: { Authorization: `Bearer ${home.key.token}` },
      });
      expect([answer.status, answer.headers.get("content-type"), await answer.text()]).toEqual([
        200,
        "text/event-stream",
        "",
      ]);
    }
  });

  test("may be opened by a page of another origin, with Last-Event-ID", async () => {
    const answer = await fetch(gatehouse.url + STREAM, {
      method: "OPTIONS",
      headers: { Origin: "https://bots.example", "Access-Control-Request-Method": "GET" },
    });
    expect(answer.headers.get("access-control-allow-headers")).toContain("Last-Event-ID");
  });

  test("all streams at the newest place share one read of the ledger", async () => {
    const home = await makeHome();
    const readers = await Promise.all(Array.from({ length: 10 }, () => home.read()));
    await Promise.all(readers.map((reader) => reader.take(1)));
    let reads = 0;
    archive.onPageRead = async () => {
      reads++;
    };
    await home.add(1);
    await poll();
    for (const reader of readers) expect(timesOf(await reader.take(1))).toEqual([1]);
    archive.onPageRead = undefined;
    expect(reads).toBe(1);
  });
});

describe("refusals", () => {
  test("before a stream begins are ordinary answers", async () => {
    const home = await makeHome(["KillLogs"]);
    expect(await home.refused("?types=player.joined&after=x")).toEqual([403, 5011]);
    expect(await home.refused("?after=x")).toEqual([400, 5104]);
    expect(await home.refused(`?types=${"x,".repeat(5_000)}`)).toEqual([400, 5104]);
    expect(await home.refused("?after=now&after=now")).toEqual([400, 5104]);
    expect(await home.refused("", { "Last-Event-ID": "x" })).toEqual([400, 5104]);
    const foreign = writeCursor("srv_other", { number: 1, mark: 1 });
    expect(await home.refused(`?last_event_id=${foreign}`)).toEqual([400, 5104]);
    expect((await gatehouse.get(STREAM)).status).toBe(401);
    expect((await gatehouse.get(`${STREAM}?token=${home.key.token}`)).status).toBe(401);
  });

  test("the 21st stream of a key; a stream that has ended makes room", async () => {
    const home = await makeHome();
    const readers = await Promise.all(Array.from({ length: 20 }, () => home.read()));
    expect(await home.refused()).toEqual([429, 5109]);
    await readers[0]?.cancel();
    let status = 429;
    while (status === 429) {
      const answer = await home.get();
      status = answer.status;
      if (status === 200) open.add(new SseReader(answer));
      else await answer.text();
    }
    expect(status).toBe(200);
  });

  test("503 while the archive does not answer, and it takes none of the key's streams", async () => {
    const home = await makeHome();
    archive.fault = new ArchiveUnavailable("away");
    for (let asked = 0; asked < 25; asked++) expect(await home.refused()).toEqual([503, 5106]);
    archive.fault = undefined;
    expect((await (await home.read()).take(1))[0]?.event).toBe("hello");
  });

  test("501 without an archive, after the steps of the caller and counted", async () => {
    const bare = await startGatehouse();
    const { token } = await bare.addKey(await bare.addServer());
    const answer = await bare.get(`${STREAM}?after=x`, token);
    expect([answer.status, ((await answer.json()) as Refused).code]).toEqual([501, 5110]);
    expect(answer.headers.get("x-ratelimit-remaining")).toBe("119");
    expect((await bare.get(STREAM)).status).toBe(401);
    await bare.stop();
  });
});

describe("an open stream", () => {
  test("stays while the archive is away, and goes on where it was", async () => {
    const home = await makeHome();
    const reader = await home.read();
    await reader.take(1);
    await home.add(1);
    archive.onPageRead = async () => {
      archive.onPageRead = undefined;
      throw new ArchiveUnavailable("away");
    };
    await poll();
    await pauses.reach(RETRY_MS);
    gatehouse.clock.advance(15_000);
    await check();
    expect((await reader.take(1))[0]?.event).toBe("heartbeat");
    pauses.end(RETRY_MS);
    expect(timesOf(await reader.take(1))).toEqual([1]);
  });

  const endings: Record<string, readonly [(home: Awaited<ReturnType<typeof makeHome>>) => unknown, number]> = {
    revoked: [({ key }) => gatehouse.app.store.keys.revoke(key.keyId, gatehouse.clock.now), 5008],
    "rotated away": [
      ({ key }) => gatehouse.admin("POST", `/admin/keys/${key.keyId}/rotate`, { grace_seconds: 0 }),
      5008,
    ],
    suspended: [({ key }) => gatehouse.app.store.keys.update(key.keyId, { isSuspended: true }), 5009],
    expired: [({ key }) => gatehouse.app.store.keys.update(key.keyId, { expiresAt: gatehouse.clock.now - 1 }), 5008],
    narrowed: [({ key }) => gatehouse.app.store.keys.update(key.keyId, { sections: toSectionSet(["Players"]) }), 5011],
    "bound to another address": [
      ({ key }) => gatehouse.app.store.keys.update(key.keyId, { ipAllow: ["10.0.0.1"] }),
      5009,
    ],
    blocked: [
      async ({ get }) => {
        for (let asked = 0; asked < 520; asked++) await (await get("?after=x")).text();
      },
      5100,
    ],
    "without its server": [({ serverId }) => gatehouse.admin("DELETE", `/admin/servers/${serverId}`), 5008],
  };
  for (const [name, [change, code]] of Object.entries(endings)) {
    test(`of a key that is ${name} says bye ${code} and ends`, async () => {
      const home = await makeHome();
      const reader = await home.read();
      const [hello] = await reader.take(1);
      await change(home);
      await check();
      expect(await reader.next()).toMatchObject({ event: "bye", id: hello?.id, data: { code } });
      expect(await reader.next()).toBeUndefined();
    });
  }

  type Signed = { readonly person: Person; readonly serverId: string };
  const WATCHER = { name: "watcher", title: "Watcher", sections: ALL_SECTIONS, hide: 0, commands: [], may: 0 };
  const personEndings: Record<string, readonly [(signed: Signed) => unknown, number]> = {
    "signed out": [({ person }) => gatehouse.app.store.sessions.end(person.personId, undefined, 0), 5008],
    disabled: [({ person }) => gatehouse.app.store.people.update(person.personId, { isDisabled: true }), 5008],
    deleted: [({ person }) => gatehouse.app.store.people.delete(person.personId), 5008],
    "without the role": [({ person }) => gatehouse.app.store.people.update(person.personId, { servers: [] }), 5009],
    "in a role that may see less": [
      () => gatehouse.app.store.roles.put({ ...WATCHER, sections: toSectionSet(["Players"]) }),
      5011,
    ],
    "without the server": [({ serverId }) => gatehouse.admin("DELETE", `/admin/servers/${serverId}`), 5008],
  };
  for (const [name, [change, code]] of Object.entries(personEndings)) {
    test(`of a person who is ${name} says bye ${code} and ends`, async () => {
      await gatehouse.app.store.roles.put(WATCHER);
      const { serverId } = await gatehouse.addServer();
      const person = await addPerson(gatehouse, { servers: [{ serverId, role: WATCHER.name }] });
      const token = await (await signIn(gatehouse, person)).token(serverId);
      const reader = new SseReader(await gatehouse.get(STREAM, token));
      open.add(reader);
      const [hello] = await reader.take(1);
      await change({ person, serverId });
      await check();
      expect(await reader.next()).toMatchObject({ event: "bye", id: hello?.id, data: { code } });
      expect(await reader.next()).toBeUndefined();
    });
  }

  test("goes on when its key gets more, or loses what the stream does not show", async () => {
    const home = await makeHome(["KillLogs", "Players"]);
    const reader = await home.read("?types=player.killed");
    await reader.take(1);
    await gatehouse.app.store.keys.update(home.key.keyId, { sections: toSectionSet(["KillLogs", "Staff"]) });
    await check();
    await home.add(1);
    await poll();
    expect(timesOf(await reader.take(1))).toEqual([1]);
  });
});

describe("an operator's stream", () => {
  const pathOf = (serverId: string) => `/admin/servers/${serverId}/events/stream`;

  async function openAsOperator(serverId: string, query: string): Promise<SseReader> {
    const answer = await gatehouse.get(pathOf(serverId) + query, gatehouse.masterKey);
    expect([answer.status, answer.headers.get("x-ratelimit-limit")]).toEqual([200, null]);
    const reader = new SseReader(answer);
    open.add(reader);
    return reader;
  }

  test("has every section of the server, with the same parameters", async () => {
    const home = await makeHome(["Players"]);
    await home.add(1, 2);
    const all = await (await openAsOperator(home.serverId, "?after=earliest")).take(3);
    expect(timesOf(all.slice(1))).toEqual([1, 2]);
    const rest = await openAsOperator(home.serverId, `?after=${all[1]?.id}&types=player.killed`);
    expect(timesOf((await rest.take(2)).slice(1))).toEqual([2]);
    await home.add(3);
    await poll();
    expect(timesOf(await rest.take(1))).toEqual([3]);
  });

  test("ends when its server is deleted, and needs the master key and a server", async () => {
    const home = await makeHome();
    const reader = await openAsOperator(home.serverId, "");
    await reader.take(1);
    await gatehouse.admin("DELETE", `/admin/servers/${home.serverId}`);
    await check();
    expect(await reader.next()).toMatchObject({ event: "bye", data: { code: 5020 } });
    expect(await reader.next()).toBeUndefined();
    expect((await gatehouse.get(pathOf(home.serverId), gatehouse.masterKey)).status).toBe(404);
    expect((await gatehouse.get(pathOf(home.serverId), home.key.token)).status).toBe(401);
  });
});

test("a drain ends every stream at once", async () => {
  const own = await startGatehouse({ archive });
  const { token } = await own.addKey(await own.addServer());
  const reader = new SseReader(await own.get(STREAM, token));
  await reader.take(1);
  const stopping = own.stop();
  expect(await reader.next()).toMatchObject({ event: "bye", data: { reason: "restart" } });
  expect(await reader.next()).toBeUndefined();
  await stopping;
});
