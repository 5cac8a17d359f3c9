// Reads the watched servers unasked, so that what happens there is recorded although nobody reads them. One instance
// watches for all. Callers come first; the rules are in core/readings/watch-plan.ts.
import { isRefusal, StoreUnavailable } from "../../core/errors.ts";
import type { Failure } from "../../core/events/judge-state.ts";
import type { GameServer } from "../../core/game-server.ts";
import type { Clock, SleepUntilWoken } from "../../core/ports/clock.ts";
import type { InstanceLease } from "../../core/ports/instance-lease.ts";
import type { Log } from "../../core/ports/log.ts";
import type { ServerStore } from "../../core/ports/servers.ts";
import { OFFLINE } from "../../core/readings/upstream-codes.ts";
import {
  findDueAt,
  intervalOf,
  listDue,
  planInterval,
  type WatchCandidate,
  type WatchPlan,
} from "../../core/readings/watch-plan.ts";
import { WATCH_REASONS } from "../../core/readings/watch-reasons.ts";
import { createThrottle } from "../../core/throttle.ts";
import type { WatchingResource } from "../../core/wire/server.ts";
import { HOLD_EVERY_MS, LeaseHolder } from "../instances/lease-holder.ts";
import type { Relay, WatchFacts, WatchObstacle } from "./relay.ts";
import type { StateBoard } from "./state-board.ts";

/** The longest time between two looks at which servers are due. */
const STEP_MAX_MS = 100;
/** While a server cannot be read, the recorder is told so at least this often. */
const TELL_FAILURES_MS = 2_000;
/** The most calls of the watcher in flight. More wait for the next look. */
const CALLS_IN_FLIGHT_MAX = 100;
const FAULT_LOG_MS = 60_000;
const CATCH_UP_MS = 250;

const OBSTACLE_WORDS: Readonly<Record<WatchObstacle["kind"], string>> = {
  parked: WATCH_REASONS.parked,
  global_key: WATCH_REASONS.globalKeyRefused,
  key: WATCH_REASONS.keyRefused,
  pause: WATCH_REASONS.pause,
  breaker: WATCH_REASONS.breaker,
};

export type WatcherDeps = {
  readonly relay: Pick<Relay, "budget" | "describeForWatch" | "fetchNews" | "watch">;
  readonly servers: Pick<ServerStore, "all" | "find">;
  readonly clock: Clock;
  /** How the watcher waits until its next look. */
  readonly pause: SleepUntilWoken;
  readonly log: Log;
  /** GATEHOUSE_WATCH_INTERVAL_MS. */
  readonly intervalMs: number;
  /** Why nothing is watched; undefined when servers are watched. */
  readonly offReason: string | undefined;
  /** Undefined when this is the only instance. */
  readonly lease: InstanceLease | undefined;
};

/** For /metrics. */
export type WatchReport = {
  /** The servers that this instance watches; 0 while another one does. */
  readonly servers: number;
  /** How long the watched server that was not read for the longest time has waited. Null without watched servers. */
  readonly oldestReadingMs: number | null;
};

type Watched = WatchCandidate & { readonly server: GameServer; readonly facts: WatchFacts };

export class Watcher {
  readonly #lease: LeaseHolder;
  readonly #stopping = new AbortController();
  readonly #throttleLog = createThrottle(FAULT_LOG_MS);
  /** When the first call for each watched server is due, so that not all are called at once after a start. */
  readonly #firstDues = new Map<string, number>();
  /** The interval in force; undefined when the budget allows no watching. */
  #intervalMs: number | undefined;
  #callsInFlight = 0;
  /** The watcher's own calls since the start. "Offline" is a reading. */
  readonly calls = { reading: 0, failure: 0 };
  /** Called every few seconds for each watched server that cannot be read, with the reason. */
  onFailure: ((serverId: string, failure: Failure, at: number) => void) | undefined;
  #toldAt = Number.NEGATIVE_INFINITY;
  #running: Promise<void> | undefined;
  #caughtUpAt = Number.NEGATIVE_INFINITY;
  #catchingUp: Promise<void> | undefined;
  /** Undefined when this is the only instance. */
  board: StateBoard | undefined;

  constructor(private readonly deps: WatcherDeps) {
    this.#lease = new LeaseHolder(deps.lease, {
      onWon: () => deps.log.info({}, "this instance watches the game servers now"),
    });
    this.#intervalMs = deps.intervalMs;
  }

  start(): void {
    if (this.deps.offReason === undefined) this.#running ??= this.#run();
  }

  /** Makes no call any more, and lets another instance watch. Does not wait for calls in flight. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
    await this.#lease.release().catch((error) => this.#logFault(error));
  }

  /** Whether the server is watched, and how often. For the recorder, which judges silences by it. */
  planOf(serverId: string): WatchPlan {
    const { servers, intervalMs, offReason } = this.deps;
    const server = servers.find(serverId);
    if (!server) return { isWatched: false, intervalMs };
    const facts = this.#factsOf(server);
    const isWatched = server.isWatched && offReason === undefined;
    return { isWatched, intervalMs: intervalOf(facts.isOffline, this.#intervalMs ?? intervalMs) };
  }

  /** For operators. */
  describe(server: GameServer): WatchingResource {
    const { isOffline, lastReadAt, obstacle } = this.#factsOf(server);
    const last = { last_reading_at: lastReadAt };
    const offReason = this.deps.offReason ?? (server.isWatched ? undefined : WATCH_REASONS.serverOff);
    if (offReason !== undefined) return { state: "off", interval_ms: null, ...last, reason: offReason };
    if (this.#intervalMs === undefined) {
      return { state: "paused", interval_ms: null, ...last, reason: WATCH_REASONS.budgetTooSmall };
    }
    const interval = { interval_ms: intervalOf(isOffline, this.#intervalMs) };
    if (!obstacle) return { state: "watching", ...interval, ...last, reason: null };
    return { state: "paused", ...interval, ...last, reason: OBSTACLE_WORDS[obstacle.kind] };
  }

  report(now: number): WatchReport {
    const { servers, offReason } = this.deps;
    const found = offReason === undefined && this.#lease.isHeld ? Array.from(servers.all()) : [];
    const agesMs = found.flatMap((server) => {
      const { obstacle, lastReadAt } = this.#factsOf(server);
      if (!server.isWatched || obstacle?.kind === "parked") return [];
      return [Math.max(0, now - (lastReadAt ?? this.#firstDues.get(server.serverId) ?? now))];
    });
    const oldestReadingMs = agesMs.length === 0 ? null : agesMs.reduce((a, b) => Math.max(a, b));
    return { servers: agesMs.length, oldestReadingMs };
  }

  /** Fetches what the watching instance has read, for `describe`. */
  async catchUpOn(server: GameServer): Promise<void> {
    const { relay, clock } = this.deps;
    await relay.fetchNews(server, clock()).catch((error) => this.#ignoreUnavailable(error));
  }

  /** Like `catchUpOn`, for all servers. Often called together, so it is done at most every CATCH_UP_MS. */
  async catchUpOnAll(): Promise<void> {
    const { servers, clock, lease } = this.deps;
    if (!lease) return;
    const now = clock();
    if (Math.abs(now - this.#caughtUpAt) >= CATCH_UP_MS) {
      this.#caughtUpAt = now;
      this.#catchingUp = this.#catchUpOnAllNow(Array.from(servers.all()));
    }
    await this.#catchingUp;
  }

  async #catchUpOnAllNow(servers: readonly GameServer[]): Promise<void> {
    await Promise.all(servers.map((server) => this.catchUpOn(server)));
    await this.board?.exchange().catch((error) => this.#ignoreUnavailable(error));
  }

  async #run(): Promise<void> {
    const { pause } = this.deps;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      let waitMs = HOLD_EVERY_MS;
      try {
        waitMs = await this.#step();
      } catch (error) {
        this.#logFault(error);
      }
      if (!signal.aborted) await pause(waitMs, signal);
    }
  }

  /** One look at all servers. Returns how long to wait until the next. */
  async #step(): Promise<number> {
    const { clock, intervalMs } = this.deps;
    await this.#lease.keep(clock());
    const now = clock();
    const watched = this.#listWatched(now);
    if (!this.#lease.isHeld) return HOLD_EVERY_MS;
    if (Math.abs(now - this.#toldAt) >= TELL_FAILURES_MS) {
      this.#toldAt = now;
      this.#tellFailures(watched, now);
    }
    const waitMs = await this.#readDue(watched, now);
    return Math.max(1, Math.min(waitMs, intervalMs / 2));
  }

  /** The watched servers, with the interval in force planned for them. */
  #listWatched(now: number): Watched[] {
    const { relay, servers, intervalMs } = this.deps;
    const found: GameServer[] = [];
    for (const server of servers.all()) if (server.isWatched) found.push(server);
    this.#setFirstDues(found, now);
    const counts = { online: 0, offline: 0 };
    // Several times a second over all servers, so as few objects as possible are made.
    const watched = found.map((server) => {
      const facts = relay.describeForWatch(server, now);
      const { lastCallAt, isOffline, obstacle } = facts;
      if (obstacle === undefined || isForAWhile(obstacle)) counts[isOffline ? "offline" : "online"]++;
      const firstDueAt = this.#firstDues.get(server.serverId) ?? now;
      return { server, facts, lastCallAt, isOffline, firstDueAt };
    });
    this.#intervalMs = planInterval(intervalMs, counts, relay.budget);
    return watched;
  }

  /** Spreads the first calls of servers that are new to this instance evenly over one interval. */
  #setFirstDues(servers: readonly GameServer[], now: number): void {
    const added = servers.filter(({ serverId }) => !this.#firstDues.has(serverId));
    const spacingMs = (this.#intervalMs ?? this.deps.intervalMs) / added.length;
    for (const [place, { serverId }] of added.entries()) {
      this.#firstDues.set(serverId, now + Math.floor(place * spacingMs));
    }
    if (this.#firstDues.size === servers.length) return;
    const kept = new Set(servers.map(({ serverId }) => serverId));
    for (const serverId of this.#firstDues.keys()) if (!kept.has(serverId)) this.#firstDues.delete(serverId);
  }

  /** Calls for the servers that are due, as far as the budget allows. Returns how long to wait until the next look. */
  async #readDue(watched: readonly Watched[], now: number): Promise<number> {
    const { relay } = this.deps;
    const intervalMs = this.#intervalMs;
    if (intervalMs === undefined) return STEP_MAX_MS;
    for (const { server, facts } of listDue(watched, intervalMs, now)) {
      if (!facts.isCallable) continue;
      if (this.#callsInFlight >= CALLS_IN_FLIGHT_MAX || this.#stopping.signal.aborted) return STEP_MAX_MS;
      if (!(await this.#isStillDue(server, intervalMs))) continue;
      const call = relay.watch(server, this.deps.clock());
      // What holds this call back holds the others back too.
      if (typeof call === "number") return Math.min(call, STEP_MAX_MS);
      this.#follow(call);
    }
    return STEP_MAX_MS;
  }

  /** Another instance may have read the server for a caller meanwhile. */
  async #isStillDue(server: GameServer, intervalMs: number): Promise<boolean> {
    const { lease, clock } = this.deps;
    if (!lease) return true;
    await this.catchUpOn(server);
    const now = clock();
    const facts = this.#factsOf(server);
    const firstDueAt = this.#firstDues.get(server.serverId) ?? now;
    return facts.isCallable && findDueAt({ ...facts, firstDueAt }, intervalMs, now) <= now;
  }

  #follow(call: Promise<unknown>): void {
    this.#callsInFlight++;
    void call
      .then((outcome) => {
        this.calls[isFailure(outcome) ? "failure" : "reading"]++;
      })
      .catch((error) => {
        this.calls.failure++;
        this.#logFault(error);
      })
      .finally(() => {
        this.#callsInFlight--;
      });
  }

  /** Also when no call is made because of a pause, a breaker or a refused key. */
  #tellFailures(watched: readonly Watched[], now: number): void {
    const intervalMs = this.#intervalMs ?? this.deps.intervalMs;
    for (const each of watched) {
      const { obstacle, lastFailure } = each.facts;
      if ((!obstacle && !lastFailure) || obstacle?.kind === "parked") continue;
      const isDue = findDueAt(each, intervalMs, now) <= now;
      // A pause that ends before the next reading is due keeps nothing from being read.
      const failure = (isDue ? obstacle?.failure : undefined) ?? lastFailure;
      if (!failure) continue;
      const { code, message } = failure;
      this.onFailure?.(each.server.serverId, { code, message }, now);
    }
  }

  #factsOf(server: GameServer): WatchFacts {
    const { relay, clock } = this.deps;
    return relay.describeForWatch(server, clock());
  }

  #logFault(error: unknown): void {
    // An unavailable store is logged already, where requests fail because of it.
    if (error instanceof StoreUnavailable) return;
    this.#throttleLog(this.deps.clock(), (unlogged) => {
      this.deps.log.error({ err: error, unlogged }, "watching the game servers failed");
    });
  }

  #ignoreUnavailable(error: unknown): void {
    if (!(error instanceof StoreUnavailable)) throw error;
  }
}

/** Whether the obstacle passes by itself, so that the server needs its share of the budget. */
function isForAWhile({ kind }: WatchObstacle): boolean {
  return kind === "pause" || kind === "breaker";
}

/** Whether the call brought no reading. */
function isFailure(outcome: unknown): boolean {
  const isRefused = typeof outcome === "object" && outcome !== null && isRefusal(outcome);
  return isRefused && outcome.fields?.upstream_code !== OFFLINE;
}
