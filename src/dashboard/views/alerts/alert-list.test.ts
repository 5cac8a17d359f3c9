import { describe, expect, test } from "bun:test";
import { HOUR_MS } from "../../../core/durations.ts";
import type { EventResource } from "../../../core/wire/event.ts";
import {
  type Dismissals,
  dismiss,
  ENDED_AGE_MAX_MS,
  IDS_MAX,
  listAlerts,
  parseDismissals,
  SERVERS_MAX,
  SHOWN_MAX,
  UNANSWERED,
} from "./alert-list.ts";

const NOW = 1_800_000_000_000;
const NOTHING: Dismissals = { since: 0, ids: [] };

let count = 0;

function alert(type: "raised" | "cleared", rule: string, subject: string, at = NOW - 60_000 + count): EventResource {
  return {
    id: `e${++count}`,
    type: `alert.${type}`,
    at,
    data: { rule, subject, text: "" },
    meta: {},
  } as unknown as EventResource;
}

/** Told in the order of time. */
function list(events: readonly EventResource[], dismissed = NOTHING, now = NOW) {
  return listAlerts(events.toReversed(), dismissed, now);
}

const write = (events: readonly EventResource[], ...more: [Dismissals?, number?]) =>
  list(events, ...more).shown.map(
    ({ rule, subject, endedAt }) => `${rule} ${subject}${endedAt === undefined ? "" : " over"}`,
  );

describe("an alert", () => {
  test("stays when it is over, and is raised again when it comes back", () => {
    const events = [alert("raised", "kills", "Bob:2"), alert("cleared", "kills", "Bob:2")];
    expect(write(events.slice(0, 1))).toEqual(["kills Bob:2"]);
    expect(write(events)).toEqual(["kills Bob:2 over"]);
    expect(list(events).shown[0]).toMatchObject({ id: events[0]?.id, endedAt: events[1]?.at });
    expect(write([...events, alert("raised", "kills", "Bob:2")])).toEqual(["kills Bob:2"]);
  });

  test("is gone once it is dismissed, raised or over, until it is raised anew", () => {
    const raised = alert("raised", "kills", "Bob:2");
    const cleared = alert("cleared", "kills", "Bob:2");
    const dismissed = { since: 0, ids: [raised.id] };
    expect(write([raised], dismissed)).toEqual([]);
    expect(write([raised, cleared], dismissed)).toEqual([]);
    expect(write([raised, cleared, alert("raised", "kills", "Bob:2")], dismissed)).toEqual(["kills Bob:2"]);
  });

  test("that was over before the user first looked, or for a day, is of no use", () => {
    const events = [alert("raised", "offline", "server"), alert("cleared", "offline", "server", NOW - 1)];
    expect(write(events, { since: NOW - 1, ids: [] })).toEqual(["offline server over"]);
    expect(write(events, { since: NOW, ids: [] })).toEqual([]);
    expect(write(events, NOTHING, NOW + ENDED_AGE_MAX_MS)).toEqual([]);
    // One that is still raised is shown however old it is.
    expect(write(events.slice(0, 1), { since: NOW, ids: [] }, NOW + ENDED_AGE_MAX_MS)).toEqual(["offline server"]);
  });
});

test("raised ones come first, many kills at the top, and a call that nobody answers is told with the call alone", () => {
  const events = [
    alert("raised", "kills", "Old:1"),
    alert("raised", "kills", "Bob:2"),
    alert("raised", "new rule", "x"),
    alert("raised", "players", "server"),
    alert("raised", "offline", "server"),
    alert("raised", UNANSWERED, "Anna:3"),
    alert("raised", UNANSWERED, "Cid:4"),
    alert("raised", "mass_command", "Mod:5"),
    alert("cleared", UNANSWERED, "Cid:4"),
    alert("cleared", "kills", "Bob:2"),
  ];
  const expected = [
    "kills Old:1",
    "mass_command Mod:5",
    "offline server",
    "players server",
    "new rule x",
    "kills Bob:2 over",
  ];
  expect(write(events)).toEqual(expected);
  expect([...list(events).unanswered.keys()]).toEqual(["Anna:3"]);
});

test("a long list is cut at its end, and an event of another form is no reason to fail", () => {
  const many = Array.from({ length: SHOWN_MAX + 5 }, (_, index) => alert("raised", "kills", `P${index}:${index}`));
  expect(list(many).shown).toHaveLength(SHOWN_MAX);
  const broken = { id: "x", type: "alert.raised", at: 0, data: null, meta: null } as unknown as EventResource;
  expect(list([broken]).shown).toHaveLength(1);
});

describe("what is dismissed", () => {
  test("is kept by server, with the time from which the user looks", () => {
    const first = dismiss(new Map(), "a", [], NOW);
    expect(first.get("a")).toEqual({ since: NOW - HOUR_MS, ids: [] });
    const later = dismiss(dismiss(first, "a", ["e1", "e2"], NOW + 9), "b", ["e1"], NOW + 9);
    expect(later.get("a")).toEqual({ since: NOW - HOUR_MS, ids: ["e1", "e2"] });
    expect(dismiss(later, "a", ["e1"], NOW).get("a")?.ids).toEqual(["e1", "e2"]);
    expect(parseDismissals(JSON.stringify(Object.fromEntries(later)))).toEqual(later);
  });

  test("has a ceiling: the oldest dismissals and servers go first", () => {
    let all = parseDismissals(null);
    for (let server = 0; server <= SERVERS_MAX; server++) all = dismiss(all, `s${server}`, [], NOW);
    expect([all.size, all.has("s0"), all.has("s1")]).toEqual([SERVERS_MAX, false, true]);
    const ids = Array.from({ length: IDS_MAX + 1 }, (_, index) => `e${index}`);
    expect(dismiss(all, "s1", ids, NOW).get("s1")?.ids).toEqual(ids.slice(1));
  });

  test("is read whatever was stored", () => {
    const broken = [
      "",
      "{",
      "null",
      "7",
      '{"a":7}',
      '{"a":{"since":"x","ids":[]}}',
      '{"a":{"since":1,"ids":{}}}',
      "x".repeat(1e6),
    ];
    for (const text of broken) expect(parseDismissals(text).size).toBe(0);
    expect(parseDismissals('{"__proto__":{"since":1},"a":{"since":1,"ids":["e1",7,{}]}}').get("a")).toEqual({
      since: 1,
      ids: ["e1"],
    });
  });
});
