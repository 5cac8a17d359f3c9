// A model world with random joins, kills, commands and calls, read through windows, in bad order, partly, twice, by two
// instances and over restarts. Whatever happens: every entry that a reading showed is in the ledger once, and every entry that
// no reading showed lies in a gap.
import { expect, test } from "bun:test";
import fc from "fast-check";
import { StoreUnavailable } from "../../src/core/errors.ts";
import { filterAll, typeOfKind } from "../../src/core/events/event-types.ts";
import type { GameReading } from "../../src/core/events/reading.ts";
import type { Archive, LedgerEvent } from "../../src/core/ports/archive.ts";
import { type ArchiveMethod, callArchive } from "../../src/core/ports/archive-calls.ts";
import type { Gap } from "../../src/core/wire/event-data.ts";
import { EventRecorder } from "../../src/gateway/events/event-recorder.ts";
import { openLocalArchive, TestArchive } from "../event-archive.ts";
import { BASE_INFO } from "../fake-game-api.ts";
import { repeat } from "../long.ts";

const SERVER = "srv_model";
const T0 = 1_800_000_000_000;
const INTERVAL_MS = 5_000;
const LISTS = ["JoinLogs", "KillLogs", "CommandLogs", "ModCalls"] as const;
type List = (typeof LISTS)[number];
type Entry = { readonly list: List; readonly at: number; readonly element: Record<string, unknown> };

/** The embedded archive without its thread, which can fail before or after it has written. */
class FailingArchive extends TestArchive {
  readonly #archive = openLocalArchive(":memory:");
  fault: "none" | "before" | "after" = "none";

  async call(method: ArchiveMethod, args: readonly unknown[]): Promise<unknown> {
    const isGuarded = GUARDED.has(method);
    if (isGuarded && this.fault === "before") throw new StoreUnavailable("away");
    const result = await callArchive(this.#archive, method, args);
    if (isGuarded && this.fault === "after") throw new StoreUnavailable("no answer");
    return result;
  }
}

/** What the recorder and the readers of a ledger use. */
const GUARDED: ReadonlySet<ArchiveMethod> = new Set(["load", "findRecorded", "record", "readPage", "findLast"]);

type Step =
  | { readonly kind: "happen"; readonly entries: readonly [number, number][] }
  | {
      readonly kind: "read";
      readonly how: "whole" | "partial" | "reordered" | "without";
      readonly by: 0 | 1;
      readonly cut: number;
    }
  | { readonly kind: "again"; readonly by: 0 | 1 }
  | {
      readonly kind: "hold" | "deliver" | "restart" | "forget" | "empty" | "silence" | "offline";
      readonly by: 0 | 1;
    }
  | { readonly kind: "fault"; readonly fault: "none" | "before" | "after" };

const by = fc.constantFrom<0 | 1>(0, 1);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant("happen" as const),
      entries: fc.array(fc.tuple(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 2 })), {
        maxLength: 9,
      }),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("read" as const),
      how: fc.constantFrom("whole", "whole", "partial", "reordered", "without"),
      by,
      cut: fc.integer({ min: 1, max: 4 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("again" as const), by }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom("hold", "deliver", "restart", "forget", "empty", "silence", "offline"),
      by,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("fault" as const),
      fault: fc.constantFrom("none", "none", "before", "after"),
    }),
  },
);

class World {
  now = T0;
  /** Everything that ever happened, oldest first. */
  readonly happened: Entry[] = [];
  readonly visible = new Map<List, Entry[]>(LISTS.map((list) => [list, []]));
  readonly #window: number;
  #names = 0;

  constructor(window: number) {
    this.#window = window;
  }

  /** Entries of one call with the same name are equal. */
  happen(entries: readonly [number, number][]): void {
    this.now += 1_000;
    const base = this.#names;
    for (const [kind, name] of entries) {
      const list = LISTS[kind] ?? "JoinLogs";
      const entry = { list, at: this.now, element: makeElement(list, this.now / 1000, `P:${base + name}`) };
      this.happened.push(entry);
      const visible = [...(this.visible.get(list) ?? []), entry];
      this.visible.set(list, visible.slice(-this.#window));
    }
    this.#names += 3;
  }

  forget(): void {
    for (const list of LISTS) this.visible.set(list, []);
  }
}

function makeElement(list: List, second: number, name: string): Record<string, unknown> {
  switch (list) {
    case "JoinLogs":
      return { Join: true, Timestamp: second, Player: name };
    case "KillLogs":
      return { Killed: name, Timestamp: second, Killer: "K:1" };
    case "CommandLogs":
      return { Player: name, Timestamp: second, Command: ":h" };
    case "ModCalls":
      return { Caller: name, Moderator: null, Timestamp: second };
  }
}

class Run {
  readonly world: World;
  readonly archive = new FailingArchive();
  readonly #recorders: EventRecorder[];
  readonly #held: GameReading[] = [];
  #last: GameReading | undefined;
  /** How often one reading showed equal entries, at most, of the readings that no restart has lost. */
  readonly shown = new Map<string, number>();
  /** The same for all readings. */
  readonly everShown = new Map<string, number>();
  /** Readings that each instance has not recorded yet. */
  readonly #waiting: [GameReading[], GameReading[]] = [[], []];
  firstReadingAt: number | undefined;

  constructor(window: number) {
    this.world = new World(window);
    this.#recorders = [this.#start(), this.#start()];
  }

  async take(step: Step): Promise<void> {
    const { world } = this;
    switch (step.kind) {
      case "happen":
        return world.happen(step.entries);
      case "read":
        return this.#deliver(this.#read(step.how, step.cut), step.by);
      case "again":
        // A newer reading may still be on its way.
        if (this.#last) await this.#deliver({ ...this.#last, at: this.#tick() }, step.by);
        return;
      case "hold":
        if (this.firstReadingAt !== undefined) this.#held.push(this.#read("whole", 0));
        return;
      case "deliver": {
        const reading = this.#held.shift();
        if (reading) await this.#deliver(reading, step.by);
        return;
      }
      case "restart":
        // What waits in memory is lost with the process.
        this.#waiting[step.by] = [];
        this.#recorders[step.by] = this.#start();
        return;
      case "forget":
        // Right after a reading, so that nothing is lost that no gap can cover.
        await this.#deliver(this.#read("whole", 0), step.by);
        return world.forget();
      case "empty":
        return this.#deliver(this.#read("empty", 0), step.by);
      case "silence":
        world.now += 120_000;
        return;
      case "offline":
        if (this.firstReadingAt === undefined) return;
        return this.#deliver(
          {
            at: this.#tick(),
            gameServer: "g",
            settings: null,
            sections: {},
            offline: { code: 3002, message: "" },
          },
          step.by,
        );
      case "fault":
        this.archive.fault = step.fault;
        return;
    }
  }

  async finish(): Promise<void> {
    this.archive.fault = "none";
    for (const reading of this.#held.splice(0)) await this.#deliver(reading, 0);
    // Twice, because both instances may have had something to say about the same version.
    for (const _ of [1, 2]) await Promise.all([this.#flush(0), this.#flush(1)]);
    this.world.happen(LISTS.map((_, kind) => [kind, 0]));
    await this.#deliver(this.#read("whole", 0), 0);
  }

  #start(): EventRecorder {
    return new EventRecorder({
      archive: this.archive,
      clock: () => this.world.now,
      sleep: () => new Promise(() => {}),
      log: {
        debug() {},
        info() {},
        warn() {},
        error({ err }: { err?: unknown }) {
          throw err;
        },
      },
      hash: (text) => Bun.hash(text).toString(36),
      commands: { listSent: async () => [] },
      planOf: () => ({ isWatched: true, intervalMs: INTERVAL_MS }),
    });
  }

  #tick(): number {
    this.world.now += 1_000;
    return this.world.now;
  }

  #read(how: "whole" | "partial" | "reordered" | "without" | "empty", cut: number): GameReading {
    const sections: Record<string, unknown> = {};
    for (const [list, entries] of this.world.visible) {
      const newestFirst = entries.map(({ element }) => element).toReversed();
      if (how === "without" && list !== "JoinLogs") continue;
      if (how === "empty") sections[list] = [];
      else if (how === "partial") sections[list] = newestFirst.slice(0, cut);
      else if (how === "reordered") sections[list] = newestFirst.toSorted((a, b) => hashOf(a) - hashOf(b));
      else sections[list] = newestFirst;
    }
    return { at: this.#tick(), gameServer: "g", settings: BASE_INFO, sections, offline: null };
  }

  async #deliver(reading: GameReading, by: 0 | 1): Promise<void> {
    this.#last = reading.offline ? this.#last : reading;
    this.firstReadingAt ??= reading.at;
    raise(this.everShown, reading);
    this.#waiting[by].push(reading);
    const recorder = this.#recorders[by];
    recorder?.takeReading(SERVER, reading);
    await this.#flush(by);
  }

  async #flush(by: 0 | 1): Promise<void> {
    await this.#recorders[by]?.flush();
    if (this.#recorders[by]?.hasWaiting) return;
    for (const reading of this.#waiting[by].splice(0)) raise(this.shown, reading);
  }
}

/** Raises the counts to those of one reading. */
function raise(shown: Map<string, number>, reading: GameReading): void {
  const counts = new Map<string, number>();
  for (const list of LISTS) {
    for (const element of (reading.sections[list] ?? []) as object[]) {
      const key = keyOf(list, element);
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
  }
  for (const [key, count] of counts) shown.set(key, Math.max(shown.get(key) ?? 0, count));
}

const hashOf = (element: object) => Number(Bun.hash(JSON.stringify(element)) % 1_000_003n);
const keyOf = (list: string, element: object) => `${list} ${JSON.stringify(element)}`;

const LIST_OF: Readonly<Record<string, List>> = {
  "player.joined": "JoinLogs",
  "player.killed": "KillLogs",
  "command.used": "CommandLogs",
  "modcall.opened": "ModCalls",
};

async function readLedger(archive: Archive): Promise<LedgerEvent[]> {
  const events: LedgerEvent[] = [];
  let start: Parameters<Archive["readPage"]>[0]["start"] = { after: "earliest" };
  for (;;) {
    const page = await archive.readPage({ serverId: SERVER, start, filter: filterAll(), limit: 7 });
    if ("expired" in page) throw new Error("a cursor expired");
    events.push(...page.events);
    start = { after: page.next };
    if (!page.hasMore) return events;
  }
}

test("every entry that a reading showed is in the ledger once, every other one lies in a gap, in order", async () => {
  const runs = fc.asyncProperty(
    fc.integer({ min: 3, max: 8 }),
    fc.array(step, { minLength: 4, maxLength: 40 }),
    async (window, steps) => {
      const run = new Run(window);
      // A list that was never anything but empty cannot tell how much of a burst it has left out.
      await run.take({ kind: "happen", entries: LISTS.map((_, kind) => [kind, 0]) });
      await run.take({ kind: "read", how: "whole", by: 0, cut: 0 });
      for (const each of steps) await run.take(each);
      await run.finish();
      const events = await readLedger(run.archive);
      expect(events.map(({ number }) => number)).toEqual(events.map((_, place) => place + 1));

      const told = new Map<string, number>();
      const gaps: Gap[] = [];
      for (const { kind, data } of events) {
        const type = typeOfKind(kind);
        if (type === "gap") gaps.push(JSON.parse(data));
        const list = LIST_OF[type];
        if (!list) continue;
        const key = keyOf(list, JSON.parse(data));
        told.set(key, (told.get(key) ?? 0) + 1);
      }
      for (const [key, count] of run.shown)
        expect([key, told.get(key) ?? 0]).toEqual([key, Math.max(count, told.get(key) ?? 0)]);
      for (const [key, count] of told) expect(count).toBeLessThanOrEqual(run.everShown.get(key) ?? 0);

      const left = new Map(told);
      for (const { list, at, element } of run.world.happened.toReversed()) {
        const key = keyOf(list, element);
        const count = left.get(key) ?? 0;
        left.set(key, count - 1);
        if (count > 0 || at < (run.firstReadingAt ?? 0)) continue;
        const isCovered = gaps.some(({ section, from, to }) => {
          return section === list && (from === null || from <= at) && (to === null || at <= to);
        });
        if (!isCovered) throw new Error(`lost without a gap: ${key}, gaps ${JSON.stringify(gaps)}`);
      }
    },
  );
  await fc.assert(runs, { numRuns: repeat({ usual: 250, long: 50_000 }) });
}, 3_600_000);
