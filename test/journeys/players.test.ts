// Players, notes and calls for a moderator through the whole app: what readings show is found, claimed and written about over HTTP.
import { beforeAll, describe, expect, spyOn, test } from "bun:test";
import { HOUR_MS } from "../../src/core/durations.ts";
import { HIDES_LOCATION } from "../../src/core/keys/rights.ts";
import { NOTES_MAX } from "../../src/core/players/vocabulary.ts";
import { SECTIONS, type Section, toSectionSet } from "../../src/core/sections.ts";
import type { PresentHistory } from "../../src/core/wire/history.ts";
import type {
  ModCallPage,
  ModCallResource,
  NotePage,
  NoteResource,
  PlayerPage,
  PlayerRecord,
} from "../../src/core/wire/players.ts";
import { ModCallDesk } from "../../src/gateway/modcalls/mod-call-desk.ts";
import { MemoryArchive } from "../event-archive.ts";
import { BASE_INFO } from "../fake-game-api.ts";
import { addPerson, signIn } from "../people.ts";
import { startGatehouse, type TestKey } from "../start-gatehouse.ts";
import { until } from "../until.ts";
import { openStage } from "./stage.ts";

const SERVER = "/v2/game/server";
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const archive = new MemoryArchive();
const { game, gatehouse } = await openStage({ archive });
let serverId: string;
/** Reads only; may send one command; may send every command. */
let reader: TestKey;
let helper: TestKey;
let chief: TestKey;
let start: number;

const LOCATION = { LocationX: 12.5, LocationZ: -7, StreetName: "Park Street" };
const player = (reference: string, Team = "Civilian") => {
  return { Player: reference, Permission: "Normal", Callsign: null, Team, WantedStars: 0, Location: LOCATION };
};
const secondsAt = (ms: number) => (start + ms) / 1_000;

async function read(afterMs: number, players: readonly object[], logs: object = {}): Promise<void> {
  const { clock } = gatehouse;
  clock.advance(start + afterMs - clock.now);
  const lists = { JoinLogs: [], KillLogs: [], CommandLogs: [], ModCalls: [], Queue: [], Vehicles: [] };
  const info = {
    ...BASE_INFO,
    CurrentPlayers: players.length,
    Players: players,
    EmergencyCalls: [],
    ...lists,
    ...logs,
  };
  game.answer = () => Response.json(info);
  expect((await gatehouse.get(SERVER, reader.token)).status).toBe(200);
  await until("the reading is not recorded", async () => {
    return (await archive.readOpenHistory(serverId)).counts.last?.at === clock.now;
  });
}

async function ask<T>(path: string, key = chief, method = "GET", body?: unknown): Promise<{ status: number; body: T }> {
  const response = await fetch(gatehouse.url + SERVER + path, {
    method,
    headers: {
      Authorization: `Bearer ${key.token}`,
      ...(body !== undefined && { "Content-Type": "application/json" }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: (text === "" ? null : JSON.parse(text)) as T };
}
const addKey = async (sections: readonly Section[], rights: { commands?: string[]; hide?: number } = {}) => {
  const server = gatehouse.app.store.servers.find(serverId);
  if (!server) throw new Error("no server");
  return gatehouse.addKey(server, { sections: toSectionSet(sections), ...rights });
};
/** A person with this role; `again` signs the same person in anew. */
async function addSignedIn(role: string) {
  const person = await addPerson(gatehouse, { servers: [{ serverId, role }] });
  const again = async (): Promise<TestKey> => {
    return { keyId: person.personId, token: await (await signIn(gatehouse, person)).token(serverId) };
  };
  return { person, key: await again(), again };
}

beforeAll(async () => {
  const server = await gatehouse.addServer({ community: "cedar" });
  serverId = server.serverId;
  [reader, helper, chief] = [
    await gatehouse.addKey(server),
    await gatehouse.addKey(server, { commands: [":h"] }),
    await gatehouse.addKey(server, { commands: ["*"] }),
  ];
  start = gatehouse.clock.now;
  const [ann, bob] = [player("Ann:1", "Police"), player("Bob:2")];
  await read(0, [ann, bob]);
  await read(30 * SECOND, [ann, bob], {
    KillLogs: [{ Killed: "Bob:2", Killer: "Ann:1", Timestamp: secondsAt(20 * SECOND) }],
    CommandLogs: [{ Player: "Ann:1", Timestamp: secondsAt(25 * SECOND), Command: ":jail bob spam" }],
    ModCalls: [{ Caller: "Bob:2", Moderator: null, Timestamp: secondsAt(10 * SECOND) }],
  });
});

describe("players", () => {
  test("are found by name and id, and told with what is known of them", async () => {
    const { body } = await ask<PlayerPage>("/players");
    expect(body.next).toBeNull();
    expect(body.items.toSorted((a, b) => Number(a.id) - Number(b.id))).toEqual([
      {
        player: "Ann:1",
        id: "1",
        names: ["Ann"],
        first_seen_at: start,
        last_seen_at: gatehouse.clock.now,
        seconds: 30,
        sessions: 1,
        is_here: true,
      },
      expect.objectContaining({ player: "Bob:2", is_here: true }),
    ]);
    const search = async (query: string) =>
      (await ask<PlayerPage>(`/players?${query}`)).body.items?.map(({ id }) => id);
    expect(await search("query=aN")).toEqual(["1"]);
    expect(await search("query=2")).toEqual(["2"]);
    expect(await search("query=&here=false")).toEqual([]);
    expect(await search("here=true&query=%20bob%20")).toEqual(["2"]);
    const first = await ask<PlayerPage>("/players?limit=1");
    const second = await ask<PlayerPage>(`/players?limit=1&cursor=${first.body.next}`);
    expect([...first.body.items, ...second.body.items].map(({ id }) => id).toSorted()).toEqual(["1", "2"]);
    expect(second.body.next).toBeNull();
    expect((await gatehouse.get("/v2/cedar/game/server/players", reader.token)).status).toBe(200);
    for (const query of ["here=1", "limit=0", "cursor=x", `query=${"x".repeat(101)}`, "query=a&query=b"])
      expect((await ask(`/players?${query}`)).status).toBe(400);
  });

  test("have a record, without the parts that the key may not read", async () => {
    const { body } = await ask<PlayerRecord>("/players/2");
    expect(body).toMatchObject({
      player: "Bob:2",
      teams: { Civilian: 30 },
      kills: 0,
      deaths: 1,
      commands: [{ command: ":jail bob spam", by: "Ann:1", sent_by: null, event_id: expect.any(String) }],
      modcalls: { count: 1, last: { opened_at: start + 10 * SECOND, state: "waiting" } },
      notes: [],
    });
    const bare = await addKey(["Players"]);
    expect(Object.keys((await ask<PlayerRecord>("/players/2", bare)).body)).toEqual([
      ...["player", "id", "names", "first_seen_at", "last_seen_at", "seconds", "sessions", "is_here", "teams"],
    ]);
    expect((await ask("/players/99")).body).toEqual({ code: 5020, message: "not_found" });
    expect((await ask("/players/x%2F")).status).toBe(404);
    const blind = await addKey(SECTIONS.filter((section) => section !== "Players"));
    for (const path of ["/players", "/players/2"])
      expect((await ask(path, blind)).body).toMatchObject({ code: 5011, details: { sections: ["Players"] } });
  });
});

describe("notes", () => {
  const text = "Rammed cars twice.\nLast warning.";

  test("are written, listed and deleted by their author, or by whoever may send every command", async () => {
    const { status, body: written } = await ask<NoteResource>("/players/1/notes", helper, "POST", {
      text,
      kind: "warning",
    });
    expect([status, written]).toEqual([
      201,
      {
        note_id: expect.stringMatching(/^note_[0-9A-Za-z]{20}$/),
        text,
        kind: "warning",
        by: { kind: "key", id: helper.keyId, name: "test" },
        at: gatehouse.clock.now,
      },
    ]);
    const path = `/players/1/notes/${written.note_id}`;
    expect((await ask("/players/1/notes", chief)).body).toEqual({ items: [written], next: null });
    expect((await ask<PlayerRecord>("/players/1", helper)).body.notes).toEqual([written]);
    expect(Object.keys((await ask<PlayerRecord>("/players/1", reader)).body)).not.toContain("notes");
    const other = await addKey(SECTIONS, { commands: [":h"] });
    expect((await ask(path, other, "DELETE")).body).toMatchObject({ code: 5009, details: { reason: "command" } });
    expect((await ask(path, chief, "DELETE")).status).toBe(204);
    expect((await ask(path, helper, "DELETE")).status).toBe(404);
  });

  test("need the right to send a command, a known player and a decent text", async () => {
    for (const method of ["GET", "POST"]) {
      const refused = await ask("/players/1/notes", reader, method, method === "POST" ? {} : undefined);
      expect(refused.body).toMatchObject({ code: 5009, details: { reason: "command" } });
    }
    const note = (body: unknown, id = "1") => ask(`/players/${id}/notes`, helper, "POST", body);
    expect((await note({ text, kind: "note" }, "99")).status).toBe(404);
    for (const body of [
      { text: " ", kind: "note" },
      { text, kind: "ban" },
      { text: "x".repeat(1_001), kind: "note" },
      { text: "a\u0007", kind: "note" },
      { text: "a\rb", kind: "note" },
      { kind: "note" },
    ])
      expect((await note(body)).body).toMatchObject({ code: 5104 });
  });

  test("have line breaks of every system, and tabs", async () => {
    const answer = await ask<NoteResource>("/players/1/notes", helper, "POST", { text: "a\r\nb\n\tc", kind: "note" });
    expect([answer.status, answer.body.text]).toEqual([201, "a\nb\n\tc"]);
    expect((await ask(`/players/1/notes/${answer.body.note_id}`, helper, "DELETE")).status).toBe(204);
  });

  test("are at most a hundred of a player; the next is refused until one is deleted", async () => {
    const add = (n: number) =>
      ask<NoteResource>("/players/2/notes", helper, "POST", { text: `Note ${n}`, kind: "note" });
    const written = [];
    for (let n = 0; n < NOTES_MAX; n++) written.push(await add(n));
    expect(new Set(written.map(({ status }) => status))).toEqual(new Set([201]));
    expect(await add(101)).toMatchObject({ status: 409, body: { code: 5104 } });
    expect((await ask<NotePage>("/players/2/notes")).body.items).toHaveLength(NOTES_MAX);
    expect((await ask(`/players/2/notes/${written[0]?.body.note_id}`, helper, "DELETE")).status).toBe(204);
    expect((await add(101)).status).toBe(201);
  });
});

describe("calls for a moderator", () => {
  const list = async (query = "", key = chief) => (await ask<ModCallPage>(`/modcalls${query}`, key)).body.items;
  const claimPath = async () => `/modcalls/${(await list("?state=waiting,claimed,left"))[0]?.id}/claim`;

  test("are listed with state and position, as far as the key may see it", async () => {
    const [call] = await list();
    expect(call).toEqual({
      id: expect.stringMatching(/^[A-Za-z0-9_-]+$/),
      caller: "Bob:2",
      opened_at: start + 10 * SECOND,
      state: "waiting",
      is_here: true,
      position: LOCATION,
      answered_by: null,
      answered_at: null,
      claimed_by: null,
      claimed_at: null,
    });
    expect((await list("", await addKey(SECTIONS, { hide: HIDES_LOCATION })))[0]?.position).toBeNull();
    expect((await list("", await addKey(["ModCalls"])))[0]?.position).toBeNull();
    expect((await ask("/modcalls", await addKey(["Players"]))).body).toMatchObject({ code: 5011 });
    for (const query of ["?state=", "?state=open", "?state=waiting,waiting", "?cursor=x"])
      expect((await ask(`/modcalls${query}`)).status).toBe(400);
  });

  test("have no position for a key from which it is hidden while it is looked up", async () => {
    const key = await addKey(SECTIONS);
    expect(await list("", key)).toMatchObject([{ position: LOCATION }]);
    const { findPositions } = ModCallDesk.prototype;
    const lookUp = spyOn(ModCallDesk.prototype, "findPositions").mockImplementation(async function (
      this: ModCallDesk,
      server,
    ) {
      expect((await gatehouse.admin("PATCH", `/admin/keys/${key.keyId}`, { hide: ["Location"] })).status).toBe(200);
      return findPositions.call(this, server);
    });
    try {
      expect(await list("", key)).toMatchObject([{ position: null }]);
      expect(lookUp).toHaveBeenCalledTimes(1);
    } finally {
      lookUp.mockRestore();
    }
  });

  test("are claimed, taken and released, and every change is an event", async () => {
    const path = await claimPath();
    expect((await ask(path, reader, "POST")).body).toMatchObject({ code: 5009, details: { reason: "command" } });
    const claimed = await ask<ModCallResource>(path, helper, "POST");
    expect([claimed.status, claimed.body.state, claimed.body.claimed_by?.id]).toEqual([200, "claimed", helper.keyId]);
    expect((await ask<ModCallResource>(path, helper, "POST", {})).body).toEqual(claimed.body);
    const refused = await ask(path, chief, "POST", { take: false });
    expect([refused.status, refused.body]).toEqual([
      409,
      { code: 5104, message: "invalid_request", details: { claimed_by: claimed.body.claimed_by } },
    ]);
    const taken = await ask<ModCallResource>(path, chief, "POST", { take: true });
    expect(taken.body.claimed_by?.id).toBe(chief.keyId);
    expect((await ask(path, helper, "DELETE")).body).toMatchObject({ code: 5009 });
    expect((await ask<ModCallResource>(path, chief, "DELETE")).body).toMatchObject({
      state: "waiting",
      claimed_by: null,
    });
    expect((await ask<ModCallResource>(path, helper, "DELETE")).status).toBe(200);
    expect((await ask(path, chief, "POST", { take: "yes" })).body).toMatchObject({
      code: 5104,
      details: { take: expect.any(String) },
    });
    expect((await ask("/modcalls/nothing/claim", chief, "POST")).status).toBe(404);
    const { body } = await ask<{ items: { type: string; meta: { by: { id: string } } }[] }>(
      "/events?types=modcall.claimed,modcall.released",
    );
    expect(body.items.map(({ type, meta }) => [type.slice(8), meta.by.id])).toEqual([
      ["claimed", helper.keyId],
      ["released", chief.keyId],
      ["claimed", chief.keyId],
      ["released", chief.keyId],
    ]);
  });

  test("are a person's who may claim, whichever browser the person has", async () => {
    const path = await claimPath();
    const { person, key: trial, again } = await addSignedIn("trial");
    const by = { kind: "person", id: person.personId, name: person.name };
    expect((await ask(path, trial, "POST")).body).toMatchObject({ state: "claimed", claimed_by: by });
    const { key: other } = await addSignedIn("trial");
    expect((await ask(path, other, "DELETE")).body).toMatchObject({ code: 5009, details: { reason: "role" } });
    expect((await ask(path, await again(), "DELETE")).body).toMatchObject({ state: "waiting" });
    const { body: note } = await ask<NoteResource>("/players/1/notes", trial, "POST", { text: "Hm", kind: "note" });
    expect(note.by).toMatchObject(by);
    const notePath = `/players/1/notes/${note.note_id}`;
    expect((await ask(notePath, other, "DELETE")).body).toMatchObject({ code: 5009, details: { reason: "role" } });
    const { key: head } = await addSignedIn("head");
    expect((await ask(notePath, head, "DELETE")).status).toBe(204);
  });

  test("and notes are refused to a person whose role has no such ability, with the reason", async () => {
    const { key: viewer } = await addSignedIn("viewer");
    const path = await claimPath();
    const requests = [
      [path, "POST", { take: true }],
      [path, "DELETE"],
      ["/players/1/notes", "GET"],
      ["/players/1/notes", "POST", { text: "Hm", kind: "note" }],
      ["/players/1/notes/note_none", "DELETE"],
    ] as const;
    for (const [where, method, body] of requests)
      expect([method, where, await ask(where, viewer, method, body)]).toEqual([
        method,
        where,
        { status: 403, body: { code: 5009, message: "forbidden", details: { reason: "role" } } },
      ]);
    expect(Object.keys((await ask<PlayerRecord>("/players/1", viewer)).body)).not.toContain("notes");
    expect((await list("", viewer))[0]).toMatchObject({ position: LOCATION });
    expect((await ask<PlayerPage>("/players", viewer)).status).toBe(200);
  });

  test("wake whoever waits for events", async () => {
    const path = await claimPath();
    const { body } = await ask<{ next: string }>("/events?after=now");
    const waiting = ask<{ items: { type: string }[] }>(`/events?after=${body.next}&wait=20&types=modcall.*`);
    await ask(path, helper, "POST");
    expect((await waiting).body.items.map(({ type }) => type)).toEqual(["modcall.claimed"]);
  });

  test("are left a minute after the caller, wait again when the caller is back, and end with an answer", async () => {
    const path = await claimPath();
    const call = { Caller: "Bob:2", Moderator: null, Timestamp: secondsAt(10 * SECOND) };
    const [ann, bob] = [player("Ann:1", "Police"), player("Bob:2")];
    const left = { Join: false, Timestamp: secondsAt(50 * SECOND), Player: "Bob:2" };
    await read(MINUTE, [ann], { JoinLogs: [left], ModCalls: [call] });
    expect(await list()).toMatchObject([{ state: "claimed", is_here: false, position: null }]);
    gatehouse.clock.advance(start + 110 * SECOND - gatehouse.clock.now);
    expect(await list()).toEqual([]);
    expect(await list("?state=left")).toMatchObject([{ state: "left" }]);
    expect((await ask(path, chief, "POST", { take: true })).body).toMatchObject({ details: { state: "left" } });
    await read(2 * MINUTE, [ann, bob], { JoinLogs: [left], ModCalls: [call] });
    expect(await list()).toMatchObject([{ state: "claimed", is_here: true }]);
    await read(2 * MINUTE + 5 * SECOND, [ann, bob], { ModCalls: [{ ...call, Moderator: "Ann:1" }] });
    expect(await list()).toEqual([]);
    const answered = { state: "answered", answered_by: "Ann:1", answered_at: gatehouse.clock.now };
    expect(await list("?state=answered,expired")).toMatchObject([answered]);
    expect((await ask(path, chief, "POST")).body).toMatchObject({ details: { state: "answered" } });
  });

  test("keep the claim when they are over, and nobody releases somebody else's without the right to", async () => {
    const path = `/modcalls/${(await list("?state=answered"))[0]?.id}/claim`;
    const kept = { state: "answered", claimed_by: { id: helper.keyId } };
    const other = await addKey(SECTIONS, { commands: [":h"] });
    expect(await ask(path, other, "DELETE")).toMatchObject({ status: 403, body: { code: 5009 } });
    for (const key of [helper, chief])
      expect(await ask(path, key, "DELETE")).toMatchObject({ status: 200, body: kept });
  });

  test("are listed in pages, callers who are there first, then the oldest, and are over after an hour", async () => {
    const begin = 10 * MINUTE;
    const call = (Caller: string, ms: number) => ({ Caller, Moderator: null, Timestamp: secondsAt(begin + ms) });
    const calls = [call("Cid:3", 0), call("Ann:1", 2_000), call("Bob:2", 1_000), call("Dan:4", 3_000)];
    await read(begin, [player("Ann:1"), player("Bob:2")]);
    await read(begin + 5 * SECOND, [player("Ann:1"), player("Bob:2")], { ModCalls: calls });
    const callers: string[] = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const { body }: { body: ModCallPage } = await ask<ModCallPage>(
        `/modcalls?limit=1${cursor && `&cursor=${cursor}`}`,
      );
      callers.push(...body.items.map(({ caller }) => caller));
      cursor = body.next;
    }
    expect(callers).toEqual(["Bob:2", "Ann:1", "Cid:3", "Dan:4"]);
    const [first] = await list();
    await read(begin + HOUR_MS + SECOND, [player("Ann:1"), player("Bob:2")]);
    expect((await list("?state=expired")).map(({ caller }) => caller)).toContain("Bob:2");
    const claimed = await ask(`/modcalls/${first?.id}/claim`, chief, "POST");
    expect(claimed).toMatchObject({ status: 409, body: { code: 5104, details: { state: "expired" } } });
  });

  test("are released by an operator, whoever claimed them; who may not read calls hears of none of it", async () => {
    const begin = 2 * HOUR_MS;
    const ModCalls = [{ Caller: "Ann:1", Moderator: null, Timestamp: secondsAt(begin) }];
    await read(begin, [player("Ann:1")]);
    await read(begin + 5 * SECOND, [player("Ann:1")], { ModCalls });
    const deaf = await addKey(SECTIONS.filter((section) => section !== "ModCalls"));
    const since = (await ask<{ next: string }>("/events?after=now")).body.next;
    const path = await claimPath();
    expect((await ask(path, helper, "POST")).status).toBe(200);
    const operator = await addPerson(gatehouse, { isOperator: true });
    const token = await (await signIn(gatehouse, operator)).token(serverId);
    expect(await ask(path, { keyId: operator.personId, token }, "DELETE")).toMatchObject({
      status: 200,
      body: { state: "waiting", claimed_by: null },
    });
    const told = async (key: TestKey) => {
      const { body } = await ask<{ items: { type: string }[] }>(`/events?after=${since}`, key);
      return body.items.map(({ type }) => type);
    };
    expect([await told(reader), await told(deaf)]).toEqual([["modcall.claimed", "modcall.released"], []]);
    const stream = await gatehouse.get(`${SERVER}/events/stream?after=${since}&types=modcall.*`, deaf.token);
    expect([stream.status, ((await stream.json()) as { code: number }).code]).toEqual([403, 5011]);
  });
});

test("players, notes and calls are there with a community too, and every request is counted once", async () => {
  const key = await addKey(SECTIONS, { commands: ["*"] });
  const left: number[] = [];
  const send = async (path: string, method = "GET", body?: object) => {
    const response = await fetch(`${gatehouse.url}${path}`, {
      method,
      headers: { Authorization: `Bearer ${key.token}`, ...(body && { "Content-Type": "application/json" }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    expect([method, path, response.ok]).toEqual([method, path, true]);
    left.push(Number(response.headers.get("X-RateLimit-Remaining")));
    return response.status === 204 ? undefined : response.json();
  };
  for (const base of [SERVER, "/v2/cedar/game/server"]) {
    const { items } = (await send(`${base}/modcalls`)) as ModCallPage;
    for (const method of ["POST", "DELETE"]) await send(`${base}/modcalls/${items[0]?.id}/claim`, method);
    for (const path of ["players", "players/1", "players/1/notes", "history/present"]) await send(`${base}/${path}`);
    const note = { text: "Hm", kind: "note" };
    const { note_id } = (await send(`${base}/players/1/notes`, "POST", note)) as NoteResource;
    await send(`${base}/players/1/notes/${note_id}`, "DELETE");
  }
  expect(left).toEqual(left.map((_, index) => (left[0] ?? 0) - index));
});

test("who was there at a moment", async () => {
  const present = async (at: number) => (await ask<PresentHistory>(`/history/present?at=${at}`)).body;
  const { known, items } = await present(start + 40 * SECOND);
  expect([known, items.map(({ player: name }) => name).toSorted()]).toEqual([true, ["Ann:1", "Bob:2"]]);
  const later = await present(start + 55 * SECOND);
  expect(later.items.map(({ player: name }) => name)).toEqual(["Ann:1"]);
  expect(await present(start - 10 * MINUTE)).toEqual({ at: start - 10 * MINUTE, known: false, items: [] });
  expect((await ask("/history/present")).status).toBe(200);
  const toCome = gatehouse.clock.now + 1;
  expect(await present(toCome)).toEqual({ at: toCome, known: false, items: [] });
  expect((await ask("/history/present?at=x")).status).toBe(400);
  expect((await ask("/history/present", await addKey(["Players"]))).body).toMatchObject({ code: 5011 });
});

test("without an archive every path is 501, and with one that is away 503", async () => {
  const paths = ["/players", "/players/1", "/players/1/notes", "/modcalls", "/history/present"];
  archive.fault = new (await import("../../src/core/errors.ts")).ArchiveUnavailable("away");
  try {
    for (const path of paths) expect((await ask(path)).body).toMatchObject({ code: 5106 });
  } finally {
    archive.fault = undefined;
  }
  const bare = await startGatehouse();
  try {
    const { token } = await bare.addKey(await bare.addServer(), { commands: ["*"] });
    for (const path of paths) {
      const response = await bare.get(SERVER + path, token);
      expect(await response.json()).toMatchObject({ code: 5110 });
    }
  } finally {
    await bare.stop();
  }
});
