// Asks the game API once, however many ask us. Keeps what was read while it is fresh, remembers failures as long as
// asking again would be pointless or rude, and holds every call to the shared budget.
import {
  afterFailure,
  type Breaker,
  CLOSED_BREAKER,
  countsTowardBreaker,
  isCallDue,
  isOpen,
} from "../core/breaker.ts";
import {
  type Budget,
  countCallsLeft,
  learnBudget,
  msUntilCall,
  pauseBudget,
  spendCall,
  UNKNOWN_BUDGET,
} from "../core/budget.ts";
import { ERRORS, type Refusal, refuse } from "../core/errors.ts";
import type { GameServer } from "../core/game-server.ts";
import type { Clock, Log, MaybePromise, Store, Upstream, UpstreamFailure } from "../core/ports.ts";
import { secondsUntil } from "../core/rate-limit.ts";
import type { RelayMeter } from "./relay-meter.ts";
import { Snapshot } from "./snapshot.ts";

/** A caller waits this long for the budget before it is told to come back; most waits are shorter. */
export const BUDGET_PATIENCE_MS = 2_000;
/** A server counts as being asked about this long after it last was. */
export const ACTIVE_MS = 60_000;
/** What is known about a server that nobody asks about is forgotten after this time. */
export const FORGET_AFTER_MS = 10 * 60_000;

const BAD_KEY_CODES: ReadonlySet<number> = new Set([2000, 2001, 2002, 2003, 2004]);
const GLOBAL_KEY_CODE = 2003;
const OFFLINE_CODE = 3002;
const FOREVER = Number.POSITIVE_INFINITY;
const RATE_LIMITED_CODE = 4001;

export type Reading = { readonly snapshot: Snapshot; readonly isHit: boolean };

export type RelaySettings = {
  /** How long one call to the game API may take, from beginning to end. */
  readonly timeoutMs: number;
  readonly freshMs: number;
  readonly staleMs: number;
  readonly hasGlobalKey: boolean;
};

export type RelayParts = {
  readonly upstream: Upstream;
  readonly store: Pick<Store, "readServerKey">;
  readonly clock: Clock;
  readonly sleep: (ms: number) => Promise<void>;
  readonly settings: RelaySettings;
  readonly meter: RelayMeter;
  readonly log: Log;
};

/** Everything the relay knows about one server. `remembered` is answered without a call for its time. */
type Watch = {
  readonly serverId: string;
  readonly keyRevision: number;
  hit: Reading | undefined;
  pending: Promise<Reading | Refusal> | undefined;
  remembered: { readonly failure: UpstreamFailure; readonly at: number; readonly forMs: number } | undefined;
  /** The last failure that counted toward the breaker: what is answered while it is open. */
  breakerFailure: UpstreamFailure | undefined;
  /** The code of the failure that was logged last; undefined after a success. */
  loggedCode: number | undefined;
  breaker: Breaker;
  lastCallAt: number;
  lastAskedAt: number;
};

export class Relay {
  readonly #parts: RelayParts;
  readonly #watches = new Map<string, Watch>();
  #budget: Budget = UNKNOWN_BUDGET;
  #callsUnderWay = 0;
  #globalKeyFailure: UpstreamFailure | undefined;
  #pauseMessage = "";
  #active = { count: 0, countedAt: 0 };

  constructor(parts: RelayParts) {
    this.#parts = parts;
  }

  /** Nobody waits longer than this for an answer: a turn in the budget, one call, and some slack. */
  get longestWaitMs(): number {
    return BUDGET_PATIENCE_MS + this.#parts.settings.timeoutMs + 1_000;
  }

  /** The state of the server, or 5019. Callers that come while a call is under way share its answer. */
  read(server: GameServer, now: number): MaybePromise<Reading | Refusal> {
    const watch = this.#watchOf(server, now);
    watch.lastAskedAt = now;
    if (watch.hit && isYounger(watch.hit.snapshot.fetchedAt, this.#parts.settings.freshMs, now)) {
      this.#parts.meter.hits++;
      return watch.hit;
    }
    const known = this.#findKnownFailure(watch, now);
    if (known) return this.#answerFailure(watch, known, now);
    if (watch.pending) {
      this.#parts.meter.coalesced++;
      return watch.pending;
    }
    const waitMs = this.#msUntilCall(watch, now);
    // A pause was ordered by the game API, so nobody waits for its end here; a turn in the budget may be waited for.
    const patienceMs = this.#budget.pausedUntil > now ? 0 : BUDGET_PATIENCE_MS;
    if (waitMs > patienceMs) return this.#answerRateLimit(watch, now + waitMs, now);
    watch.pending = this.#refresh(watch, now + BUDGET_PATIENCE_MS).finally(() => {
      watch.pending = undefined;
    });
    return watch.pending;
  }

  /** For people and metrics: nothing here holds a key or a player. */
  describe(now: number) {
    const watches = [...this.#watches.values()];
    return {
      budget: this.#budget,
      callsLeft: countCallsLeft(this.#budget, now),
      watchedServers: watches.length,
      activeServers: this.#countActive(now),
      openBreakers: watches.filter((watch) => isOpen(watch.breaker)).length,
      refusedKeys: watches.filter((watch) => watch.remembered?.forMs === FOREVER).length,
      oldestSnapshotMs: watches.reduce((oldest, { hit }) => {
        return hit ? Math.max(oldest, now - hit.snapshot.fetchedAt) : oldest;
      }, 0),
    };
  }

  /** What is not well with the game API, in sentences that name no server and no key. */
  listNotices(now: number): string[] {
    const { budget, openBreakers, refusedKeys } = this.describe(now);
    const notices: string[] = [];
    if (budget.pausedUntil > now) {
      notices.push(
        `The game API has limited us; it is asked again in ${secondsUntil(budget.pausedUntil, now)} s.`,
      );
    }
    if (openBreakers > 0)
      notices.push(`The game API fails for ${openBreakers} server(s); they are probed from time to time.`);
    if (refusedKeys > 0)
      notices.push(`The game API has refused ${refusedKeys} server key(s); they must be set anew.`);
    return notices;
  }

  #watchOf(server: GameServer, now: number): Watch {
    const known = this.#watches.get(server.serverId);
    if (known && known.keyRevision === server.keyRevision) return known;
    // A key that was set again means "try again", also for what a bad global key had stopped.
    if (known) this.#globalKeyFailure = undefined;
    const watch: Watch = {
      serverId: server.serverId,
      keyRevision: server.keyRevision,
      hit: undefined,
      pending: undefined,
      remembered: undefined,
      breakerFailure: undefined,
      loggedCode: undefined,
      breaker: CLOSED_BREAKER,
      lastCallAt: 0,
      lastAskedAt: now,
    };
    this.#watches.set(server.serverId, watch);
    return watch;
  }

  #findKnownFailure(watch: Watch, now: number): UpstreamFailure | undefined {
    if (this.#globalKeyFailure) return this.#globalKeyFailure;
    const { remembered } = watch;
    if (remembered && isYounger(remembered.at, remembered.forMs, now)) return remembered.failure;
    // While open, and while its one probe is under way, the last failure is the answer.
    const isWaiting = isOpen(watch.breaker) && (watch.pending || !isCallDue(watch.breaker, now));
    return isWaiting ? watch.breakerFailure : undefined;
  }

  async #refresh(watch: Watch, patientUntil: number): Promise<Reading | Refusal> {
    const { clock, sleep, store, upstream, meter } = this.#parts;
    const serverKey = await store.readServerKey(watch.serverId);
    // The server was deleted between the lookup and here; its callers' key is gone with it.
    if (serverKey === undefined) return refuse(ERRORS.invalidToken);
    let startedAt = clock();
    // Asked again after every wait, and last right before the call: others may have spent or paused the budget.
    for (
      let waitMs = this.#msUntilCall(watch, startedAt);
      waitMs > 0;
      waitMs = this.#msUntilCall(watch, startedAt)
    ) {
      const isPaused = this.#budget.pausedUntil > startedAt;
      if (isPaused || startedAt + waitMs > patientUntil) {
        return this.#answerRateLimit(watch, startedAt + waitMs, startedAt);
      }
      await sleep(waitMs);
      startedAt = clock();
    }
    watch.lastCallAt = startedAt;
    this.#budget = spendCall(this.#budget, startedAt);
    this.#callsUnderWay++;
    const answer = await upstream.readServer(serverKey).finally(() => this.#callsUnderWay--);
    const now = clock();
    meter.countCall("failure" in answer ? answer.failure.code : "ok", now - startedAt);
    if ("parts" in answer) {
      meter.misfits += answer.parts.misfits;
      this.#budget = learnBudget(this.#budget, answer.hint, now, this.#callsUnderWay);
      watch.breaker = CLOSED_BREAKER;
      watch.remembered = undefined;
      watch.loggedCode = undefined;
      const snapshot = new Snapshot(answer.parts, now);
      watch.hit = { snapshot, isHit: true };
      return { snapshot, isHit: false };
    }
    return this.#takeFailure(watch, answer.failure, answer.hint, now);
  }

  #takeFailure(
    watch: Watch,
    failure: UpstreamFailure,
    hint: Parameters<typeof pauseBudget>[1],
    now: number,
  ): Reading | Refusal {
    const { settings, log } = this.#parts;
    // Once for each kind of failure: a server that goes on failing must not fill the log.
    const tell = watch.loggedCode === failure.code ? log.debug : log.warn;
    tell({ server_id: watch.serverId, upstream_code: failure.code }, `game API: ${failure.message}`);
    watch.loggedCode = failure.code;
    if (failure.isRateLimit) {
      this.#budget = pauseBudget(this.#budget, hint, now);
      this.#pauseMessage = failure.message;
      return this.#answerRateLimit(watch, this.#budget.pausedUntil, now);
    }
    this.#budget = learnBudget(this.#budget, hint, now, this.#callsUnderWay);
    const isBreakerFailure = countsTowardBreaker(failure.code);
    watch.breaker = isBreakerFailure ? afterFailure(watch.breaker, now) : CLOSED_BREAKER;
    watch.breakerFailure = isBreakerFailure ? failure : undefined;
    if (failure.code === GLOBAL_KEY_CODE && settings.hasGlobalKey) this.#globalKeyFailure = failure;
    if (BAD_KEY_CODES.has(failure.code)) {
      watch.remembered = { failure, at: now, forMs: FOREVER };
    } else if (failure.code === OFFLINE_CODE) {
      watch.remembered = { failure, at: now, forMs: settings.freshMs };
    }
    return this.#answerFailure(watch, failure, now);
  }

  /** What is old but within GATEHOUSE_STALE_MS beats a failure, unless the failure is news about the server itself. */
  #answerFailure(watch: Watch, failure: UpstreamFailure, now: number): Reading | Refusal {
    const isNews = BAD_KEY_CODES.has(failure.code) || failure.code === OFFLINE_CODE;
    const stale = isNews ? undefined : this.#findStale(watch, now);
    return stale ?? refuseUpstream(failure);
  }

  #answerRateLimit(watch: Watch, retryAt: number, now: number): Reading | Refusal {
    const stale = this.#findStale(watch, now);
    if (stale) return stale;
    const seconds = secondsUntil(retryAt, now);
    const message = this.#budget.pausedUntil > now ? this.#pauseMessage : BUDGET_MESSAGE;
    const failure = { code: RATE_LIMITED_CODE, message, isRateLimit: true };
    return refuseUpstream(failure, { "Retry-After": String(seconds) });
  }

  #findStale(watch: Watch, now: number): Reading | undefined {
    const { freshMs, staleMs } = this.#parts.settings;
    if (!watch.hit || staleMs === 0 || !isYounger(watch.hit.snapshot.fetchedAt, freshMs + staleMs, now))
      return undefined;
    this.#parts.meter.staleHits++;
    return watch.hit;
  }

  #msUntilCall(watch: Watch, now: number): number {
    return msUntilCall(this.#budget, now, {
      lastCallAt: watch.lastCallAt,
      activeServers: this.#countActive(now),
      callsUnderWay: this.#callsUnderWay,
    });
  }

  /** Counted once a second at most, when a call is due; forgets silent servers on the way. */
  #countActive(now: number): number {
    if (Math.abs(now - this.#active.countedAt) < 1_000 && this.#active.count > 0) return this.#active.count;
    let count = 0;
    for (const watch of this.#watches.values()) {
      const silentMs = now - watch.lastAskedAt;
      if (silentMs < ACTIVE_MS) count++;
      else if (silentMs > FORGET_AFTER_MS && !watch.pending) this.#forget(watch);
    }
    this.#active = { count, countedAt: now };
    return count;
  }

  /** A refused key is kept in mind: forgetting it would mean asking with it again. */
  #forget(watch: Watch): void {
    watch.hit = undefined;
    if (watch.remembered?.forMs !== FOREVER) this.#watches.delete(watch.serverId);
  }
}

/** What lies in the future was noted before the clock was set back, and is not believed; what is for ever stays. */
function isYounger(at: number, limitMs: number, now: number): boolean {
  const ageMs = now - at;
  return limitMs === FOREVER || (ageMs >= 0 && ageMs < limitMs);
}

const BUDGET_MESSAGE = "The game API's request budget is used up for the moment.";

function refuseUpstream(failure: UpstreamFailure, headers?: Record<string, string>): Refusal {
  const fields = { upstream_code: failure.code, upstream_message: failure.message };
  return refuse(ERRORS.gameApi, fields, headers);
}
