// The faults of the log lists, the window, and `GET /_entries`, over HTTP with a clock of the test's own.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { LOG_LISTS, type LogList } from "./log-lists.ts";
import { type Simulator, type SimulatorOptions, startSimulator } from "./simulator.ts";

const START_MS = 1_800_000_000_000;
const WINDOW = 20;

type Element = Record<string, unknown>;
type Logs = Record<LogList, Element[]> & { Players: Element[] };
type Entry = { list: LogList; element: Element };

let nowMs = START_MS;
let simulator: Simulator;

async function restart(options: SimulatorOptions = { logWindow: WINDOW }): Promise<void> {
  await simulator?.stop();
  nowMs = START_MS;
  simulator = await startSimulator({
    ...{ readLimit: 0, commandIntervalMs: 0, quirks: false },
    clock: () => nowMs,
    ...options,
  });
}
beforeEach(() => restart());
afterEach(() => simulator.stop());

const call = (path: string, server = "town") =>
  fetch(`${simulator.url}${path}`, { headers: { "server-key": `abc-${server}` } });

async function read(server = "town"): Promise<Logs> {
  const response = await call(`/v2/server?Players=true&${LOG_LISTS.map((list) => `${list}=true`).join("&")}`, server);
  expect(response.status).toBe(200);
  return (await response.json()) as Logs;
}

async function readEntries(query = "server=town") {
  const response = await call(`/_entries?${query}`);
  return (await response.json()) as { entries: Entry[]; next: number; truncated: boolean };
}

const elementsOf = (entries: Entry[], list: LogList) =>
  entries.filter((entry) => entry.list === list).map(({ element }) => element);
const countDistinct = (elements: readonly unknown[]) =>
  new Set(elements.map((element) => JSON.stringify(element))).size;

/** The newest join log entry about each player says whether they are online. */
function expectJoinsToAgree({ JoinLogs, Players }: Logs): void {
  const online = new Set(Players.map(({ Player }) => Player));
  const latest = new Map(JoinLogs.toReversed().map(({ Player, Join }) => [Player, Join]));
  expect([...latest].filter(([player, isIn]) => online.has(player) !== isIn)).toEqual([]);
}

describe("the log window", () => {
  test("a list shows 50 entries by default, and as many as logWindow says otherwise", async () => {
    for (const options of [{}, { logWindow: 1 }, { logWindow: 10_000 }]) {
      await restart(options);
      for (const list of LOG_LISTS) simulator.arm({ kind: "burst", list, times: 1 });
      for (let i = 0; i < LOG_LISTS.length; i++) await read();
      const logs = await read();
      for (const list of LOG_LISTS) expect(logs[list].length).toBe(options.logWindow ?? 50);
    }
  });

  test.each([0, 1.5, 10_001, Number.NaN])("a window of %p is refused", async (logWindow) => {
    await expect(startSimulator({ logWindow })).rejects.toThrow("logWindow");
  });

  test.each([1, 3, 50])("logWindowVaries shortens a window of %i and never exceeds it", async (logWindow) => {
    await restart({ logWindow, quirks: true });
    simulator.arm({ kind: "burst", list: "KillLogs", times: 1 });
    const lengths = new Set<number>();
    for (let i = 0; i < 60; i++) {
      lengths.add((await read()).KillLogs.length);
      nowMs += 5000;
    }
    expect(Math.max(...lengths)).toBe(logWindow);
    expect(Math.min(...lengths)).toBe(Math.ceil(logWindow * 0.3));
  });
});

describe("burst", () => {
  test.each([...LOG_LISTS])("adds distinct entries of %s, by default twice the window", async (list) => {
    await read();
    const { next } = await readEntries();
    simulator.arm({ kind: "burst", list, times: 1 });
    const shown = (await read())[list];
    const { entries } = await readEntries(`server=town&since=${next}`);
    expect([entries.length, countDistinct(entries)]).toEqual([2 * WINDOW, 2 * WINDOW]);
    expect(elementsOf(entries, list).slice(-WINDOW).toReversed()).toEqual(shown);
    expect(new Set(shown.map(({ Timestamp }) => Timestamp))).toEqual(new Set([START_MS / 1000]));
  });

  test("repeated bursts in one second add no equal entries", async () => {
    simulator.arm({ kind: "burst", list: "KillLogs", count: 30, times: 5 });
    for (let i = 0; i < 5; i++) await read();
    const kills = elementsOf((await readEntries()).entries, "KillLogs").slice(-150);
    expect(countDistinct(kills)).toBe(150);
  });

  test.each([1, 2, 7, 300])("of %i joins leaves players and join log consistent", async (count) => {
    await restart({ logWindow: 500 });
    simulator.arm({ kind: "burst", list: "JoinLogs", count, times: 1 });
    const before = (await read("other")).Players.length;
    simulator.arm({ kind: "burst", list: "JoinLogs", count, times: 1 });
    const logs = await read("other");
    expectJoinsToAgree(logs);
    expect(logs.Players.length).toBe(before);
  });
});

test.each([...LOG_LISTS])("same-second adds entries of %s with every field equal", async (list) => {
  await read();
  simulator.arm({ kind: "same-second", list, times: 1 });
  const logs = await read();
  expect(logs[list][0]).toEqual(logs[list][1] as Element);
  expect(logs[list][1]).not.toEqual(logs[list][2] as Element);
  simulator.arm({ kind: "same-second", list, count: 5, times: 1 });
  const later = await read();
  expect(countDistinct(later[list].slice(0, 5))).toBe(1);
  expectJoinsToAgree(later);
});

test("forget-logs empties the four lists for good, and new entries appear afterwards", async () => {
  const before = await read();
  simulator.arm({ kind: "forget-logs", times: 1 });
  const emptied = await read();
  expect(LOG_LISTS.map((list) => emptied[list])).toEqual([[], [], [], []]);
  expect(emptied.Players.length).toBe(before.Players.length);
  nowMs += 600_000;
  const later = await read();
  for (const list of LOG_LISTS) {
    expect(later[list].length).toBeGreaterThan(0);
    const known = new Set(before[list].map((element) => JSON.stringify(element)));
    expect(later[list].filter((element) => known.has(JSON.stringify(element)))).toEqual([]);
  }
  const truth = (await readEntries()).entries;
  expect(truth.length).toBeGreaterThanOrEqual(before.KillLogs.length + later.KillLogs.length);
  expect(elementsOf(truth, "KillLogs").slice(0, before.KillLogs.length).toReversed()).toEqual(before.KillLogs);
});

describe("faults of one answer", () => {
  test("partial-logs shows the newest `keep` entries, and only in its own answer", async () => {
    const whole = await read();
    simulator.arm({ kind: "partial-logs", times: 1 });
    simulator.arm({ kind: "partial-logs", keep: 0, times: 1 });
    const cut = await read();
    for (const list of LOG_LISTS) expect(cut[list]).toEqual(whole[list].slice(0, 3));
    expect(cut.Players).toEqual(whole.Players);
    expect((await read()).KillLogs).toEqual([]);
    expect(await read()).toEqual(whole);
  });

  test("reorder-logs shows the same entries in another order, the same for the same seed", async () => {
    const orders: Logs[][] = [];
    for (let run = 0; run < 2; run++) {
      await restart();
      const whole = await read();
      simulator.arm({ kind: "reorder-logs", times: 2 });
      const reordered = [await read(), await read()];
      const byText = (a: Element, b: Element) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);
      for (const logs of reordered) {
        for (const list of LOG_LISTS) {
          expect(logs[list]).not.toEqual(whole[list]);
          expect(logs[list].toSorted(byText)).toEqual(whole[list].toSorted(byText));
        }
      }
      expect(await read()).toEqual(whole);
      orders.push(reordered);
    }
    expect(orders[0]).toEqual(orders[1] as Logs[]);
    expect(orders[0]?.[0]).not.toEqual(orders[0]?.[1] as Logs);
  });

  test("a fault of the lists leaves the other town and the sections that were not requested alone", async () => {
    simulator.arm({ kind: "partial-logs", server: "town", keep: 0 });
    expect((await read("other")).KillLogs.length).toBeGreaterThan(0);
    expect(Object.keys((await (await call("/v2/server?Queue=true")).json()) as Element)).toHaveLength(9);
  });
});

describe("/_entries", () => {
  test("lists what the first reading shows and everything later, in order, as the readings show it", async () => {
    await restart({ logWindow: 5, quirks: true, speed: 20 });
    const first = await read();
    const { entries } = await readEntries();
    for (const list of LOG_LISTS) {
      const recorded = elementsOf(entries, list).toReversed();
      expect(recorded.slice(0, first[list].length)).toEqual(first[list]);
      expect(recorded.length).toBeLessThanOrEqual(5);
    }
    const seen = new Set<string>();
    const keyOf = (list: LogList, { Moderator, ...element }: Element) => JSON.stringify([list, element]);
    for (let i = 0; i < 100; i++) {
      const logs = await read();
      for (const list of LOG_LISTS) for (const element of logs[list]) seen.add(keyOf(list, element));
      nowMs += 3000;
    }
    const truth = (await readEntries()).entries;
    const recorded = new Set(truth.map(({ list, element }) => keyOf(list, element)));
    expect([...seen].filter((key) => !recorded.has(key))).toEqual([]);
    expect(seen.size).toBeGreaterThan(100);
    const times = truth.map(({ element }) => Number(element.Timestamp));
    expect(times).toEqual(times.toSorted((a, b) => a - b));
  });

  test("shows a moderator's answer and commands of the API exactly as readings do", async () => {
    await restart({ quirks: true });
    await read();
    await fetch(`${simulator.url}/v2/server/command`, {
      method: "POST",
      headers: { "server-key": "abc-town" },
      body: JSON.stringify({ command: ":h told" }),
    });
    const { entries } = await readEntries();
    expect(entries.at(-1)).toEqual({
      list: "CommandLogs",
      element: { Player: "Remote Server", Timestamp: START_MS / 1000, Command: ":h told" },
    });
    nowMs += 120_000;
    const { ModCalls } = await read();
    const recorded = elementsOf((await readEntries()).entries, "ModCalls");
    expect(recorded.slice(-ModCalls.length).toReversed()).toEqual(ModCalls);
    expect(ModCalls.some(({ Moderator }) => Moderator !== null)).toBe(true);
  });

  test("since continues where the last answer ended, and asking changes nothing", async () => {
    await read();
    const { next, entries } = await readEntries();
    expect(next).toBe(entries.length);
    nowMs += 300_000;
    expect(await readEntries(`server=town&since=${next}`)).toEqual({ entries: [], next, truncated: false });
    await read();
    const later = await readEntries(`server=town&since=${next}`);
    expect(later.entries.length).toBeGreaterThan(0);
    const all = await readEntries();
    expect(all.entries.slice(next)).toEqual(later.entries);
    expect(simulator.findEntries("town")).toEqual(all);
    expect(simulator.findEntries("town", next)).toEqual(later);
  });

  test("an unknown server is 404, a bad query 400, another method 405", async () => {
    const statusOf = async (path: string, init: RequestInit = {}) =>
      (await fetch(`${simulator.url}${path}`, init)).status;
    expect(await statusOf("/_entries?server=nowhere")).toBe(404);
    expect(await statusOf("/_entries")).toBe(400);
    await read();
    expect(await statusOf("/_entries?server=town&since=x")).toBe(400);
    expect(await statusOf("/_entries?server=town", { method: "DELETE" })).toBe(405);
    expect(simulator.findEntries("nowhere")).toBeUndefined();
  });
});
