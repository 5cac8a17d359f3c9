// Alerts on their way into the ledger: each once, whatever happens to the archive, the process or another instance meanwhile.
import { beforeEach, describe, expect, test } from "bun:test";
import { EVENT_AT, MemoryArchive } from "../../../test/event-archive.ts";
import { BASE_INFO } from "../../../test/fake-game-api.ts";
import type { AlertRules } from "../../core/alerts/rules.ts";
import { StoreUnavailable } from "../../core/errors.ts";
import { writeCursor } from "../../core/events/cursor.ts";
import { filterAll, typeOfKind } from "../../core/events/event-types.ts";
import { type GameReading, readOffline } from "../../core/events/reading.ts";
import type { LedgerEvent } from "../../core/ports/archive.ts";
import { EventRecorder } from "./event-recorder.ts";

const SERVER = "srv_a";
const KILLS: AlertRules = { kills: { count: 3, seconds: 10 } };

let archive: MemoryArchive;
let now: number;
let pages: number;
let sleeps: { readonly ms: number; readonly end: () => void }[];

beforeEach(() => {
  archive = new MemoryArchive();
  now = EVENT_AT;
  pages = 0;
  sleeps = [];
  archive.onPageRead = async () => {
    pages++;
  };
});

function open(): EventRecorder {
  return new EventRecorder({
    archive,
    clock: () => now,
    sleep: (ms) => new Promise((resolve) => sleeps.push({ ms, end: resolve })),
    log: { debug() {}, info() {}, warn() {}, error: ({ err }: { err?: unknown }) => failures.push(err) },
    hash: (text) => text,
    commands: { listSent: async () => [] },
    planOf: () => ({ isWatched: true, intervalMs: 5_000 }),
  });
}
const failures: unknown[] = [];

/** Seconds since the beginning at which Bob killed somebody; the reading is made now. */
function show(...kills: readonly number[]): GameReading {
  const KillLogs = kills.map((second, n) => {
    return { Killed: `V:${n + 100}`, Timestamp: EVENT_AT / 1_000 + second, Killer: "Bob:2" };
  });
  return { at: now, gameServer: "g", settings: BASE_INFO, sections: { KillLogs }, offline: null };
}

async function read(recorder: EventRecorder, at: number, ...kills: readonly number[]): Promise<void> {
  now = EVENT_AT + at * 1_000;
  recorder.takeReading(SERVER, show(...kills));
  await recorder.flush();
}

async function readLedger(): Promise<readonly LedgerEvent[]> {
  const start = { after: "earliest" } as const;
  const page = await archive.readPage({ serverId: SERVER, start, filter: filterAll(), limit: 500 });
  if ("expired" in page) throw new Error("a cursor expired");
  return page.events;
}

/** The alerts, and how many kills. */
async function tell(): Promise<string[]> {
  const events = await readLedger();
  const alerts = events.filter(({ kind }) => typeOfKind(kind).startsWith("alert."));
  return alerts.map(({ kind, data }) => {
    const { rule, subject } = JSON.parse(data);
    return `${typeOfKind(kind)} ${rule} ${subject}`;
  });
}

const RAISED = "alert.raised kills Bob:2";
const CLEARED = "alert.cleared kills Bob:2";

test("an alert follows the events that raised it, names them, and is cleared by the passing of time", async () => {
  await archive.setAlertRules(SERVER, KILLS);
  const recorder = open();
  await read(recorder, 0);
  await read(recorder, 5, 1, 2, 3);
  const events = await readLedger();
  const [, , , raised] = events;
  expect(events.map(({ kind }) => typeOfKind(kind)).slice(3)).toEqual(["alert.raised"]);
  const ids = events.slice(0, 3).map((event) => writeCursor(SERVER, event));
  expect(JSON.parse(raised?.meta ?? "")).toEqual({ events: ids, code: "kills", values: { count: 3, seconds: 10 } });
  // Nobody reads the server any more; the first kill leaves the window 11 seconds after the beginning.
  expect(sleeps.map(({ ms }) => ms)).toEqual([6_000]);
  now = EVENT_AT + 11_000;
  sleeps[0]?.end();
  await Promise.resolve();
  await recorder.flush();
  expect(await tell()).toEqual([RAISED, CLEARED]);
});

test("after a restart an alert of a server that nobody reads is cleared when it is judged again", async () => {
  await archive.setAlertRules(SERVER, KILLS);
  const first = open();
  await read(first, 0);
  await read(first, 5, 1, 2, 3);
  sleeps.splice(0);
  const second = open();
  now = EVENT_AT + 6_000;
  second.takeTime(SERVER, now);
  await second.flush();
  expect([await tell(), sleeps.map(({ ms }) => ms)]).toEqual([[RAISED], [5_000]]);
  now = EVENT_AT + 11_000;
  sleeps[0]?.end();
  await Promise.resolve();
  await second.flush();
  expect(await tell()).toEqual([RAISED, CLEARED]);
});

test("rules that are set while a server is read begin with the next reading, also in a running recorder", async () => {
  const recorder = open();
  await read(recorder, 0);
  await read(recorder, 3, 1, 2, 3);
  await archive.setAlertRules(SERVER, KILLS);
  await read(recorder, 5, 1, 2, 3);
  expect(await tell()).toEqual([]);
  await read(recorder, 9, 1, 2, 3, 6, 7, 8);
  expect(await tell()).toEqual([RAISED]);
  // Switched off, the alert is cleared, and nothing is left of it.
  await archive.setAlertRules(SERVER, {});
  await read(recorder, 10, 8, 9, 10);
  expect(await tell()).toEqual([RAISED, CLEARED]);
  expect((await archive.load(SERVER)).memory.alerts.place).toBeNull();
});

test("a server without rules costs no query, and one with rules none when nothing has happened", async () => {
  const recorder = open();
  await read(recorder, 0);
  await read(recorder, 5, 1, 2, 3);
  expect([pages, (await archive.load(SERVER)).memory.alerts.place]).toEqual([0, null]);
  await archive.setAlertRules(SERVER, KILLS);
  await read(recorder, 10, 1, 2, 3);
  const before = pages;
  const { version } = await archive.load(SERVER);
  for (let second = 15; second < 60; second += 5) await read(recorder, second, 1, 2, 3);
  expect(pages).toBe(before);
  // One record for each reading.
  expect((await archive.load(SERVER)).version).toBe(version + 9);
});

test("a restart at any moment neither loses nor repeats an alert", async () => {
  await archive.setAlertRules(SERVER, KILLS);
  await read(open(), 0);
  await read(open(), 3, 1, 2);
  // This process dies after the kills are recorded and before alerts are judged.
  const dying = open();
  const { readPage } = archive;
  archive.readPage = () => new Promise(() => {});
  now = EVENT_AT + 4_000;
  dying.takeReading(SERVER, show(1, 2, 3));
  while ((await readLedgerWith(readPage)).length < 3) await new Promise((resolve) => setImmediate(resolve));
  archive.readPage = readPage;
  for (const second of [5, 6, 7]) await read(open(), second, 1, 2, 3);
  expect(await tell()).toEqual([RAISED]);
  for (const second of [11, 12]) await read(open(), second, 1, 2, 3);
  expect(await tell()).toEqual([RAISED, CLEARED]);
});

async function readLedgerWith(readPage: MemoryArchive["readPage"]): Promise<readonly LedgerEvent[]> {
  const request = {
    serverId: SERVER,
    start: { after: "earliest" },
    filter: filterAll(),
    limit: 500,
  } as const;
  const page = await readPage.call(archive, request);
  return "expired" in page ? [] : page.events;
}

test.each(["lost", "refused"] as const)("an alert whose recording was %s is told once", async (fate) => {
  await archive.setAlertRules(SERVER, KILLS);
  const recorder = open();
  await read(recorder, 0);
  const record = archive.record.bind(archive);
  archive.record = async (records) => {
    const isAlert = records.some(({ events }) => events.some(({ type }) => type === "alert.raised"));
    if (isAlert && fate === "lost") await record(records);
    if (isAlert) throw new StoreUnavailable("no answer");
    return record(records);
  };
  await read(recorder, 3, 1, 2, 3);
  expect(recorder.fault).toBeDefined();
  archive.record = record;
  await read(recorder, 4, 1, 2, 3);
  await read(recorder, 12, 1, 2, 3);
  expect(await tell()).toEqual([RAISED, CLEARED]);
  expect(failures).toEqual([]);
});

test("two instances that read the same server tell each alert once", async () => {
  await archive.setAlertRules(SERVER, KILLS);
  const [one, other] = [open(), open()];
  await read(one, 0);
  await read(other, 1);
  now = EVENT_AT + 4_000;
  one.takeReading(SERVER, show(1, 2, 3));
  other.takeReading(SERVER, show(1, 2, 3));
  await Promise.all([one.flush(), other.flush()]);
  expect(await tell()).toEqual([RAISED]);
  now = EVENT_AT + 12_000;
  one.takeReading(SERVER, show(1, 2, 3));
  for (const { end } of sleeps) end();
  await Promise.resolve();
  await Promise.all([one.flush(), other.flush()]);
  expect(await tell()).toEqual([RAISED, CLEARED]);
});

test("an archive that is away when alerts are judged only puts them off", async () => {
  await archive.setAlertRules(SERVER, KILLS);
  const recorder = open();
  await read(recorder, 0);
  const { readPage } = archive;
  archive.readPage = () => Promise.reject(new StoreUnavailable("away"));
  await read(recorder, 3, 1, 2, 3);
  archive.readPage = readPage;
  expect(await tell()).toEqual([]);
  await recorder.flush();
  expect(await tell()).toEqual([RAISED]);
});

test.each(["begin", "go on"])("a bug when alerts %s keeps no event from being recorded", async (when) => {
  await archive.setAlertRules(SERVER, KILLS);
  if (when === "go on") await read(open(), 0);
  const recorder = open();
  const { readPage } = archive;
  archive.readPage = () => Promise.reject(new TypeError("a bug"));
  await read(recorder, 1);
  await read(recorder, 3, 1, 2, 3);
  archive.readPage = readPage;
  expect([(await readLedger()).length, failures.splice(0).length]).toEqual([3, 1]);
  await read(recorder, 4, 1, 2, 3, 4);
  await read(recorder, 8, 1, 2, 3, 4, 5, 6, 7);
  expect(await tell()).toEqual([RAISED]);
});

test("the time of an offline server without readings does not count, over a restart", async () => {
  await archive.setAlertRules(SERVER, { offline: { minutes: 2 } });
  const offline = async (recorder: EventRecorder, at: number) => {
    now = EVENT_AT + at * 1_000;
    recorder.takeReading(SERVER, readOffline(now, "g", { code: 3002, message: "offline" }));
    await recorder.flush();
  };
  const first = open();
  await read(first, 0);
  await offline(first, 10);
  const second = open();
  // 60 seconds after the last reading are known, and 1,000 are not.
  for (const at of [1_070, 1_100, 1_129]) await offline(second, at);
  expect(await tell()).toEqual([]);
  await offline(second, 1_130);
  expect(await tell()).toEqual(["alert.raised offline server"]);
});

test("a rule that is set while every reading fails is noticed", async () => {
  const recorder = open();
  await read(recorder, 0);
  const fail = async (at: number) => {
    now = EVENT_AT + at * 1_000;
    recorder.takeFailure(SERVER, { code: 0, message: "down" }, now);
    await recorder.flush();
  };
  for (const at of [5, 40]) await fail(at);
  await archive.setAlertRules(SERVER, { unreachable: { minutes: 1 } });
  for (const at of [50, 110]) await fail(at);
  now = EVENT_AT + 170_000;
  for (const { end } of sleeps) end();
  await Promise.resolve();
  await fail(170);
  expect(await tell()).toEqual(["alert.raised unreachable server"]);
});

test("a forgotten player is in no alert and in no state, and the alert is cleared", async () => {
  await archive.setAlertRules(SERVER, KILLS);
  const recorder = open();
  await read(recorder, 0);
  await read(recorder, 3, 1, 2, 3);
  await archive.startForgetting("2");
  while (await archive.continueForgetting());
  await read(recorder, 12, 1, 2, 3);
  expect(await tell()).toEqual(["alert.raised kills deleted:0", "alert.cleared kills deleted:0"]);
  const texts = (await readLedger()).map(({ data }) => data);
  expect(
    [texts, (await archive.load(SERVER)).memory.alerts].map((value) => JSON.stringify(value)).join(),
  ).not.toContain("Bob");
});

test("too many players are told once, when they were there for long enough, and cleared when they leave", async () => {
  await archive.setAlertRules(SERVER, { players: { above: 5, minutes: 1 } });
  const recorder = open();
  const count = async (at: number, players: number) => {
    now = EVENT_AT + at * 1_000;
    const settings = { ...BASE_INFO, CurrentPlayers: players };
    recorder.takeReading(SERVER, { ...show(), settings });
    await recorder.flush();
  };
  await count(0, 5);
  for (const at of [10, 40, 69]) await count(at, 6);
  expect(await tell()).toEqual([]);
  for (const at of [70, 100]) await count(at, 9);
  expect(await tell()).toEqual(["alert.raised players server"]);
  await count(110, 5);
  expect(await tell()).toEqual(["alert.raised players server", "alert.cleared players server"]);
});

describe("an alert about a call", () => {
  const CALL_RAISED = "alert.raised unanswered_modcall Anna:1";
  const CALL_CLEARED = "alert.cleared unanswered_modcall Anna:1";
  const call = { Caller: "Anna:1", Moderator: null, Timestamp: EVENT_AT / 1_000 + 5 };
  const player = { Player: "Anna:1", Team: "Civilian", Permission: "Normal", Callsign: null, WantedStars: 0 };
  let recorder: EventRecorder;

  beforeEach(async () => {
    await archive.setAlertRules(SERVER, { unanswered_modcall: { minutes: 1 } });
    recorder = open();
    await look(0, []);
    await look(10);
  });

  async function look(at: number, ModCalls: readonly object[] = [call]): Promise<void> {
    now = EVENT_AT + at * 1_000;
    const sections = { Players: [player], ModCalls };
    recorder.takeReading(SERVER, { at: now, gameServer: "g", settings: BASE_INFO, sections, offline: null });
    await recorder.flush();
  }

  async function change(action: "claim" | "release"): Promise<void> {
    const [known] = await archive.listModCalls(SERVER, 0, now);
    const who = { kind: "key", id: "key_a", name: "A" } as const;
    await archive.changeClaim(SERVER, known?.callId ?? "", { action, who, mayReleaseAny: true, now });
  }

  test("ends at the next reading after somebody claimed it, also where nobody reads", async () => {
    await look(70);
    expect(await tell()).toEqual([CALL_RAISED]);
    await change("claim");
    await look(75);
    expect(await tell()).toEqual([CALL_RAISED, CALL_CLEARED]);
    await change("release");
    await look(80);
    expect(await tell()).toEqual([CALL_RAISED, CALL_CLEARED, CALL_RAISED]);
    await change("claim");
    recorder.takeTime(SERVER, now);
    await recorder.flush();
    expect(await tell()).toEqual([CALL_RAISED, CALL_CLEARED, CALL_RAISED, CALL_CLEARED]);
    expect(failures).toEqual([]);
  });

  test("is not raised by the passing of time when somebody claimed it since the last reading", async () => {
    await change("claim");
    now = EVENT_AT + 71_000;
    for (const { end } of sleeps) end();
    await Promise.resolve();
    await recorder.flush();
    expect(await tell()).toEqual([]);
    // The same recorder goes on with what it has read.
    await change("release");
    await look(75);
    expect(await tell()).toEqual([CALL_RAISED]);
  });

  test("ends within a minute while every reading fails, also when nobody told of the claim", async () => {
    const fail = async (at: number) => {
      now = EVENT_AT + at * 1_000;
      recorder.takeFailure(SERVER, { code: 0, message: "down" }, now);
      await recorder.flush();
    };
    await look(70);
    for (const at of [75, 140]) await fail(at);
    await change("claim");
    for (const at of [145, 210]) await fail(at);
    expect(await tell()).toEqual([CALL_RAISED, CALL_CLEARED]);
  });
});
