// The watcher reads servers unasked, behind callers, and says what keeps it from doing so.
import { beforeEach, describe, expect, test } from "bun:test";
import { MemoryArchive } from "../../../test/event-archive.ts";
import {
  bad,
  FRESH_MS,
  good,
  holdNextCall,
  nameOf,
  openRelay,
  resetStage,
  START,
  server,
  settle,
  stage,
} from "../../../test/relay-stage.ts";
import { StoreUnavailable } from "../../core/errors.ts";
import { filterAll, typeOfKind } from "../../core/events/event-types.ts";
import type { GameServer } from "../../core/game-server.ts";
import { INSTANCE_LEASE_MS, type InstanceLease } from "../../core/ports/instance-lease.ts";
import type { Log } from "../../core/ports/log.ts";
import { WATCH_REASONS } from "../../core/readings/watch-reasons.ts";
import { EventRecorder } from "../events/event-recorder.ts";
import { recordReadings } from "../events/recorder.ts";
import { HOLD_EVERY_MS } from "../instances/lease-holder.ts";
import { Watcher, type WatcherDeps } from "./watcher.ts";

const INTERVAL_MS = 5_000;
const SILENT_LOG: Log = { debug() {}, info() {}, warn() {}, error() {} };

let servers: Map<string, GameServer>;
let told: { serverId: string; code: number; at: number }[];
let watchers: Watcher[];

beforeEach(() => {
  resetStage();
  servers = new Map();
  told = [];
  watchers = [];
});

function add(...names: string[]): void {
  for (const name of names) servers.set(name, server(name));
}

/** A watcher whose waits end when the clock of the stage is moved. */
function start(parts: Partial<WatcherDeps> = {}): Watcher {
  const watcher = new Watcher({
    relay: stage.relay,
    servers: { all: () => servers.values(), find: (serverId) => servers.get(serverId) },
    clock: () => stage.now,
    pause: (ms, signal) => {
      return new Promise((wake) => {
        stage.sleepers.push({ until: stage.now + ms, wake });
        signal.addEventListener("abort", () => wake());
      });
    },
    log: SILENT_LOG,
    intervalMs: INTERVAL_MS,
    offReason: undefined,
    lease: undefined,
    ...parts,
  });
  watcher.onFailure = (serverId, { code }, at) => told.push({ serverId, code, at });
  watchers.push(watcher);
  watcher.start();
  return watcher;
}

/** Moves the clock in small steps, because a waiting watcher is woken at its own millisecond. */
async function pass(ms: number): Promise<void> {
  const end = stage.now + ms;
  for (;;) {
    await settle();
    const next = stage.sleepers.filter(({ until }) => until <= end).sort((a, b) => a.until - b.until)[0];
    if (!next) break;
    stage.sleepers.splice(stage.sleepers.indexOf(next), 1);
    stage.now = Math.max(stage.now, Math.ceil(next.until));
    next.wake();
  }
  stage.now = end;
  await settle();
}

const callsFor = (name: string) => stage.calls.filter(({ serverKey }) => serverKey === `key-${name}`);
const timesFor = (name: string) => callsFor(name).map(({ at }) => at - START);
const describeOne = (watcher: Watcher, name: string) => watcher.describe(servers.get(name) ?? server(name));

describe("a watched server", () => {
  test("is read every interval, without being asked", async () => {
    add("a");
    start();
    await pass(21_000);
    expect(timesFor("a")).toEqual([0, 5_000, 10_000, 15_000, 20_000]);
  });

  test("that is new is read within one interval, and then no more when it is deleted", async () => {
    start();
    await pass(1_234);
    add("a");
    await pass(INTERVAL_MS);
    expect(callsFor("a").length).toBeGreaterThan(0);
    servers.clear();
    const calls = stage.calls.length;
    await pass(60_000);
    expect(stage.calls).toHaveLength(calls);
  });

  test("is not read when its operator says so, and again when they change their mind", async () => {
    servers.set("a", { ...server("a"), isWatched: false });
    const watcher = start();
    await pass(20_000);
    expect(stage.calls).toHaveLength(0);
    expect(describeOne(watcher, "a")).toMatchObject({ state: "off", interval_ms: null });
    expect(watcher.planOf("a").isWatched).toBe(false);
    add("a");
    await pass(INTERVAL_MS);
    expect(callsFor("a").length).toBeGreaterThan(0);
  });

  test("that many share a start with is read at its own time within the interval", async () => {
    add("a", "b", "c", "d", "e");
    start();
    await pass(INTERVAL_MS - 1);
    expect(stage.calls.map(({ at }) => at - START)).toEqual([0, 1_000, 2_000, 3_000, 4_000]);
  });

  test("that is offline is asked every 30 s, and every interval again once it is online", async () => {
    add("a");
    stage.answerCall = () => bad(3002);
    const watcher = start();
    await pass(65_000);
    expect(timesFor("a")).toEqual([0, 30_000, 60_000]);
    expect(told).toEqual([]);
    expect(describeOne(watcher, "a")).toEqual({
      state: "watching",
      interval_ms: 30_000,
      last_reading_at: START + 60_000,
      reason: null,
    });
    stage.answerCall = () => good();
    await pass(30_000);
    expect(timesFor("a").slice(3)).toEqual([90_000, 95_000]);
  });

  test("is read with its new key at once", async () => {
    add("a");
    stage.answerCall = () => bad(2002);
    start();
    await pass(60_000);
    expect(stage.calls).toHaveLength(1);
    servers.set("a", server("a", 2));
    stage.answerCall = () => good();
    await pass(200);
    expect(stage.calls).toHaveLength(2);
  });
});

describe("together with callers", () => {
  test("a caller's reading serves the watcher, and the watcher's serves callers", async () => {
    add("a");
    await stage.relay.read(server("a"), stage.now);
    await pass(3_000);
    start();
    await pass(1_999);
    expect(timesFor("a")).toEqual([0]);
    await pass(1);
    expect(timesFor("a")).toEqual([0, 5_000]);
    stage.now += FRESH_MS - 1;
    expect(await stage.relay.read(server("a"), stage.now)).toMatchObject({ isHit: true });
    expect(stage.calls).toHaveLength(2);
  });

  test("callers that come during the watcher's call share it", async () => {
    add("a");
    const answer = holdNextCall();
    start();
    await settle();
    const read = stage.relay.read(server("a"), stage.now);
    answer(good({}, "Shared"));
    expect(nameOf(await read)).toBe("Shared");
    expect(stage.calls).toHaveLength(1);
  });

  // The caller comes at every possible moment: before, while and after the watcher gives up.
  test.each(Array.from({ length: 14 }, (_, moment) => moment))(
    "a caller never gets the watcher's failure to find room in the budget, moment %d",
    async (moments) => {
      add("a");
      const key = Promise.withResolvers<string>();
      stage.readServerKey = () => key.promise;
      start();
      await settle();
      // Another server's answer takes the room while the watcher waits for the key.
      stage.readServerKey = async (serverId) => `key-${serverId}`;
      stage.answerCall = () => good({ limit: 30, remaining: 5, resetAt: START + 60_000 });
      await stage.relay.read(server("b"), stage.now);
      key.resolve("key-a");
      for (let moment = 0; moment < moments; moment++) await Promise.resolve();
      const read = stage.relay.read(server("a"), stage.now);
      await pass(3_000);
      expect(nameOf(await read)).toBe("Town");
    },
  );

  test("watching does not make a server active", async () => {
    add("a", "b");
    start();
    await pass(20_000);
    expect(stage.relay.describe(stage.now).activeServers).toBe(0);
  });

  test("callers that wait for the budget go first", async () => {
    const resetAt = START + 60_000;
    stage.answerCall = () => good({ limit: 6, remaining: 3, resetAt });
    await stage.relay.read(server("c"), stage.now);
    await pass(15_000);
    stage.answerCall = () => good();
    await stage.relay.read(server("d"), stage.now);
    await pass(13_500);
    // c has waited since the start; its caller waits until the pace of the budget allows the next call.
    const read = stage.relay.read(server("c"), stage.now);
    await settle();
    expect(callsFor("c")).toHaveLength(1);
    servers.set("d", server("d"));
    start();
    await pass(2_000);
    expect(callsFor("d")).toHaveLength(1);
    await pass(2_000);
    expect(nameOf(await read)).toBe("Town");
  });
});

describe("within the budget", () => {
  /** A game API that counts the calls of each window itself. */
  function limitTo(limit: number): () => number {
    let windowAt = START;
    let used = 0;
    let most = 0;
    stage.answerCall = () => {
      if (stage.now >= windowAt + 60_000) [windowAt, used] = [stage.now, 0];
      used++;
      most = Math.max(most, used);
      return good({ limit, remaining: Math.max(0, limit - used), resetAt: windowAt + 60_000 });
    };
    return () => most;
  }

  test("intervals stretch evenly, and two thirds of a window's calls are the most", async () => {
    const mostUsed = limitTo(30);
    const names = Array.from({ length: 10 }, (_, index) => `s${index}`);
    add(...names);
    const watcher = start();
    await pass(10 * 60_000);
    expect(mostUsed()).toBeLessThanOrEqual(21);
    const counts = names.map((name) => callsFor(name).length);
    expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
    // 20 calls a minute for ten servers; looks are at most 100 ms apart.
    expect(Math.min(...counts)).toBeGreaterThanOrEqual(19);
    expect(describeOne(watcher, "s0")).toMatchObject({ state: "watching", interval_ms: 30_000 });
    expect(watcher.planOf("s0")).toEqual({ isWatched: true, intervalMs: 30_000 });
  });

  test("nothing is watched when two thirds of the limit are less than one call", async () => {
    limitTo(1);
    add("a");
    const watcher = start();
    await pass(300_000);
    expect(stage.calls).toHaveLength(1);
    expect(describeOne(watcher, "a")).toMatchObject({ state: "paused", interval_ms: null });
  });

  test("a pause stops it, and it goes on when the pause is over", async () => {
    add("a");
    stage.answerCall = () => bad(4001, { retryAfterMs: 40_000 });
    const watcher = start();
    await pass(1_000);
    expect(describeOne(watcher, "a")).toMatchObject({
      state: "paused",
      reason: "The game API has limited our requests for the moment.",
    });
    stage.answerCall = () => good();
    await pass(38_999);
    expect(stage.calls).toHaveLength(1);
    await pass(101);
    expect(stage.calls).toHaveLength(2);
    expect(describeOne(watcher, "a")).toMatchObject({ state: "watching", reason: null });
  });
});

describe("a server that cannot be read", () => {
  const toldTimes = (serverId: string) => told.filter((each) => each.serverId === serverId);

  test.each([
    ["the game API fails", 1001],
    ["it does not answer", 0],
    ["it refuses the key", 2002],
    ["it limits us", 4001],
  ])("is told to the recorder every few seconds, also when no call is made: %s", async (_, code) => {
    add("a");
    stage.answerCall = () => bad(code, code === 4001 ? { retryAfterMs: 600_000 } : {});
    start();
    await pass(120_000);
    const times = toldTimes("a");
    expect(new Set(times.map((each) => each.code))).toEqual(new Set([code]));
    expect(times[0]?.at).toBeLessThanOrEqual(START + 5_000);
    for (const [place, { at }] of times.entries()) {
      expect((times[place + 1]?.at ?? stage.now) - at).toBeLessThanOrEqual(5_000);
    }
  });

  test("is probed by the watcher while its breaker is open, and no more often than the breaker allows", async () => {
    add("a");
    stage.answerCall = () => bad(1001);
    const watcher = start();
    await pass(26_000);
    expect(describeOne(watcher, "a").reason).toContain("probed from time to time");
    await pass(94_000);
    // Five failures, then probes after 5, 10, 20 and 40 s.
    expect(timesFor("a")).toEqual([0, 5_000, 10_000, 15_000, 20_000, 25_000, 35_000, 55_000, 95_000]);
    stage.answerCall = () => good();
    await pass(61_000);
    expect(describeOne(watcher, "a").state).toBe("watching");
    told.length = 0;
    await pass(20_000);
    expect(told).toEqual([]);
  });

  test("because of a short pause that no reading was due in is not told", async () => {
    add("a");
    start();
    await pass(100);
    stage.answerCall = () => bad(4001, { retryAfterMs: 2_000 });
    await stage.relay.read(server("b"), stage.now);
    stage.answerCall = () => good();
    await pass(20_000);
    expect(told).toEqual([]);
  });

  test("and is parked is never called and never told", async () => {
    servers.set("a", { ...server("a"), isSimulated: true });
    const watcher = start();
    await pass(60_000);
    expect([stage.calls, told]).toEqual([[], []]);
    expect(describeOne(watcher, "a")).toMatchObject({ state: "paused" });
  });

  test("and that nobody watches is not told", async () => {
    servers.set("a", { ...server("a"), isWatched: false });
    stage.answerCall = () => bad(1001);
    start();
    await stage.relay.read(server("a"), stage.now);
    await pass(60_000);
    expect(told).toEqual([]);
  });
});

test.each([WATCH_REASONS.watchOff, WATCH_REASONS.noArchive])(
  "nothing is watched when it is off: %s",
  async (offReason) => {
    add("a");
    const watcher = start({ offReason });
    await pass(60_000);
    expect(stage.calls).toHaveLength(0);
    expect(describeOne(watcher, "a")).toEqual({
      state: "off",
      interval_ms: null,
      last_reading_at: null,
      reason: offReason,
    });
    expect(watcher.planOf("a").isWatched).toBe(false);
  },
);

test("after a stop nothing is read any more", async () => {
  add("a");
  const watcher = start();
  await pass(6_000);
  await watcher.stop();
  const calls = stage.calls.length;
  await pass(60_000);
  expect(stage.calls).toHaveLength(calls);
});

describe("of several instances", () => {
  /** A lease as Redis keeps it. */
  function createLeases() {
    let holder: number | undefined;
    let heldAt = 0;
    let isAway = false;
    const leaseOf = (id: number): InstanceLease => ({
      async hold() {
        if (isAway) throw new StoreUnavailable("away");
        if (holder !== undefined && holder !== id && stage.now - heldAt < INSTANCE_LEASE_MS) return false;
        [holder, heldAt] = [id, stage.now];
        return true;
      },
      async release() {
        if (holder === id) holder = undefined;
      },
    });
    const setAway = (value: boolean) => {
      isAway = value;
    };
    return { leaseOf, setAway };
  }

  test("one watches for all, and another goes on within 10 s when it dies", async () => {
    add("a");
    const { leaseOf } = createLeases();
    const fresh = Promise.withResolvers<boolean>();
    let isDead = false;
    const first = leaseOf(1);
    start({ lease: { ...first, hold: () => (isDead ? fresh.promise : first.hold()) } });
    start({ relay: openRelay(), lease: leaseOf(2) });
    await pass(20_500);
    expect(timesFor("a")).toEqual([0, 5_000, 10_000, 15_000, 20_000]);
    isDead = true;
    await pass(10_000);
    const goesOnAt = timesFor("a")[5] ?? Number.POSITIVE_INFINITY;
    // The lease was renewed last at 20 s, and the other asks for it every second.
    expect(goesOnAt).toBeGreaterThanOrEqual(20_000 + INSTANCE_LEASE_MS);
    expect(goesOnAt).toBeLessThanOrEqual(20_000 + INSTANCE_LEASE_MS + HOLD_EVERY_MS);
  });

  test("another goes on at once when the one that watches stops", async () => {
    add("a");
    const { leaseOf } = createLeases();
    const one = start({ lease: leaseOf(1) });
    start({ relay: openRelay(), lease: leaseOf(2) });
    await pass(500);
    await one.stop();
    await pass(1_000);
    expect(timesFor("a")).toEqual([0, 1_000]);
  });

  test("nobody watches while the shared store is away", async () => {
    add("a");
    const { leaseOf, setAway } = createLeases();
    start({ lease: leaseOf(1) });
    await pass(500);
    setAway(true);
    await pass(60_000);
    expect(timesFor("a")).toEqual([0]);
    setAway(false);
    await pass(1_000);
    expect(callsFor("a")).toHaveLength(2);
  });

  test.each([
    [55_000, []],
    [65_000, [{ section: "*", reason: "not_watched", from: START, to: START + 66_000 }]],
  ])("a shared store that was away for %d ms leaves these gaps: %j", async (awayMs, gaps) => {
    add("a");
    const archive = new MemoryArchive();
    const { leaseOf, setAway } = createLeases();
    const watcher = start({ lease: leaseOf(1) });
    const recorder = new EventRecorder({
      archive,
      clock: () => stage.now,
      sleep: () => new Promise(() => {}),
      log: SILENT_LOG,
      hash: (text) => text,
      commands: { listSent: async () => [] },
      planOf: (serverId) => watcher.planOf(serverId),
    });
    recordReadings(stage.relay, recorder);
    await pass(500);
    setAway(true);
    await pass(awayMs);
    setAway(false);
    await pass(1_000);
    // Listeners are called after the callers were answered.
    await new Promise((resolve) => setImmediate(resolve));
    await recorder.flush();
    const query = { serverId: "a", start: { after: "earliest" }, filter: filterAll(), limit: 500 } as const;
    const page = await archive.readPage(query);
    const events = "expired" in page ? [] : page.events;
    expect(events.filter(({ kind }) => typeOfKind(kind) === "gap").map(({ data }) => JSON.parse(data))).toEqual(gaps);
  });
});

describe("what operators can measure", () => {
  test("the servers, the outcomes of the calls, and the age of the oldest reading", async () => {
    add("a", "b");
    servers.set("off", { ...server("off"), isWatched: false });
    const watcher = start();
    expect(watcher.report(stage.now)).toEqual({ servers: 2, oldestReadingMs: 0 });
    await pass(6_000);
    expect(watcher.calls).toEqual({ reading: callsFor("a").length + callsFor("b").length, failure: 0 });
    expect(watcher.report(stage.now).oldestReadingMs).toBeLessThan(INTERVAL_MS);
    const before = watcher.calls.reading;
    stage.answerCall = (serverKey) => (serverKey === "key-b" ? bad(1001) : good());
    await pass(20_000);
    expect(watcher.calls.failure).toBeGreaterThan(0);
    expect(watcher.calls.reading).toBeGreaterThan(before);
    expect(watcher.report(stage.now).oldestReadingMs).toBeGreaterThan(3 * INTERVAL_MS);
    // An empty server is read as well.
    stage.answerCall = () => bad(3002);
    const { failure } = watcher.calls;
    await pass(60_000);
    expect(watcher.calls.failure).toBe(failure);
  });

  test("nothing is watched by an instance without the lease, or when watching is off", async () => {
    add("a");
    const lease: InstanceLease = { hold: async () => false, release: async () => {} };
    const second = start({ lease });
    await pass(6_000);
    const none = { servers: 0, oldestReadingMs: null };
    expect(second.report(stage.now)).toEqual(none);
    expect(start({ offReason: WATCH_REASONS.watchOff }).report(stage.now)).toEqual(none);
  });
});
