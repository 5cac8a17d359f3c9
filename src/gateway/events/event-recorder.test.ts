import { describe, expect, test } from "bun:test";
import { MemoryArchive } from "../../../test/event-archive.ts";
import { BASE_INFO } from "../../../test/fake-game-api.ts";
import { DAY_MS } from "../../core/durations.ts";
import { StoreUnavailable } from "../../core/errors.ts";
import { filterAll, typeOfKind } from "../../core/events/event-types.ts";
import type { GameReading } from "../../core/events/reading.ts";
import { EventRecorder, WAITING_EVENTS_MAX } from "./event-recorder.ts";

const SERVER = "srv_1";
const T0 = 20_000 * DAY_MS;

class Stage {
  readonly archive = new MemoryArchive();
  now = T0;
  recorder = this.#start();

  /** A new process on the same archive. */
  restart(): void {
    this.recorder = this.#start();
  }

  async read(sections: GameReading["sections"]): Promise<void> {
    const { now: at } = this;
    this.recorder.takeReading(SERVER, { at, gameServer: "A", settings: BASE_INFO, sections, offline: null });
    await this.recorder.flush();
  }

  async prune(): Promise<void> {
    while (await this.archive.prune({ now: this.now, days: 1_000_000, eventsMax: 1_000_000 }));
  }

  async countEvents(): Promise<number> {
    const last = await this.archive.findLast([SERVER]);
    return last.get(SERVER)?.number ?? 0;
  }

  async listEvents(type: string): Promise<string[]> {
    const start = { after: "earliest" } as const;
    const page = await this.archive.readPage({ serverId: SERVER, start, filter: filterAll(), limit: 500 });
    if ("expired" in page) throw new Error("the place before the oldest event has expired");
    return page.events.filter(({ kind }) => typeOfKind(kind) === type).map(({ data }) => data);
  }

  #start(): EventRecorder {
    return new EventRecorder({
      archive: this.archive,
      clock: () => this.now,
      // Retries only when the test reads again.
      sleep: () => new Promise(() => {}),
      log: { debug() {}, info() {}, warn() {}, error() {} },
      hash: (text) => text,
      commands: { listSent: async () => [] },
      planOf: () => ({ isWatched: true, intervalMs: 5_000 }),
    });
  }
}

function makeJoins(count: number, from = 0): GameReading["sections"] {
  const entry = (_: unknown, n: number) => ({ Join: true, Timestamp: T0 / 1000, Player: `P:${from + n}` });
  return { JoinLogs: Array.from({ length: count }, entry) };
}

describe("a reading with more events than may wait in memory", () => {
  test("is recorded while the archive answers", async () => {
    const stage = new Stage();
    await stage.read(makeJoins(WAITING_EVENTS_MAX + 1));
    expect(await stage.countEvents()).toBe(WAITING_EVENTS_MAX + 1);
    expect(await stage.listEvents("gap")).toEqual([]);
  });

  test("does not wait while the archive is away, and is recorded by the next reading of it", async () => {
    const stage = new Stage();
    await stage.read(makeJoins(1));
    stage.archive.fault = new StoreUnavailable("away");
    stage.now += 5_000;
    await stage.read(makeJoins(1));
    stage.now += 5_000;
    await stage.read(makeJoins(WAITING_EVENTS_MAX + 2));
    expect(stage.recorder.waitingEvents).toBe(0);
    stage.archive.fault = undefined;
    await stage.recorder.flush();
    stage.now += 5_000;
    await stage.read(makeJoins(WAITING_EVENTS_MAX + 2));
    // The gap tells of the reading that was dropped.
    expect(await stage.countEvents()).toBe(WAITING_EVENTS_MAX + 3);
  });
});

test("flushing waits for the servers that are busy now, not for one that is busy without an end", async () => {
  const stage = new Stage();
  let readings = 0;
  const takeOther = () => {
    const about = { at: T0 + readings++, gameServer: "B", settings: BASE_INFO, offline: null };
    stage.recorder.takeReading("srv_2", { ...about, sections: makeJoins(readings) });
  };
  stage.recorder.onRecorded = (serverId) => {
    if (serverId === "srv_2" && readings < 500) takeOther();
  };
  const flushed = stage.read(makeJoins(1));
  takeOther();
  await flushed;
  expect(await stage.countEvents()).toBe(1);
  expect(readings).toBeLessThan(100);
});

describe("an entry that the game shows for weeks", () => {
  test("is told once, over restarts, also when the first reading of each day does not show it", async () => {
    const stage = new Stage();
    await stage.read(makeJoins(1));
    for (let day = 1; day <= 10; day++) {
      stage.now = T0 + day * DAY_MS;
      await stage.read({ JoinLogs: [] });
      stage.now += 5_000;
      await stage.read({ ...makeJoins(1), KillLogs: [{ Killed: "P:1", Timestamp: stage.now / 1000 }] });
      await stage.prune();
      stage.restart();
    }
    expect(await stage.listEvents("player.joined")).toHaveLength(1);
  });
});

test("a role of staff that a reading does not show is remembered, over restarts", async () => {
  const stage = new Stage();
  const admins = { "5": "E" };
  for (const Staff of [{ Admins: admins, Mods: { "2": "Mo" } }, { Admins: {} }, { Admins: admins, Mods: {} }]) {
    await stage.read({ Staff });
    stage.restart();
    stage.now += 5_000;
  }
  expect(await stage.listEvents("staff.added")).toEqual(['{"Role":"Admins","UserId":"5","Name":"E"}']);
  expect(await stage.listEvents("staff.removed")).toEqual([
    '{"Role":"Admins","UserId":"5","Name":"E"}',
    '{"Role":"Mods","UserId":"2","Name":"Mo"}',
  ]);
});

test("while the archive has never answered, few readings wait, also between failures", async () => {
  const stage = new Stage();
  stage.archive.fault = new StoreUnavailable("away");
  for (let n = 0; n < 50; n++) {
    stage.now += 5_000;
    await stage.read(makeJoins(1, n));
    stage.recorder.takeFailure(SERVER, { code: 0, message: "down" }, stage.now);
    await stage.recorder.flush();
  }
  stage.archive.fault = undefined;
  await stage.recorder.flush();
  const joins = await stage.listEvents("player.joined");
  expect(joins.length).toBeLessThanOrEqual(10);
  expect(joins.at(-1)).toContain('"P:49"');
});

test("a server that nobody reads leaves the memory, and the archive knows how to go on", async () => {
  const stage = new Stage();
  await stage.read(makeJoins(2));
  stage.recorder.tidy(stage.now + 600_000);
  expect(stage.recorder.knows(SERVER)).toBe(true);
  stage.recorder.tidy(stage.now + 600_001);
  expect(stage.recorder.knows(SERVER)).toBe(false);
  stage.now += 5_000;
  await stage.read(makeJoins(3));
  expect(await stage.countEvents()).toBe(3);
});

test("readings that come faster than the archive answers are recorded all the same", async () => {
  const stage = new Stage();
  await stage.read(makeJoins(1));
  const { archive } = stage;
  const { findRecorded } = archive;
  let answers = 0;
  archive.findRecorded = async (...asked) => {
    if (++answers < 50) {
      stage.now += 100;
      const reading = { at: stage.now, gameServer: "A", settings: BASE_INFO, offline: null };
      stage.recorder.takeReading(SERVER, { ...reading, sections: makeJoins(1, answers) });
    }
    return findRecorded.apply(archive, asked);
  };
  const { record } = archive;
  const recordedAfter: number[] = [];
  archive.record = async (records) => {
    recordedAfter.push(answers);
    return record.call(archive, records);
  };
  stage.now += 5_000;
  await stage.read(makeJoins(1, 100));
  while (stage.recorder.hasWaiting) await stage.recorder.flush();
  // While readings still come.
  expect(recordedAfter[0]).toBeLessThan(50);
  expect(await stage.listEvents("player.joined")).toHaveLength(51);
});
