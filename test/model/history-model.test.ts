// A model world in which players join, change team, leave and vanish, read whole, partly, late, twice, not at all and over
// restarts. What history says of it is held against what was the case: who was there from when to when, in which team, and how
// many there were at each second.
import { expect, test } from "bun:test";
import fc from "fast-check";
import { StoreUnavailable } from "../../src/core/errors.ts";
import { type GameReading, readOffline } from "../../src/core/events/reading.ts";
import type { CountMemory, Counts } from "../../src/core/history/counts.ts";
import type { HistoryChange } from "../../src/core/history/history.ts";
import { listOpenMinutes, rollUp } from "../../src/core/history/join-counts.ts";
import type { EndedSession, OpenSessions } from "../../src/core/history/sessions.ts";
import type { LedgerRecord } from "../../src/core/ports/archive.ts";
import { EventRecorder } from "../../src/gateway/events/event-recorder.ts";
import { MemoryArchive } from "../event-archive.ts";
import { BASE_INFO } from "../fake-game-api.ts";
import { JudgedServer, HISTORY_T0 as T0 } from "../judged-server.ts";
import { repeat } from "../long.ts";

const SERVER = "srv_model";
const PLAYERS = 5;
const TEAMS = ["Civilian", "Police", "Sheriff"];
/** For how long a reading vouches: 60 s, with an interval of 5 s. */
const VOUCH_MS = 60_000;

type How = "whole" | "without players" | "without log";
type Fault = "none" | "before" | "after";
type Step =
  | { readonly kind: "join" | "leave" | "vanish" | "promote"; readonly player: number }
  | { readonly kind: "team"; readonly player: number; readonly team: number }
  | { readonly kind: "wait"; readonly seconds: number }
  | { readonly kind: "read"; readonly how: How }
  | { readonly kind: "again" | "hold" | "deliver" | "lose" | "fail" | "offline" | "restart" }
  | { readonly kind: "fault"; readonly fault: Fault };

const player = fc.integer({ min: 0, max: PLAYERS - 1 });
const acts = fc.oneof(
  fc.record({ kind: fc.constantFrom("join", "join", "leave", "vanish", "promote"), player }),
  fc.record({ kind: fc.constant("team"), player, team: fc.integer({ min: 0, max: TEAMS.length - 1 }) }),
);
const seconds = fc.oneof(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 50, max: 400 }));
const wait = fc.record({ kind: fc.constant("wait"), seconds });
const other = fc.oneof(
  fc.record({ kind: fc.constantFrom("hold", "deliver") }),
  fc.record({ kind: fc.constantFrom("again", "lose", "fail", "offline", "restart") }),
);
const fault = fc.record({ kind: fc.constant("fault"), fault: fc.constantFrom("none", "before", "after") });
const readAs = (...how: How[]) => fc.record({ kind: fc.constant("read"), how: fc.constantFrom(...how) });

function listSteps(
  read: fc.Arbitrary<unknown>,
  others: fc.Arbitrary<unknown>,
  { reads, waits } = { reads: 6, waits: 2 },
): fc.Arbitrary<Step[]> {
  const step = fc.oneof(
    { weight: 6, arbitrary: acts as fc.Arbitrary<unknown> },
    { weight: reads, arbitrary: read },
    { weight: waits, arbitrary: wait as fc.Arbitrary<unknown> },
    { weight: 3, arbitrary: others },
  );
  return fc.array(step as fc.Arbitrary<Step>, { minLength: 5, maxLength: 60 });
}

/** What a reading that came in time has shown of somebody. */
type Sight = { readonly at: number; readonly team: string; readonly isStaff: boolean };
/** One time that a player was really there. */
type Visit = {
  readonly player: number;
  readonly joinedAt: number;
  leftAt: number | null;
  isLogged: boolean;
  readonly sights: Sight[];
};
type Present = { readonly visit: Visit; team: string; isStaff: boolean };
/** `count`: the players that it told of; `teams`: that of each player. */
type Shown = {
  readonly at: number;
  readonly count: number;
  readonly players: readonly number[] | undefined;
  readonly teams: readonly string[] | undefined;
};

/** Who judges the readings. */
interface Judge {
  take(reading: GameReading, lostSince: number | null): Promise<void>;
  fail(at: number): Promise<void>;
  restart(): Promise<void>;
  setFault(fault: Fault): void;
  finish(): Promise<History>;
}
type History = {
  readonly minutes: readonly Counts[];
  readonly sessions: readonly EndedSession[];
  readonly open: OpenSessions;
  readonly counts: CountMemory;
};

class World {
  now = T0;
  readonly visits: Visit[] = [];
  readonly present = new Map<number, Present>();
  /** The join log, oldest first. */
  #log: Record<string, unknown>[] = [];
  readonly #window: number;

  constructor(window: number) {
    this.#window = window;
    // A log that was never anything but empty cannot tell what it has left out.
    this.#note(99, true);
    this.#note(99, false);
  }

  join(player: number): void {
    if (this.present.has(player)) return;
    const visit = { player, joinedAt: this.now, leftAt: null, isLogged: false, sights: [] };
    this.visits.push(visit);
    this.present.set(player, { visit, team: TEAMS[0] ?? "", isStaff: false });
    this.#note(player, true);
  }

  leave(player: number, isLogged: boolean): void {
    const there = this.present.get(player);
    if (!there) return;
    this.present.delete(player);
    there.visit.leftAt = this.now;
    there.visit.isLogged = isLogged;
    if (isLogged) this.#note(player, false);
  }

  #note(player: number, isJoin: boolean): void {
    const entry = { Join: isJoin, Timestamp: this.now / 1000, Player: `P${player}:${player + 1}` };
    this.#log = [...this.#log, entry].slice(-this.#window);
  }

  read(how: How): GameReading {
    const Players = Array.from(this.present, ([player, { team, isStaff }]) => {
      const Permission = isStaff ? "Server Moderator" : "Normal";
      return { Player: `P${player}:${player + 1}`, Team: team, Permission, Callsign: null, WantedStars: 0 };
    });
    const JoinLogs = this.#log.toReversed();
    const sections = {
      ...(how === "without players" ? {} : { Players }),
      ...(how === "without log" ? {} : { JoinLogs }),
    };
    const settings = { ...BASE_INFO, CurrentPlayers: Players.length };
    return { at: this.now, gameServer: "g", settings, sections, offline: null };
  }
}

class Run {
  readonly world: World;
  readonly #judge: Judge;
  /** Those that came in time, oldest first. */
  readonly shown: Shown[] = [];
  readonly #held: { readonly reading: GameReading; readonly sights: ReadonlyMap<Visit, Sight> }[] = [];
  #last: GameReading | undefined;
  #lostSince: number | null = null;

  constructor(window: number, judge: Judge) {
    this.world = new World(window);
    this.#judge = judge;
  }

  async take(step: Step): Promise<void> {
    const { world } = this;
    world.now += 1_000;
    switch (step.kind) {
      case "join":
        return world.join(step.player);
      case "leave":
      case "vanish":
        return world.leave(step.player, step.kind === "leave");
      case "promote": {
        const there = world.present.get(step.player);
        if (there) there.isStaff = !there.isStaff;
        return;
      }
      case "team": {
        const there = world.present.get(step.player);
        if (there) there.team = TEAMS[step.team] ?? there.team;
        return;
      }
      case "wait":
        world.now += step.seconds * 1_000;
        return;
      case "read":
        return this.#deliver(world.read(step.how), this.#see(step.how));
      case "again":
        if (this.#last) await this.#judge.take(this.#last, null);
        return;
      case "hold":
        this.#held.push({ reading: world.read("whole"), sights: this.#see("whole") });
        return;
      case "deliver": {
        const held = this.#held.shift();
        if (held) await this.#deliver(held.reading, held.sights);
        return;
      }
      case "lose":
        this.#lostSince ??= world.now;
        return;
      case "fail":
        return this.#judge.fail(world.now);
      case "offline":
        for (const player of [...world.present.keys()]) world.leave(player, false);
        return this.#deliver(readOffline(world.now, "g", { code: 3002, message: "offline" }), new Map());
      case "restart":
        return this.#judge.restart();
      case "fault":
        this.#judge.setFault(step.fault);
    }
  }

  /** Reads until everything is known. */
  async finish(): Promise<History> {
    await this.take({ kind: "fault", fault: "none" });
    for (const _ of [1, 2, 3]) await this.take({ kind: "read", how: "whole" });
    return this.#judge.finish();
  }

  #see(how: How): ReadonlyMap<Visit, Sight> {
    if (how === "without players") return new Map();
    const { now: at, present } = this.world;
    return new Map(Array.from(present.values(), ({ visit, team, isStaff }) => [visit, { at, team, isStaff }]));
  }

  async #deliver(reading: GameReading, sights: ReadonlyMap<Visit, Sight>): Promise<void> {
    const isLate = reading.at <= (this.shown.at(-1)?.at ?? 0);
    if (!isLate) {
      const { at, settings, sections } = reading;
      const players = sections.Players ? Array.from(sights.keys(), (visit) => visit.player) : undefined;
      const teams = sections.Players ? Array.from(sights.values(), (sight) => sight.team) : undefined;
      this.shown.push({ at, count: Number(settings?.CurrentPlayers ?? 0), players, teams });
      for (const [visit, sight] of sights) visit.sights.push(sight);
      this.#last = reading;
    }
    const lostSince = this.#lostSince;
    this.#lostSince = null;
    await this.#judge.take(reading, lostSince);
  }
}

/** The rules alone, with a memory that is written to text and parsed again at a restart. */
class PureJudge implements Judge {
  readonly #server = new JudgedServer();
  async take(reading: GameReading, lostSince: number | null): Promise<void> {
    const now = Math.max(reading.at, this.#server.memory.lastReadingAt ?? 0);
    this.#server.judge(reading, { now, lostSince });
  }
  async fail(at: number): Promise<void> {
    this.#server.fail(at);
  }
  async restart(): Promise<void> {
    this.#server.restart();
  }
  setFault(): void {}
  async finish(): Promise<History> {
    const { minutes, sessions, memory } = this.#server;
    return { minutes, sessions, open: memory.sessions, counts: memory.counts };
  }
}

/** Notes the history of what was recorded, and can fail before or after that. */
class FaultyArchive extends MemoryArchive {
  isAnswerLost = false;
  readonly recorded: HistoryChange[] = [];

  override async record(records: readonly LedgerRecord[]) {
    const outcomes = await super.record(records);
    for (const [place, { history }] of records.entries()) {
      const outcome = outcomes[place];
      if (outcome && "version" in outcome) this.recorded.push(history);
    }
    if (this.isAnswerLost) throw new StoreUnavailable("no answer");
    return outcomes;
  }
}

/** The recorder with an archive that fails. */
class RecorderJudge implements Judge {
  readonly #archive = new FaultyArchive();
  #now = T0;
  #recorder = this.#start();

  async take(reading: GameReading): Promise<void> {
    this.#now = Math.max(this.#now, reading.at);
    this.#recorder.takeReading(SERVER, reading);
    await this.#recorder.flush();
  }
  async fail(at: number): Promise<void> {
    this.#now = Math.max(this.#now, at);
    this.#recorder.takeFailure(SERVER, { code: 1001, message: "down" }, at);
    await this.#recorder.flush();
  }
  async restart(): Promise<void> {
    this.setFault("none");
    await this.#recorder.flush();
    this.#recorder = this.#start();
  }
  setFault(fault: Fault): void {
    this.#archive.fault = fault === "before" ? new StoreUnavailable("away") : undefined;
    this.#archive.isAnswerLost = fault === "after";
  }
  async finish(): Promise<History> {
    const { memory } = await this.#archive.load(SERVER);
    const { recorded } = this.#archive;
    return {
      minutes: recorded.flatMap(({ minutes }) => minutes),
      sessions: recorded.flatMap(({ sessions }) => sessions),
      open: memory.sessions,
      counts: memory.counts,
    };
  }

  #start(): EventRecorder {
    return new EventRecorder({
      archive: this.#archive,
      clock: () => this.#now,
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
      planOf: () => ({ isWatched: true, intervalMs: 5_000 }),
    });
  }
}

async function play(judge: Judge, window: number, steps: readonly Step[]): Promise<{ run: Run; told: History }> {
  const run = new Run(window, judge);
  await run.take({ kind: "read", how: "whole" });
  for (const step of steps) await run.take(step);
  return { run, told: await run.finish() };
}

type ToldSession = Pick<EndedSession, "joinedAt" | "wasStaff"> & {
  readonly leftAt: number | null;
  readonly ended: EndedSession["ended"];
  readonly teams: Readonly<Record<string, number>>;
};

/** By player, oldest first. The one of the log that the world began with is left out. */
function sortTold({ sessions, open, counts }: History): ReadonlyMap<string, ToldSession[]> {
  const readAt = counts.last?.at ?? 0;
  const all: (ToldSession & { readonly player: string })[] = [
    ...sessions.map((session) => ({ ...session, teams: sumStays(session.stays) })),
    ...Array.from(open, ([player, { joinedAt, wasStaff, stays, team }]) => {
      const lasting = team ? [{ team: team.name, from: team.since, to: readAt }] : [];
      return {
        player,
        joinedAt,
        wasStaff,
        leftAt: null,
        ended: null,
        teams: sumStays([...stays, ...lasting]),
      };
    }),
  ];
  const sorted = all
    .filter(({ player }) => player !== "100")
    .sort((a, b) => a.joinedAt - b.joinedAt || (a.leftAt ?? Infinity) - (b.leftAt ?? Infinity));
  return Map.groupBy(sorted, ({ player }) => player);
}

function sumStays(stays: EndedSession["stays"]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const { team, from, to } of stays) if (to > from) sums[team] = (sums[team] ?? 0) + to - from;
  return sums;
}

/** What must be told of a visit when every entry of the log was shown. */
function expectSession({ joinedAt, leftAt: goneAt, isLogged, sights }: Visit): Omit<ToldSession, "ended"> {
  const lastSeen = sights.at(-1)?.at ?? joinedAt;
  const leftAt = goneAt === null ? null : isLogged ? goneAt : lastSeen;
  const teams: Record<string, number> = {};
  for (const [place, { at, team }] of sights.entries()) {
    const next = sights[place + 1];
    const to = Math.min(next?.at ?? leftAt ?? at, at + VOUCH_MS);
    if (to > at) teams[team] = (teams[team] ?? 0) + to - at;
  }
  return { joinedAt, leftAt, wasStaff: sights.some(({ isStaff }) => isStaff), teams };
}

type WantedCounts = {
  readonly at: number;
  knownMs: number;
  playerMs: number;
  teamKnownMs: number;
  readonly teamMs: Record<string, number>;
};

/** Each minute from the readings, second by second. */
function countWorld(shown: readonly Shown[], now: number): WantedCounts[] {
  const minutes = new Map<number, WantedCounts>();
  for (const [place, { at, count, teams }] of shown.entries()) {
    const to = Math.min(shown[place + 1]?.at ?? now, at + VOUCH_MS);
    for (let second = at; second < to; second += 1_000) {
      const minute = second - (second % 60_000);
      const sum = minutes.get(minute) ?? { at: minute, knownMs: 0, playerMs: 0, teamKnownMs: 0, teamMs: {} };
      minutes.set(minute, sum);
      sum.knownMs += 1_000;
      sum.playerMs += count * 1_000;
      if (teams) sum.teamKnownMs += 1_000;
      for (const team of teams ?? []) sum.teamMs[team] = (sum.teamMs[team] ?? 0) + 1_000;
    }
  }
  return [...minutes.values()];
}

function checkCounts(run: Run, { minutes, counts }: History): void {
  const now = run.world.now + 30_000;
  const open = listOpenMinutes(counts, now);
  const told = rollUp([...minutes, ...open], "1m");
  // Those that are over are told once.
  expect(new Set(minutes.map(({ at }) => at)).size).toBe(minutes.length);
  const sums = told.map(({ at, knownMs, playerMs, teamKnownMs, teamMs }) => {
    return { at, knownMs, playerMs, teamKnownMs, teamMs };
  });
  expect(sums).toEqual(countWorld(run.shown, now));
  const [day] = rollUp(rollUp(rollUp(told, "5m"), "1h"), "1d");
  const direct = rollUp(told, "1d");
  expect(day).toEqual(direct[0] ?? day);
}

/** Sessions of one player do not overlap, none is negative, and whoever a reading showed is in one at that time. */
function checkOrder(run: Run, told: History): void {
  const sessions = sortTold(told);
  for (const all of sessions.values()) {
    let before = 0;
    for (const { joinedAt, leftAt } of all) {
      expect(joinedAt).toBeGreaterThanOrEqual(before);
      before = leftAt ?? Infinity;
      expect(before).toBeGreaterThanOrEqual(joinedAt);
    }
  }
  for (const { joinedAt, leftAt, stays } of told.sessions) {
    let before = joinedAt;
    for (const { from, to } of stays) {
      expect([from >= before, to > from, to <= leftAt]).toEqual([true, true, true]);
      before = to;
    }
  }
  for (const { at, players } of run.shown) {
    for (const player of players ?? []) {
      const isTold = sessions
        .get(`${player + 1}`)
        ?.some(({ joinedAt, leftAt }) => joinedAt <= at && at <= (leftAt ?? Infinity));
      expect([player, at, isTold]).toEqual([player, at, true]);
    }
  }
}

/** With a log that shows everything: each time that somebody was there is told as one session, to the second. */
function checkSessions(run: Run, told: History): void {
  const sessions = sortTold(told);
  const visits = Map.groupBy(run.world.visits, ({ player }) => `${player + 1}`);
  expect([...sessions.keys()].sort()).toEqual([...visits.keys()].sort());
  for (const [player, all] of visits) {
    const mine = sessions.get(player) ?? [];
    const facts = mine.map(({ joinedAt, leftAt, wasStaff, teams }) => ({
      joinedAt,
      leftAt,
      wasStaff,
      teams,
    }));
    expect(facts).toEqual(all.map(expectSession));
    for (const [place, { ended }] of mine.entries()) {
      const visit = all[place];
      if (visit?.leftAt === null) expect(ended).toBeNull();
      else if (visit?.isLogged) expect(ended).toBe("log");
      else expect(["vanished", "gap"]).toContain(ended ?? "");
    }
  }
}

const LONG_LOG = 1_000;

test("with a log that shows everything, sessions, teams and counts are what was the case", async () => {
  const steps = listSteps(readAs("whole", "whole", "whole", "without players"), other);
  const runs = fc.asyncProperty(steps, async (given) => {
    // Whoever is there when the server goes offline vanishes; an entry that nobody has seen by then is told or not.
    const { run, told } = await play(new PureJudge(), LONG_LOG, readBeforeOffline(given));
    checkSessions(run, told);
    checkOrder(run, told);
    checkCounts(run, told);
  });
  await fc.assert(runs, { numRuns: repeat({ usual: 400, long: 20_000 }) });
}, 3_600_000);

test("an archive that fails before or after it has written neither loses nor doubles anything", async () => {
  const steps = listSteps(readAs("whole"), fc.oneof(other, fault, fault));
  const runs = fc.asyncProperty(steps, async (given) => {
    const { run, told } = await play(new RecorderJudge(), LONG_LOG, readBeforeOffline(given));
    checkSessions(run, told);
    checkCounts(run, told);
  });
  await fc.assert(runs, { numRuns: repeat({ usual: 100, long: 5_000 }) });
}, 3_600_000);

test("with entries that come late, every session is told with its times", async () => {
  const steps = listSteps(readAs("whole", "without log", "without log", "without players"), other);
  const runs = fc.asyncProperty(steps, async (given) => {
    const logged = given.filter(({ kind }) => kind !== "vanish" && kind !== "offline");
    const { run, told } = await play(new PureJudge(), LONG_LOG, logged);
    const sessions = sortTold(told);
    for (const [player, visits] of Map.groupBy(run.world.visits, (visit) => `${visit.player + 1}`)) {
      expect(sessions.get(player)?.map(({ joinedAt, leftAt }) => [joinedAt, leftAt])).toEqual(
        visits.map(({ joinedAt, leftAt }) => [joinedAt, leftAt]),
      );
    }
    checkCounts(run, told);
  });
  await fc.assert(runs, { numRuns: repeat({ usual: 200, long: 10_000 }) });
}, 3_600_000);

test("with entries that were missed, nobody is said to be there for longer than a reading vouches", async () => {
  // Few readings, so that much happens between two of them.
  const steps = listSteps(readAs("whole"), other, { reads: 2, waits: 4 });
  const runs = fc.asyncProperty(fc.integer({ min: 1, max: 3 }), steps, async (window, given) => {
    const { run, told } = await play(new PureJudge(), window, given);
    checkOrder(run, told);
    checkCounts(run, told);
    for (const [player, sessions] of sortTold(told)) {
      const visits = run.world.visits.filter((visit) => `${visit.player + 1}` === player);
      for (const { joinedAt, leftAt } of sessions) {
        const end = leftAt ?? run.world.now;
        for (const [from, to] of listAbsences(visits)) {
          expect(Math.min(end, to) - Math.max(joinedAt, from)).toBeLessThanOrEqual(VOUCH_MS);
        }
      }
    }
  });
  await fc.assert(runs, { numRuns: repeat({ usual: 1_000, long: 20_000 }) });
}, 3_600_000);

/** The times in which the player of these visits was not there. */
function listAbsences(visits: readonly Visit[]): [number, number][] {
  const from = [0, ...visits.map(({ leftAt }) => leftAt ?? Infinity)];
  const to = [...visits.map(({ joinedAt }) => joinedAt), Infinity];
  return from.map((start, place) => [start, to[place] ?? Infinity]);
}

function readBeforeOffline(steps: readonly Step[]): Step[] {
  return steps.flatMap((step) => (step.kind === "offline" ? [{ kind: "read", how: "whole" } as const, step] : [step]));
}
