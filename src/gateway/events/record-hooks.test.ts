// Webhooks on their way into the ledger: on disk before anybody is told, once, in order with readings, by several instances.
import { describe, expect, test } from "bun:test";
import { MemoryArchive } from "../../../test/event-archive.ts";
import { BASE_INFO } from "../../../test/fake-game-api.ts";
import { ArchiveUnavailable, StoreUnavailable } from "../../core/errors.ts";
import { filterAll, typeOfKind } from "../../core/events/event-types.ts";
import { type GameHook, parseHookBody } from "../../core/events/game-hook.ts";
import { UNSHOWN_CALL_MS } from "../../core/events/judge-calls.ts";
import type { LedgerRecord } from "../../core/ports/archive.ts";
import { EventRecorder } from "./event-recorder.ts";
import { WAITING_HOOKS_MAX } from "./waiting-hooks.ts";

const SERVER = "srv_1";
const T0 = 1_800_000_000_000;
const CALL = { Team: "Fire", Players: [], StartedAt: T0 / 1000, CallNumber: 7 };

/** Loses answers, refuses, or lets somebody else write first. */
class FickleArchive extends MemoryArchive {
  losesAnswer = false;
  refuses = false;
  beforeRecord: (() => Promise<void>) | undefined;

  override async record(records: readonly LedgerRecord[]) {
    if (this.refuses) throw new StoreUnavailable("refused");
    const before = this.beforeRecord;
    this.beforeRecord = undefined;
    await before?.();
    const outcomes = await super.record(records);
    if (this.losesAnswer) throw new StoreUnavailable("no answer");
    return outcomes;
  }
}

class Stage {
  readonly archive = new FickleArchive();
  now = T0;
  readonly sleeps: { readonly ms: number; readonly end: () => void }[] = [];
  recorder = this.start();

  start(): EventRecorder {
    return new EventRecorder({
      archive: this.archive,
      clock: () => this.now,
      sleep: (ms) => new Promise((end) => this.sleeps.push({ ms, end })),
      log: { debug() {}, info() {}, warn() {}, error() {} },
      hash: (text) => text,
      commands: { listSent: async () => [] },
      planOf: () => ({ isWatched: true, intervalMs: 5_000 }),
    });
  }

  read(calls: readonly unknown[], recorder = this.recorder): Promise<void> {
    this.now += 1_000;
    const sections = { EmergencyCalls: calls };
    const about = { at: this.now, gameServer: "A", settings: BASE_INFO, offline: null };
    recorder.takeReading(SERVER, { ...about, sections });
    return recorder.flush();
  }

  async list(): Promise<string[]> {
    const start = { after: "earliest" } as const;
    const page = await this.archive.readPage({ serverId: SERVER, start, filter: filterAll(), limit: 500 });
    if ("expired" in page) throw new Error("the place before the oldest event has expired");
    return page.events.map(({ kind, data }) => {
      const { Command, CallNumber } = JSON.parse(data);
      return `${typeOfKind(kind)} ${Command ?? CallNumber ?? ""}`.trim();
    });
  }
}

function hook(signature: string, ...events: object[]): GameHook {
  const body = parseHookBody(
    JSON.stringify({ server: "A", events: events.map((event) => ({ timestamp: T0 / 1000, ...event })) }),
  );
  return { gameServer: "A", signature, seenAt: T0, events: body.events };
}

const command = (name: string) => ({ event: "CustomCommand", origin: "1", data: { command: name } });
const call = (event: string, callNumber = 7) => {
  return { event, data: { team: "Fire", players: [], callNumber, startedAt: T0 / 1000 } };
};

test("its events are on disk when it is told so, in order with the readings around it", async () => {
  const stage = new Stage();
  await stage.read([]);
  const told = stage.recorder.recordHook(SERVER, hook("1", call("EmergencyCallStarted"), command("a")));
  const read = stage.read([CALL]);
  expect(await told).toEqual({ isRepeated: false });
  expect(await stage.list()).toEqual(["call.opened 7", "custom.command a"]);
  await read;
  expect(await stage.recorder.recordHook(SERVER, hook("2", call("EmergencyCallEnded")))).toEqual({
    isRepeated: false,
  });
  await stage.read([CALL]);
  expect(await stage.list()).toEqual(["call.opened 7", "custom.command a", "call.closed 7"]);
});

test("a repeated one records nothing: at the same time, after a restart, and on another instance", async () => {
  const stage = new Stage();
  const both = hook("1", call("EmergencyCallStarted"), command("a"));
  const first = [stage.recorder.recordHook(SERVER, both), stage.recorder.recordHook(SERVER, both)];
  await Promise.all(first);
  const other = stage.start();
  expect(await other.recordHook(SERVER, both)).toEqual({ isRepeated: true });
  expect(await stage.recorder.recordHook(SERVER, both)).toEqual({ isRepeated: true });
  expect(await stage.list()).toEqual(["call.opened 7", "custom.command a"]);
});

describe("two instances", () => {
  test("that record at the same time lose and repeat nothing, however many webhooks each has", async () => {
    const stage = new Stage();
    const other = stage.start();
    await stage.read([]);
    await stage.read([], other);
    const count = 40;
    stage.archive.beforeRecord = () => stage.read([], other);
    const told = Array.from({ length: count }, (_, n) => {
      return stage.recorder.recordHook(SERVER, hook(`${n}`, call("EmergencyCallStarted", n), command(`${n}`)));
    });
    await Promise.all(told);
    const recorded = await stage.list();
    expect(recorded).toHaveLength(2 * count);
    expect(new Set(recorded).size).toBe(2 * count);
    // The calls are remembered too.
    const ends = Array.from({ length: count }, (_, n) => {
      return other.recordHook(SERVER, hook(`end ${n}`, call("EmergencyCallEnded", n)));
    });
    await Promise.all(ends);
    expect((await stage.list()).filter((line) => line.startsWith("call.closed"))).toHaveLength(count);
  });

  test("an answer that was lost is not taken for a record of the other one", async () => {
    const stage = new Stage();
    const other = stage.start();
    stage.archive.losesAnswer = true;
    stage.archive.fault = new StoreUnavailable("away");
    await expect(stage.recorder.recordHook(SERVER, hook("1", command("a")))).rejects.toThrow("away");
    stage.archive.fault = undefined;
    stage.sleeps.pop()?.end();
    await Promise.resolve();
    await stage.recorder.flush();
    // This one is written, and its answer is lost; then the other instance writes.
    await expect(stage.recorder.recordHook(SERVER, hook("2", command("b")))).rejects.toThrow("no answer");
    stage.archive.losesAnswer = false;
    await other.recordHook(SERVER, hook("3", command("c")));
    await stage.recorder.flush();
    expect(await stage.list()).toEqual(["custom.command b", "custom.command c"]);
  });

  test("one whose webhook was never written keeps it when the other has written another webhook", async () => {
    const stage = new Stage();
    const other = stage.start();
    await stage.read([]);
    stage.archive.refuses = true;
    await expect(stage.recorder.recordHook(SERVER, hook("1", command("own")))).rejects.toThrow("refused");
    stage.archive.refuses = false;
    await other.recordHook(SERVER, hook("2", command("other")));
    await stage.recorder.flush();
    expect(await stage.list()).toEqual(["custom.command other", "custom.command own"]);
  });
});

describe("while the archive is away", () => {
  test("it fails at once, nothing waits, and it is taken again when the archive is back", async () => {
    const stage = new Stage();
    stage.archive.fault = new ArchiveUnavailable("away");
    await expect(stage.recorder.recordHook(SERVER, hook("1", command("a")))).rejects.toThrow(ArchiveUnavailable);
    await expect(stage.recorder.recordHook(SERVER, hook("1", command("a")))).rejects.toThrow("away");
    expect([stage.recorder.waitingEvents, stage.recorder.fault]).toEqual([0, expect.anything()]);
    stage.archive.fault = undefined;
    for (const { end } of stage.sleeps.splice(0)) end();
    await stage.recorder.flush();
    await Promise.resolve();
    expect(await stage.recorder.recordHook(SERVER, hook("1", command("a")))).toEqual({ isRepeated: false });
    expect(await stage.list()).toEqual(["custom.command a"]);
  });

  test("one that was written and whose answer was lost is repeated without a second event", async () => {
    const stage = new Stage();
    await stage.read([]);
    stage.archive.losesAnswer = true;
    await expect(stage.recorder.recordHook(SERVER, hook("1", command("a")))).rejects.toThrow("no answer");
    stage.archive.losesAnswer = false;
    await stage.recorder.flush();
    const restarted = stage.start();
    expect(await restarted.recordHook(SERVER, hook("1", command("a")))).toEqual({ isRepeated: true });
    expect(await stage.list()).toEqual(["custom.command a"]);
  });

  test("a slow archive lets only so many wait", async () => {
    const stage = new Stage();
    const { promise: isBack, resolve: comeBack } = Promise.withResolvers<void>();
    stage.archive.beforeRecord = () => isBack;
    const told = Array.from({ length: WAITING_HOOKS_MAX }, (_, n) => {
      return stage.recorder.recordHook(SERVER, hook(`${n}`, command(`${n}`)));
    });
    await expect(stage.recorder.recordHook(SERVER, hook("x", command("x")))).rejects.toThrow("too many");
    comeBack();
    await Promise.all(told);
  });
});

test("where nobody reads the server, a call that a webhook opened is closed a minute later", async () => {
  const stage = new Stage();
  await stage.recorder.recordHook(SERVER, hook("1", call("EmergencyCallStarted")));
  expect(stage.sleeps.map(({ ms }) => ms)).toEqual([UNSHOWN_CALL_MS + 1]);
  stage.now += UNSHOWN_CALL_MS + 1;
  stage.sleeps.pop()?.end();
  await Promise.resolve();
  await stage.recorder.flush();
  expect(await stage.list()).toEqual(["call.opened 7", "call.closed 7"]);
  expect(stage.sleeps).toEqual([]);
});

test("after a restart such a call is closed too, at its time or as soon as it is judged again", async () => {
  const stage = new Stage();
  await stage.recorder.recordHook(SERVER, hook("1", call("EmergencyCallStarted")));
  stage.sleeps.splice(0);
  stage.now += 1_000;
  const second = stage.start();
  second.takeTime(SERVER, stage.now);
  await second.flush();
  expect(stage.sleeps.map(({ ms }) => ms)).toEqual([UNSHOWN_CALL_MS + 1]);
  stage.now += UNSHOWN_CALL_MS;
  const third = stage.start();
  third.takeTime(SERVER, stage.now);
  await third.flush();
  expect(await stage.list()).toEqual(["call.opened 7", "call.closed 7"]);
});

test("a call of an instance that died is closed by another, which had loaded the server before", async () => {
  const stage = new Stage();
  const other = stage.start();
  other.takeTime(SERVER, stage.now);
  await other.flush();
  await stage.recorder.recordHook(SERVER, hook("1", call("EmergencyCallStarted")));
  stage.now += UNSHOWN_CALL_MS + 1;
  other.takeTime(SERVER, stage.now);
  await other.flush();
  expect(await stage.list()).toEqual(["call.opened 7", "call.closed 7"]);
  // Being judged is no use: the server is dropped from memory like any other that is not read.
  other.tidy(T0 + 600_001);
  expect(other.knows(SERVER)).toBe(false);
});

test("a webhook of a server that is deleted meanwhile is not waited for", async () => {
  const stage = new Stage();
  const { promise: isBack, resolve: comeBack } = Promise.withResolvers<void>();
  stage.archive.beforeRecord = () => isBack;
  const told = stage.recorder.recordHook(SERVER, hook("1", command("a")));
  const removed = stage.recorder.removeServer(SERVER);
  await expect(told).rejects.toThrow("deleted");
  comeBack();
  await removed;
});

test("after a stop nothing is taken", async () => {
  const stage = new Stage();
  await stage.recorder.stop(0);
  await expect(stage.recorder.recordHook(SERVER, hook("1", command("a")))).rejects.toThrow("stopped");
});
