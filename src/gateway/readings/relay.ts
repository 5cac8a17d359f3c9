// The read path: concurrent reads of a server share one call to the game API. Answers from the last reading while it is
// fresh, and with a remembered failure while another call would be pointless.
import { isRefusal, type Refusal } from "../../core/errors.ts";
import { type GameServer, isParked } from "../../core/game-server.ts";
import type { MaybePromise } from "../../core/maybe-promise.ts";
import type { NoticeCode } from "../../core/notice-codes.ts";
import type { NoticeFacts } from "../../core/notices.ts";
import type { Clock } from "../../core/ports/clock.ts";
import type { Log } from "../../core/ports/log.ts";
import type { RelayShare } from "../../core/ports/relay-share.ts";
import type { ServerStore } from "../../core/ports/servers.ts";
import type { Upstream, UpstreamFailure } from "../../core/ports/upstream.ts";
import { isOpen } from "../../core/readings/breaker.ts";
import { type Budget, countCallsLeft, isPaused } from "../../core/readings/budget.ts";
import { ABOUT_SERVER_CODES, RATE_LIMITED } from "../../core/readings/upstream-codes.ts";
import type { SavedNotes } from "../../core/readings/upstream-notes.ts";
import type { UpstreamResource } from "../../core/wire/upstream.ts";
import type { RelayMeter } from "../meters.ts";
import { listNoticeServers, type NameServers } from "../servers/name-servers.ts";
import { refuseParked } from "../servers/parked-servers.ts";
import { BudgetKeeper } from "./budget-keeper.ts";
import { BUDGET_WAIT_MAX_MS, CallScheduler } from "./call-scheduler.ts";
import { Fallback, PAUSE_MESSAGE } from "./fallback.ts";
import { OtherInstances } from "./other-instances.ts";
import { ReadingListeners } from "./reading-listeners.ts";
import { createStatus, isKeyRefused, type Reading, type ServerStatus } from "./server-status.ts";
import { type AffectedServers, GlobalKey, ServerStatuses, type ServerSummary } from "./server-statuses.ts";
import type { Snapshot } from "./snapshot.ts";
import type { KnownState } from "./state-board.ts";
import { UpstreamCallState } from "./upstream-call-state.ts";
import type { UpstreamNotes } from "./upstream-notes.ts";
import { UpstreamReader } from "./upstream-reader.ts";

export type RelaySettings = {
  /** How long one call to the game API may take, from beginning to end. */
  readonly timeoutMs: number;
  readonly freshMs: number;
  readonly staleMs: number;
  readonly hasGlobalKey: boolean;
  /** Whether the upstream is the built-in simulator. Servers that were made for the other one are parked. */
  readonly isSimulator: boolean;
};

export type RelayDeps = {
  readonly upstream: Pick<Upstream, "readServer">;
  readonly servers: Pick<ServerStore, "readServerKey">;
  readonly clock: Clock;
  readonly sleep: (ms: number) => Promise<void>;
  readonly settings: RelaySettings;
  readonly meter: RelayMeter;
  readonly log: Log;
  /** Undefined when this is the only instance. */
  readonly share?: RelayShare | undefined;
  /** How many instances share the budget. */
  readonly countInstances?: (() => number) | undefined;
  /** Pauses and refused keys in the database. */
  readonly notes?: UpstreamNotes | undefined;
};

/** What keeps a server from being called. `failure` is undefined when the game API has not said it. */
export type WatchObstacle = {
  readonly kind: "parked" | "global_key" | "key" | "pause" | "breaker";
  readonly failure: UpstreamFailure | undefined;
};

export type WatchFacts = {
  /** The last call for the server, whoever asked for it; 0 when there was none. */
  readonly lastCallAt: number;
  /** The last good reading. "Offline" is one. */
  readonly lastReadAt: number | null;
  readonly isOffline: boolean;
  /** Whether a call may be made as far as the server is concerned. False while one is under way. */
  readonly isCallable: boolean;
  /** What the latest reading failed with; undefined after a good one. */
  readonly lastFailure: UpstreamFailure | undefined;
  /** An open breaker is one even when its probe is due. */
  readonly obstacle: WatchObstacle | undefined;
};

const PAUSED: UpstreamFailure = { code: RATE_LIMITED, message: PAUSE_MESSAGE, isRateLimit: true };

export class Relay {
  /** Called with every reading that this instance makes. */
  readonly listeners: ReadingListeners;
  /** For sending commands. */
  readonly callState: UpstreamCallState;
  /** The longest wait for our own call: a turn in the budget, one call, and some slack. */
  readonly longestWaitMs: number;
  readonly #meter: RelayMeter;
  readonly #isSimulator: boolean;
  readonly #statuses: ServerStatuses;
  readonly #keeper: BudgetKeeper;
  readonly #globalKey: GlobalKey;
  readonly #scheduler: CallScheduler;
  readonly #fallback: Fallback;
  readonly #reader: UpstreamReader;
  readonly #others: OtherInstances | undefined;

  constructor(deps: RelayDeps) {
    const { share, clock, sleep, notes, settings, meter, log, upstream, servers } = deps;
    const { timeoutMs, freshMs, hasGlobalKey } = settings;
    const keeper = new BudgetKeeper(share, clock, notes, deps.countInstances);
    const globalKey = new GlobalKey({ isUsed: hasGlobalKey, notes });
    const statuses = new ServerStatuses(freshMs, globalKey, notes, clock());
    const scheduler = new CallScheduler(keeper, statuses, { hasOthers: share !== undefined, timeoutMs });
    const fallback = new Fallback(settings, keeper, meter);
    const listeners = new ReadingListeners(log);
    const state = { clock, sleep, log, keeper, statuses, fallback };
    const reader = new UpstreamReader({ ...state, upstream, servers, meter, scheduler, listeners });
    this.longestWaitMs = BUDGET_WAIT_MAX_MS + timeoutMs + 1_000;
    const { longestWaitMs } = this;
    const others = share && new OtherInstances({ ...state, share, reader, longestWaitMs });
    if (notes) notes.onNews = (saved) => this.#learnNotes(saved, clock());
    this.listeners = listeners;
    const probe = (server: GameServer, at: number) => this.#probe(server, at);
    this.callState = new UpstreamCallState(statuses, keeper, others, settings.isSimulator, probe);
    this.#meter = meter;
    this.#isSimulator = settings.isSimulator;
    this.#statuses = statuses;
    this.#keeper = keeper;
    this.#globalKey = globalKey;
    this.#scheduler = scheduler;
    this.#fallback = fallback;
    this.#reader = reader;
    this.#others = others;
  }

  /** The state of the server, or 5019. Callers that come during a call share its answer. */
  read(server: GameServer, now: number): MaybePromise<Reading | Refusal> {
    const status = this.#statuses.of(server, now);
    status.lastReadAt = now;
    status.lastUsedAt = now;
    if (this.#statuses.isFresh(status, now) && status.hit) {
      this.#meter.hits++;
      return status.hit;
    }
    // Below the cached answer, because a parked server never has one.
    if (isParked(server, this.#isSimulator)) return refuseParked(server);
    const known = this.#statuses.findKnownFailure(status, now);
    if (known) return this.#fallback.answerFailure(status, known, now);
    if (status.pending) {
      this.#meter.coalesced++;
      status.isPendingForWatch = false;
      return status.pending;
    }
    const waitMs = this.#scheduler.msUntil(status, now);
    const mayCall = waitMs <= this.#scheduler.maxWaitMs(now);
    const reading = mayCall ? this.#refresh(status) : this.#others?.readKnown(status, waitMs);
    if (!reading) return this.#fallback.answerRateLimit(status, waitMs, now);
    return this.#share(status, reading);
  }

  /**
   * The refusal with which a command would fail now: the game API has refused the key, or the server is offline. Undefined when
   * neither is known.
   */
  async findCommandRefusal(server: GameServer, now: number): Promise<Refusal | undefined> {
    if (isParked(server, this.#isSimulator)) return undefined;
    await this.callState.catchUpOn(server, now);
    const status = this.#statuses.of(server, now);
    const known = this.#statuses.findKnownFailure(status, now);
    const last = known ?? status.remembered?.failure;
    if (!last || !ABOUT_SERVER_CODES.has(last.code)) return undefined;
    // "Offline" is believed for one freshness period, like for reads. After that the server is asked again, because the
    // watcher asks only every 30 s, and a server that came online meanwhile would lose its commands until then.
    const outcome = known ? this.#fallback.answerFailure(status, known, now) : await this.read(server, now);
    const isStill = isRefusal(outcome) && ABOUT_SERVER_CODES.has(Number(outcome.fields?.upstream_code));
    return isStill ? outcome : undefined;
  }

  /**
   * Reads a server for the watcher, if `describeForWatch` says that it may be called. The reading serves callers too, and does
   * not count as a read of a caller. When the budget does not allow it at once, nothing happens; returns how long to wait.
   */
  watch(server: GameServer, now: number): Promise<unknown> | number {
    const status = this.#statuses.of(server, now);
    // Keeps the status: without it the breaker and the time of the last call would be forgotten.
    status.lastUsedAt = now;
    const waitMs = this.#scheduler.msUntilWatch(status, now);
    if (waitMs > 0) return waitMs;
    status.isPendingForWatch = true;
    return this.#share(status, this.#refresh(status));
  }

  /** For the watcher: when the server was called and read, and what keeps it from being called. */
  describeForWatch(server: GameServer, now: number): WatchFacts {
    const known = this.#statuses.find(server.serverId);
    const status = known && known.keyRevision >= server.keyRevision ? known : createStatus(server, now);
    const { state, lastReadAt, lastError } = this.#statuses.summarize(server, status);
    const obstacle = this.#findObstacle(server, status, now);
    const isStopped = obstacle !== undefined && obstacle.kind !== "breaker";
    return {
      lastCallAt: status.lastCallAt,
      lastReadAt,
      isOffline: state === "offline",
      isCallable: !status.pending && !isStopped && !this.#statuses.findKnownFailure(status, now),
      lastFailure: lastError?.failure,
      obstacle,
    };
  }

  /** Fetches what other instances know about the server. Nothing happens when this is the only instance. */
  async fetchNews(server: GameServer, now: number): Promise<void> {
    // Another instance may read a parked server, with its own upstream.
    if (this.#others && !isParked(server, this.#isSimulator)) {
      await this.#others.fetchNews(this.#statuses.of(server, now));
    }
  }

  /** For the other instances, while readings cannot be shared. */
  findState(server: GameServer): KnownState | undefined {
    return this.#statuses.findState(server);
  }

  learnState(state: KnownState, now: number): void {
    this.#statuses.learnState(state, now);
  }

  /** The budget as this instance knows it. */
  get budget(): Budget {
    return this.#keeper.budget;
  }

  /** Fetches a pause that another instance has got. */
  async catchUp(): Promise<void> {
    await this.#keeper.catchUp();
  }

  #learnNotes(saved: SavedNotes, now: number): void {
    this.#keeper.learnNote(saved);
    this.#globalKey.learnNote(saved.globalKeyFailure);
    this.#statuses.learnRefusedKeys(saved.refusedKeys, now);
  }

  /** Ends the pause after a 429, on every instance. */
  async resume(now: number): Promise<void> {
    await this.#keeper.lift(now);
  }

  /** The observer is called when a pause was lifted, on this instance or another one. */
  observeResume(observer: () => void): void {
    this.#keeper.onLift = observer;
  }

  /** For the operator: when the game API may be called, and what keeps it from being called. */
  describeUpstream(now: number): Omit<UpstreamResource, "resumed_at"> {
    const { budget } = this.#keeper;
    const { isGlobalKeyRefused, openBreakers, refusedKeys } = this.#statuses.describe(now);
    const isStopped = isPaused(budget, now);
    const reason = budget.isPauseNamed ? "named_by_game_api" : "backoff";
    return {
      paused_until: isStopped ? Math.ceil(budget.pausedUntil) : null,
      paused_since: isStopped ? Math.ceil(budget.pausedUntil - budget.pauseMs) : null,
      pause_reason: isStopped ? reason : null,
      limit: budget.limit,
      remaining: countCallsLeft(budget, now),
      reset_at: budget.limit !== null && budget.resetAt > now ? Math.ceil(budget.resetAt) : null,
      global_key_refused: isGlobalKeyRefused,
      failing_servers: openBreakers,
      refused_keys: refusedKeys,
    };
  }

  /** Called when a server key was set, which also means: try a refused global key again. */
  retryGlobalKey(): void {
    this.#globalKey.retry();
  }

  /** Forgets a deleted server, a refused key included. */
  forget(serverId: string): void {
    this.#statuses.forget(serverId);
  }

  /** Forgets the servers that another instance has deleted. */
  forgetDeleted(exists: (serverId: string) => boolean): void {
    this.#statuses.forgetDeleted(exists);
  }

  /** The last reading of the server with its present key, however old; undefined when none is kept. */
  findSnapshot(server: GameServer): Snapshot | undefined {
    const status = this.#statuses.find(server.serverId);
    return status?.keyRevision === server.keyRevision ? status.hit?.snapshot : undefined;
  }

  /** For operators: what the latest readings of the server brought. */
  summarize(server: GameServer): Omit<ServerSummary, "state"> & { readonly state: ServerSummary["state"] | "parked" } {
    const summary = this.#statuses.summarize(server);
    return isParked(server, this.#isSimulator) ? { ...summary, state: "parked" } : summary;
  }

  /** For people and metrics: nothing here holds a key or a player. */
  describe(now: number) {
    return {
      budgetLimit: this.#keeper.budget.limit,
      callsLeft: countCallsLeft(this.#keeper.budget, now),
      pauseMs: this.#keeper.msPaused(now),
      ...this.#statuses.describe(now),
    };
  }

  /** What is wrong with the game API. */
  listNotices(now: number, nameServers: NameServers): NoticeFacts[] {
    const { pauseMs, isGlobalKeyRefused } = this.describe(now);
    const { pausedUntil, pauseMs: lengthMs } = this.#keeper.budget;
    const { refusedAt } = this.#globalKey;
    return [
      ...(pauseMs > 0
        ? [
            {
              code: "upstream_paused" as const,
              since: Math.ceil(pausedUntil - lengthMs),
              until: Math.ceil(pausedUntil),
              retry_after: Math.ceil(pauseMs / 1000),
            },
          ]
        : []),
      ...listAffected("upstream_failing", this.#statuses.listOpenBreakers(), nameServers),
      ...listAffected("server_keys_refused", this.#statuses.listRefusedKeys(), nameServers),
      ...(isGlobalKeyRefused
        ? [{ code: "global_key_refused" as const, ...(refusedAt !== undefined && { since: refusedAt }) }]
        : []),
    ];
  }

  /** Callers that come before the reading is done share it. */
  #share(status: ServerStatus, reading: Promise<Reading | Refusal>): Promise<Reading | Refusal> {
    const pending = reading.finally(() => {
      // The watcher's may have ended early, and another may have begun since.
      if (status.pending !== pending) return;
      status.pending = undefined;
      status.isPendingForWatch = false;
    });
    status.pending = pending;
    return pending;
  }

  #probe(server: GameServer, now: number): Promise<unknown> | undefined {
    const { obstacle, isCallable } = this.describeForWatch(server, now);
    if (obstacle?.kind !== "breaker" || !isCallable) return undefined;
    const status = this.#statuses.of(server, now);
    status.lastUsedAt = now;
    // As for a caller: what is left for watching may all be used.
    if (this.#scheduler.msUntil(status, now) > 0) return undefined;
    return this.#share(status, this.#refresh(status));
  }

  #findObstacle(server: GameServer, status: ServerStatus, now: number): WatchObstacle | undefined {
    if (isParked(server, this.#isSimulator)) return { kind: "parked", failure: undefined };
    const { failure: globalFailure } = this.#globalKey;
    if (globalFailure) return { kind: "global_key", failure: globalFailure };
    if (isKeyRefused(status)) return { kind: "key", failure: status.remembered?.failure };
    if (this.#keeper.msPaused(now) > 0) return { kind: "pause", failure: PAUSED };
    return isOpen(status.breaker) ? { kind: "breaker", failure: status.breakerFailure } : undefined;
  }

  #refresh(status: ServerStatus): Promise<Reading | Refusal> {
    return this.#others ? this.#others.readTogether(status) : this.#reader.read(status);
  }
}

function listAffected(
  code: NoticeCode,
  { serverIds, since }: AffectedServers,
  nameServers: NameServers,
): NoticeFacts[] {
  if (serverIds.length === 0) return [];
  return [{ code, ...listNoticeServers(serverIds, nameServers), ...(since !== undefined && { since }) }];
}
