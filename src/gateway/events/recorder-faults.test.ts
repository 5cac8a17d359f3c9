// Recorders whose archive is slow, away or used by another instance too: what waits is judged again where it must be, and
// nothing of it is lost.
import { beforeEach, expect, test } from "bun:test";
import { EVENT_AT, MemoryArchive } from "../../../test/event-archive.ts";
import { BASE_INFO } from "../../../test/fake-game-api.ts";
import { StoreUnavailable } from "../../core/errors.ts";
import { filterAll, typeOfKind } from "../../core/events/event-types.ts";
import type { GameReading } from "../../core/events/reading.ts";
import type { PageStart } from "../../core/ports/archive.ts";
import { EventRecorder, WAITING_EVENTS_MAX } from "./event-recorder.ts";

const SERVER = "srv_a";

let archive: MemoryArchive;
let now: number;
let failing: Error[];
beforeEach(() => {
  archive = new MemoryArchive();
  now = EVENT_AT;
  failing = [];
});

function open(sleep = () => new Promise<void>(() => {})): EventRecorder {
  return new EventRecorder({
    archive,
    clock: () => now,
    sleep,
    log: {
      debug() {},
      info() {},
      warn() {},
      error: ({ err }: { err?: unknown }) => failing.push(err as Error),
    },
    hash: (text) => text,
    commands: { listSent: async () => [] },
    planOf: () => ({ isWatched: true, intervalMs: 5_000 }),
  });
}

/** A second later, with these vehicles and as many kills as the second of the reading says. */
function read(vehicles: readonly string[]): GameReading {
  now += 1_000;
  const second = (now - EVENT_AT) / 1_000;
  const KillLogs = Array.from({ length: second }, (_, n) => {
    return { Killed: `B:${n}`, Timestamp: EVENT_AT / 1_000 + n, Killer: "A:1" };
  }).toReversed();
  const Vehicles = vehicles.map((Name) => ({ Name, Owner: "A" }));
  return { at: now, gameServer: "g", settings: BASE_INFO, sections: { KillLogs, Vehicles }, offline: null };
}

/** The whole ledger. */
async function readLedger() {
  const told: { readonly type: string; readonly data: Record<string, unknown> }[] = [];
  let start: PageStart = { after: "earliest" };
  for (;;) {
    const page = await archive.readPage({ serverId: SERVER, start, filter: filterAll(), limit: 500 });
    if ("expired" in page) throw new Error("a cursor expired");
    told.push(...page.events.map(({ kind, data }) => ({ type: typeOfKind(kind), data: JSON.parse(data) })));
    if (!page.hasMore) return told;
    start = { after: page.next };
  }
}

async function tell(): Promise<string[]> {
  return (await readLedger()).map(({ type, data: { Killed, Name, reason } }) => {
    return `${type} ${Killed ?? Name ?? reason}`;
  });
}

const only = (told: readonly string[], type: string) => told.filter((each) => each.startsWith(type));
const kills = (count: number) => Array.from({ length: count }, (_, n) => `player.killed B:${n}`);

/** Both have read; while the archive is away the second reads on, and the first is the first to record afterwards. */
async function meet(readings: readonly (readonly string[])[]): Promise<EventRecorder> {
  const [first, second] = [open(), open()];
  first.takeReading(SERVER, read([]));
  await first.flush();
  second.takeReading(SERVER, read([]));
  await second.flush();
  archive.fault = new StoreUnavailable("away");
  first.takeReading(SERVER, read(["Bus"]));
  await first.flush();
  for (const vehicles of readings) {
    second.takeReading(SERVER, read(vehicles));
    await second.flush();
  }
  archive.fault = undefined;
  await first.flush();
  return second;
}

test("changes between several readings that waited are told although another instance recorded first", async () => {
  const second = await meet([["Bus", "Van"], ["Bus"], ["Bus", "Cab"]]);
  await second.flush();
  const told = await tell();
  expect(only(told, "vehicle")).toEqual([
    "vehicle.spawned Bus",
    "vehicle.spawned Van",
    "vehicle.removed Van",
    "vehicle.spawned Cab",
  ]);
  expect(only(told, "player.killed")).toEqual(kills(6));
  expect(only(told, "gap")).toEqual([]);
  expect(failing).toEqual([]);
});

test("an archive that fails while readings are judged again loses none of them", async () => {
  const second = await meet([["Bus", "Van"], ["Bus"]]);
  // The conflict is noticed and the other's memory loaded; then the archive is away again.
  const load = archive.load.bind(archive);
  archive.load = async (serverId) => {
    const known = await load(serverId);
    archive.fault = new StoreUnavailable("away again");
    return known;
  };
  await second.flush();
  archive.load = load;
  archive.fault = undefined;
  await second.flush();
  const told = await tell();
  expect(only(told, "vehicle")).toEqual(["vehicle.spawned Bus", "vehicle.spawned Van", "vehicle.removed Van"]);
  expect(only(told, "player.killed")).toEqual(kills(5));
  expect(only(told, "gap")).toEqual([]);
});

test("a recorder that starts while the archive is away tells no gap where readings overlap", async () => {
  const before = open();
  before.takeReading(SERVER, read([]));
  await before.flush();
  archive.fault = new StoreUnavailable("away");
  const after = open();
  after.takeReading(SERVER, read([]));
  await after.flush();
  archive.fault = undefined;
  await after.flush();
  const told = await tell();
  expect(only(told, "player.killed")).toEqual(kills(2));
  expect(only(told, "gap")).toEqual([]);
});

test.each(["record", "findRecorded"] as const)(
  "readings that come while the archive hangs in %s all wait, and none is dropped",
  async (method) => {
    const recorder = open();
    recorder.takeReading(SERVER, read([]));
    await recorder.flush();
    const work = archive[method].bind(archive) as (...args: unknown[]) => Promise<never>;
    const hang = Promise.withResolvers<void>();
    archive[method] = async (...args: unknown[]) => {
      await hang.promise;
      return work(...args);
    };
    const vehicles = Array.from({ length: 40 }, (_, n) => `Car ${n}`);
    for (const vehicle of vehicles) {
      recorder.takeReading(SERVER, read([vehicle]));
      for (let turn = 0; turn < 20; turn++) await Promise.resolve();
    }
    hang.resolve();
    await recorder.flush();
    const told = await tell();
    expect(only(told, "vehicle.spawned")).toEqual(vehicles.map((vehicle) => `vehicle.spawned ${vehicle}`));
    expect(only(told, "player.killed")).toEqual(kills(41));
    expect(only(told, "gap")).toEqual([]);
    expect(failing).toEqual([]);
  },
);

test("with more readings than are held, every entry is told once and a gap says that changes may be missing", async () => {
  const second = await meet(Array.from({ length: 12 }, (_, n) => [`Car ${n}`]));
  await second.flush();
  const told = await tell();
  expect(only(told, "player.killed")).toEqual(kills(15));
  expect(only(told, "gap")).toEqual(["gap archive"]);
  // The latest readings are judged one by one again.
  expect(told.slice(-2)).toEqual(["vehicle.spawned Car 11", "vehicle.removed Car 10"]);
});

test("more events than may wait become a gap with the reason archive, which has the lost entries inside", async () => {
  const recorder = open();
  /** A window that shares no entry with the one before. */
  const readKills = (): GameReading => {
    const reading = read([]);
    const KillLogs = Array.from({ length: WAITING_EVENTS_MAX / 2 - 1_000 }, (_, n) => {
      return { Killed: `B:${n}`, Timestamp: now / 1_000, Killer: "A:1" };
    });
    return { ...reading, sections: { KillLogs } };
  };
  const take = async () => {
    recorder.takeReading(SERVER, readKills());
    await recorder.flush();
    return now;
  };
  const knownAt = await take();
  archive.fault = new StoreUnavailable("away");
  await take();
  await take();
  const lostAt = await take();
  archive.fault = undefined;
  await recorder.flush();
  const backAt = await take();
  const gaps = (await readLedger()).filter(({ type }) => type === "gap").map(({ data }) => data);
  const lost = gaps.filter(({ section, reason }) => section === "KillLogs" && reason === "archive");
  expect(lost).toEqual([{ section: "KillLogs", reason: "archive", from: knownAt + 2_000, to: backAt }]);
  expect(lostAt).toBeGreaterThan(knownAt + 2_000);
});

test("a newer answer that came before an older one of another instance tells its gap all the same", async () => {
  const kill = (n: number) => ({ Killed: `B:${n}`, Timestamp: EVENT_AT / 1_000 + n, Killer: "A:1" });
  const first = { ...read([]), sections: { KillLogs: [kill(1)] } };
  const newer = { ...read([]), sections: { KillLogs: [kill(9), kill(8)] } };
  const older = { ...read([]), sections: { KillLogs: [kill(2), kill(1)] } };
  const [one, other] = [open(), open()];
  for (const [recorder, reading] of [
    [one, first],
    [other, older],
    [one, newer],
  ] as const) {
    recorder.takeReading(SERVER, reading);
    await recorder.flush();
  }
  const gaps = (await readLedger()).filter(({ type }) => type === "gap").map(({ data }) => data);
  const [from, to] = [EVENT_AT + 2_000, EVENT_AT + 8_000];
  expect(gaps).toEqual([{ section: "KillLogs", reason: "no_overlap", from, to }]);
});

test("a server whose memory cannot be read does not keep the others from being recorded", async () => {
  const load = archive.load.bind(archive);
  archive.load = (serverId) => {
    return serverId === "srv_broken" ? Promise.reject(new SyntaxError("not JSON")) : load(serverId);
  };
  const recorder = open();
  recorder.takeReading("srv_broken", read([]));
  recorder.takeReading(SERVER, read([]));
  await recorder.flush();
  expect(only(await tell(), "player.killed")).toEqual(kills(2));
  expect([recorder.fault, failing.length]).toEqual([undefined, 1]);
});

test("a reading that cannot be judged becomes a gap, also when it is judged without the archive", async () => {
  const recorder = open();
  recorder.takeReading(SERVER, read([]));
  await recorder.flush();
  const recording = archive.record.bind(archive);
  const isBack = Promise.withResolvers<void>();
  archive.record = async (records) => {
    await isBack.promise;
    return recording(records);
  };
  recorder.takeReading(SERVER, read(["Car"]));
  const broken = read([]);
  Object.defineProperty(broken.sections, "KillLogs", {
    get() {
      throw new TypeError("a bug");
    },
  });
  // The first is being recorded, so these wait; more than ten push the broken one out.
  for (let turn = 0; turn < 100; turn++) await Promise.resolve();
  recorder.takeReading(SERVER, broken);
  for (let n = 0; n < 10; n++) recorder.takeReading(SERVER, read(["Car"]));
  isBack.resolve();
  await recorder.flush();
  expect(failing).toHaveLength(1);
  const told = await tell();
  expect(only(told, "player.killed")).toHaveLength(13);
  expect(only(told, "gap")).toContain("gap archive");
});

test("an archive that is away is tried again after a backoff, however many readings come", async () => {
  const backoffs: PromiseWithResolvers<void>[] = [];
  const recorder = open(() => {
    const backoff = Promise.withResolvers<void>();
    backoffs.push(backoff);
    return backoff.promise;
  });
  archive.fault = new StoreUnavailable("away");
  let loads = 0;
  const load = archive.load.bind(archive);
  archive.load = (serverId) => {
    loads++;
    return load(serverId);
  };
  const turns = () => new Promise((resolve) => setImmediate(resolve));
  for (let n = 0; n < 20; n++) {
    recorder.takeReading(SERVER, read([]));
    await turns();
  }
  expect([loads, backoffs.length]).toEqual([1, 1]);
  archive.fault = undefined;
  for (const { resolve } of backoffs) resolve();
  await turns();
  await recorder.flush();
  expect(only(await tell(), "player.killed")).toHaveLength(20);
});
