// Events in a terminal: a line for each that fits 80 columns, and pages that follow each other.
import { expect, test } from "bun:test";
import { EVENT_TYPES } from "../../core/events/event-types.ts";
import type { EventPage, EventResource } from "../../core/wire/event.ts";
import type { AdminClient, AdminRequest } from "../connection/admin-client.ts";
import { Printer } from "../terminal/printer.ts";
import { describeEvent, EventSource, printEvents } from "./events.ts";

const NOW = 1_800_000_000_000;

function makeEvent(type: EventResource["type"], data: object, meta?: Record<string, unknown>): EventResource {
  return {
    ...{ id: "AAAA", type, at: NOW, seen_at: NOW, source: "log", backfill: false },
    data: data as EventResource["data"],
    ...(meta && { meta }),
  };
}

function print(events: readonly EventResource[], width: number | undefined): string[] {
  let text = "";
  const write = (more: string) => {
    text += more;
  };
  printEvents({ printer: new Printer({ write, width, hasColours: false }), wantsJson: false }, events);
  return text.trimEnd().split("\n");
}

test.each<[EventResource, string]>([
  [makeEvent("player.joined", { Player: "Ann:1" }), "Ann"],
  [makeEvent("player.killed", { Killer: "Ann:1", Killed: "Bob:2" }), "Ann killed Bob"],
  [makeEvent("player.killed", { Killed: "Bob:2" }), "Bob died"],
  [makeEvent("command.used", { Player: "Ann:1", Command: ":h a:1" }), "Ann: :h a:1"],
  [makeEvent("modcall.answered", { Caller: "Bob:2", Moderator: "Ann:1" }), "Ann came to Bob"],
  [makeEvent("call.opened", { CallNumber: 4, Team: "Fire", Description: "Smoke" }), "#4 Fire: Smoke"],
  [
    makeEvent("player.changed", { Player: "Ann:1", Team: "Fire" }, { before: { Team: "Police" } }),
    "Ann Team: Police → Fire",
  ],
  [makeEvent("queue.changed", { Queue: [1, 2] }, { before: [] }), "0 → 2 waiting"],
  [makeEvent("staff.added", { Role: "Admins", UserId: "5", Name: "Eve" }), "Eve (Admins)"],
  [makeEvent("server.online", { upstream_code: null, upstream_message: null }), "-"],
  [
    makeEvent("gap", { section: "KillLogs", reason: "no_overlap", from: null, to: null }),
    "KillLogs may be missing (no_overlap)",
  ],
  [makeEvent("gap", { section: "*", reason: "not_watched" }), "changes may be missing (not_watched)"],
])("%j", (event, text) => {
  expect(describeEvent(event)).toBe(text);
});

test("every type can be described when the game left everything out", () => {
  for (const type of EVENT_TYPES) expect(describeEvent(makeEvent(type, {}))).toBeString();
});

test("a line fits 80 columns; a long text is shortened, and nothing can break the line", () => {
  const hostile = makeEvent("command.used", { Player: "Ann:1", Command: `:m \x1b[2J\n${"x".repeat(200)}` });
  const lines = print([makeEvent("server.unreachable", { upstream_message: "gone" }), hostile], 80);
  expect(lines).toHaveLength(2);
  for (const line of lines) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(80);
  expect(lines[0]).toMatch(/^2027-01-15 \S+ +server\.unreachable {2}gone$/);
  expect(lines[1]).toContain("Ann: :m \\x1b[2J\\nxx");
  const [whole] = print([hostile], undefined);
  expect(whole).toEndWith("x".repeat(200));
});

/** An admin API with events 1 to `count`, whose cursors are their numbers. */
function makeApi(count: number, requests: AdminRequest["query"][] = []): Pick<AdminClient, "call"> {
  const answer = (query: AdminRequest["query"] = {}): EventPage => {
    const limit = Number(query.limit);
    const numbers = Array.from({ length: count }, (_, n) => n + 1);
    const until = query.before === "now" ? count : Number(query.before);
    const from = query.after === "earliest" ? 0 : Number(query.after);
    const chosen = query.before ? numbers.slice(Math.max(0, until - limit), until) : numbers.slice(from, from + limit);
    const items = chosen.map((n) => ({ ...makeEvent("player.joined", { Player: `P:${n}` }), id: String(n) }));
    const first = (chosen[0] ?? 1) - 1;
    return {
      items,
      next: String(chosen.at(-1) ?? from),
      has_more: query.before ? first > 0 : (chosen.at(-1) ?? 0) < count,
      ...(query.before && { previous: String(first) }),
    };
  };
  return {
    call: (async (request: AdminRequest) => {
      requests.push(request.query);
      return { text: JSON.stringify(answer(request.query)), body: undefined };
    }) as AdminClient["call"],
  };
}

const idsOf = (events: readonly EventResource[]) => events.map(({ id }) => Number(id));
const openSource = (admin: Pick<AdminClient, "call">) =>
  new EventSource({ admin: admin as AdminClient }, "srv_a", "player.*");

test("the newest events are read backwards over as many pages as it takes, and told oldest first", async () => {
  const { events, next } = await openSource(makeApi(1_300)).readNewest(1_200);
  expect(idsOf(events)).toEqual(Array.from({ length: 1_200 }, (_, n) => 101 + n));
  expect(next).toBe("1300");
  expect((await openSource(makeApi(3)).readNewest(50)).events).toHaveLength(3);
});

test("the events after a cursor are read to their end, or to the limit", async () => {
  const shown: number[] = [];
  const show = (events: readonly EventResource[]) => void shown.push(...idsOf(events));
  expect(await openSource(makeApi(1_300)).readAfter("earliest", Number.POSITIVE_INFINITY, show)).toBe("1300");
  expect(shown).toEqual(Array.from({ length: 1_300 }, (_, n) => n + 1));
  shown.length = 0;
  expect(await openSource(makeApi(1_300)).readAfter("700", 501, show)).toBe("1201");
  expect(shown).toHaveLength(501);
});

test("the types are sent along, to pages and to the stream", async () => {
  const requests: AdminRequest[] = [];
  const admin = {
    stream: (request: AdminRequest) => void requests.push(request),
  } as unknown as AdminClient;
  openSource(admin).stream("1", new AbortController().signal);
  expect(requests).toMatchObject([
    { path: ["servers", "srv_a", "events", "stream"], query: { after: "1", types: "player.*" } },
  ]);
  const queries: AdminRequest["query"][] = [];
  await openSource(makeApi(1, queries)).readAfter("earliest", 1, () => {});
  expect(queries).toEqual([{ after: "earliest", limit: "1", types: "player.*" }]);
});
