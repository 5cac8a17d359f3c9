// Asks the game API once, however many ask us. Keeps what was read while it is fresh, remembers failures as long as
// asking again would be pointless or rude, and holds every call to the shared budget.
import { afterFailure, CLOSED_BREAKER, isCallDue, isOpen } from "../core/breaker.ts";
import { countCallsLeft, learnBudget, msUntilCall, pauseBudget, spendCall } from "../core/budget.ts";
import { ERRORS, type Refusal, refuse, StoreUnavailable } from "../core/errors.ts";
import type { GameServer } from "../core/game-server.ts";
import type {
  Clock,
  Delivery,
  LimitHint,
  Log,
  MaybePromise,
  RelayShare,
  ServerParts,
  ShareLease,
  Store,
  Upstream,
  UpstreamFailure,
} from "../core/ports.ts";
import { secondsUntil } from "../core/rate-limit.ts";
import {
  BAD_KEY_CODES,
  BREAKER_CODES,
  GLOBAL_KEY_REFUSED,
  NO_CODE,
  OFFLINE,
  RATE_LIMITED,
} from "../core/upstream-codes.ts";
import { INVALID_TOKEN } from "./authenticate.ts";
import { BudgetKeeper } from "./budget-keeper.ts";
import type { CommandOutlook } from "./command-dispatcher.ts";
import type { RelayMeter } from "./relay-meter.ts";
import { Snapshot } from "./snapshot.ts";
import type { UpstreamNotes } from "./upstream-notes.ts";
import {
  ACTIVE_MS,
  adopt,
  createWatch,
  FOREVER,
  isActive,
  isKeyRefused,
  isYounger,
  type Reading,
  standingOf,
  type Watch,
} from "./watch.ts";

/** A caller waits this long for the budget before it is told to come back; most waits are shorter. */
export const BUDGET_PATIENCE_MS = 3_000;
/** What is known about a server that nobody asks about is forgotten after this time. */
export const FORGET_AFTER_MS = 10 * 60_000;

/** While a read probes the game API, commands look again after this time. */
const PROBE_RECHECK_MS = 250;
/** How often those that wait for another instance look for what it has found. */
const SHARED_LOOK_MS = 25;
const OTHERS_SLOW: UpstreamFailure = {
  code: NO_CODE,
  message: "The game API did not answer in time.",
  isRateLimit: false,
};
const BUDGET_MESSAGE = "The game API's request budget is used up for the moment.";
const PAUSE_MESSAGE = "The game API has limited our requests for the moment.";

export type RelaySettings = {
  /** How long one call to the game API may take, from beginning to end. */
  readonly timeoutMs: number;
  readonly freshMs: number;
  readonly staleMs: number;
  readonly hasGlobalKey: boolean;
};

export type RelayParts = {
  readonly upstream: Pick<Upstream, "readServer">;
  readonly store: Pick<Store, "readServerKey">;
  readonly clock: Clock;
  readonly sleep: (ms: number) => Promise<void>;
  readonly settings: RelaySettings;
  readonly meter: RelayMeter;
  readonly log: Log;
  /** Undefined when this is the only instance. */
  readonly share?: RelayShare | undefined;
  /** Undefined when the other instances know what the game API has forbidden. */
  readonly notes?: UpstreamNotes | undefined;
  /** Shown every reading, as it comes. */
  readonly watchReading?: (serverId: string, parts: ServerParts, now: number) => void;
};

export class Relay implements CommandOutlook {
  readonly #parts: RelayParts;
  readonly #watches = new Map<string, Watch>();
  readonly #keeper: BudgetKeeper;
  #callsUnderWay = 0;
  #globalKeyFailure: UpstreamFailure | undefined;
  #forgotAt = 0;

  constructor(parts: RelayParts) {
    this.#parts = parts;
    this.#keeper = new BudgetKeeper(parts.share, parts.clock, parts.notes);
    const now = parts.clock();
    for (const { serverId, keyRevision, failure } of parts.notes?.refusedKeys ?? []) {
      const watch = createWatch({ serverId, keyRevision }, now);
      watch.remembered = { failure, at: now, forMs: FOREVER };
      this.#watches.set(serverId, watch);
    }
  }

  /** Nobody waits longer than this for our own call: a turn in the budget, one call, and some slack. */
  get longestWaitMs(): number {
    return BUDGET_PATIENCE_MS + this.#parts.settings.timeoutMs + 1_000;
  }

  /** The state of the server, or 5019. Callers that come while a call is under way share its answer. */
  read(server: GameServer, now: number): MaybePromise<Reading | Refusal> {
    const watch = this.#watchOf(server, now);
    watch.lastAskedAt = now;
    watch.lastUsedAt = now;
    if (this.#isFresh(watch, now) && watch.hit) {
      this.#parts.meter.hits++;
      return watch.hit;
    }
    const known = this.#findKnownFailure(watch, now);
    if (known) return this.#answerFailure(watch, known, now);
    if (watch.pending) {
      this.#parts.meter.coalesced++;
      return watch.pending;
    }
    const { share } = this.#parts;
    const waitMs = this.#msUntilCall(watch, now);
    const mayAsk = waitMs <= this.#patienceMs(now);
    if (!mayAsk && !share) return this.#answerRateLimit(watch, waitMs, now);
    const reading = mayAsk || !share ? this.#refresh(watch) : this.#readOthers(watch, share, waitMs);
    watch.pending = reading.finally(() => {
      watch.pending = undefined;
    });
    return watch.pending;
  }

  findRefusedKey(server: GameServer, now: number): UpstreamFailure | undefined {
    const { remembered } = this.#watchOf(server, now);
    return this.#globalKeyFailure ?? (remembered?.forMs === FOREVER ? remembered.failure : undefined);
  }

  msUntilCommand(server: GameServer, now: number): number {
    const pauseMs = this.#keeper.msPaused(now);
    if (pauseMs > 0) return pauseMs;
    const { breaker, pending } = this.#watchOf(server, now);
    if (!isOpen(breaker)) return 0;
    // The one probe may be a command, unless a read is that already.
    if (isCallDue(breaker, now)) return pending ? PROBE_RECHECK_MS : 0;
    return breaker.openUntil - now;
  }

  async catchUpOn(server: GameServer, now: number): Promise<void> {
    const { share } = this.#parts;
    if (!share) return;
    const watch = this.#watchOf(server, now);
    const [news] = await Promise.all([share.peek(server.serverId, watch.sharedVersion), this.catchUp()]);
    if (news) adopt(watch, news);
  }

  noteSending(server: GameServer, now: number): void {
    const watch = this.#watchOf(server, now);
    // With an old key: what becomes of it will say nothing about the new one.
    if (watch.keyRevision === server.keyRevision) watch.isSendingCommand = true;
  }

  noteDelivery(server: GameServer, delivery: Delivery, now: number): void {
    const watch = this.#watches.get(server.serverId);
    // The server was deleted meanwhile, or has a new key, of which what an old one has met says nothing.
    if (!watch || watch.keyRevision > server.keyRevision) return;
    watch.isSendingCommand = false;
    watch.lastUsedAt = now;
    const { breaker, remembered } = watch;
    if (delivery.outcome === "done") watch.breaker = CLOSED_BREAKER;
    else if (!delivery.failure.isRateLimit) this.#learnFailure(watch, delivery.failure, now);
    const isNews = !Bun.deepEquals(watch.breaker, breaker) || watch.remembered !== remembered;
    if (isNews) this.#parts.share?.amend(server.serverId, standingOf(watch)).catch(() => {});
  }

  /** Learns what the other instances have made of the budget, a pause above all. */
  async catchUp(): Promise<void> {
    await this.#keeper.catchUp();
  }

  /** A server that was deleted leaves nothing behind, not even a refused key. */
  forget(serverId: string): void {
    const watch = this.#watches.get(serverId);
    this.#watches.delete(serverId);
    if (watch && isKeyRefused(watch)) this.#noteRefusedKeys();
  }

  /** The same for those that another instance has deleted. */
  forgetGone(isThere: (serverId: string) => boolean): void {
    for (const serverId of this.#watches.keys()) if (!isThere(serverId)) this.forget(serverId);
  }

  /** For people and metrics: nothing here holds a key or a player. */
  describe(now: number) {
    const watches = [...this.#watches.values()];
    return {
      budgetLimit: this.#keeper.budget.limit,
      callsLeft: countCallsLeft(this.#keeper.budget, now),
      pauseMs: this.#keeper.msPaused(now),
      isGlobalKeyRefused: this.#globalKeyFailure !== undefined,
      activeServers: watches.filter((watch) => isActive(watch, now)).length,
      openBreakers: watches.filter((watch) => isOpen(watch.breaker)).length,
      refusedKeys: watches.filter(isKeyRefused).length,
      oldestSnapshotMs: watches.reduce((oldest, { hit }) => {
        return hit ? Math.max(oldest, now - hit.snapshot.fetchedAt) : oldest;
      }, 0),
    };
  }

  /** What is not well with the game API, in sentences that name no server and no key. */
  listNotices(now: number): string[] {
    const { pauseMs, openBreakers, refusedKeys, isGlobalKeyRefused } = this.describe(now);
    const notices: string[] = [];
    if (pauseMs > 0)
      notices.push(`The game API has limited us; it is asked again in ${Math.ceil(pauseMs / 1000)} s.`);
    if (openBreakers > 0) {
      notices.push(`The game API fails for ${openBreakers} server(s); they are probed from time to time.`);
    }
    if (refusedKeys > 0)
      notices.push(`The game API has refused ${refusedKeys} server key(s); they must be set anew.`);
    if (isGlobalKeyRefused)
      notices.push("The game API has refused GATEHOUSE_UPSTREAM_GLOBAL_KEY; nothing is asked.");
    return notices;
  }

  #watchOf(server: GameServer, now: number): Watch {
    const known = this.#watches.get(server.serverId);
    // Whoever comes with an older key has been on the way since before it was set anew.
    if (known && known.keyRevision >= server.keyRevision) return known;
    // A key that was set again means "try again", also for what a bad global key had stopped.
    if (known) this.#globalKeyFailure = undefined;
    this.#forgetSilent(now);
    const watch = createWatch(server, now);
    this.#watches.set(server.serverId, watch);
    if (known && isKeyRefused(known)) this.#noteRefusedKeys();
    return watch;
  }

  #isFresh(watch: Watch, now: number): boolean {
    return (
      watch.hit !== undefined && isYounger(watch.hit.snapshot.fetchedAt, this.#parts.settings.freshMs, now)
    );
  }

  #findKnownFailure(watch: Watch, now: number, isAsking = false): UpstreamFailure | undefined {
    if (this.#globalKeyFailure) return this.#globalKeyFailure;
    const { remembered } = watch;
    if (remembered && isYounger(remembered.at, remembered.forMs, now)) return remembered.failure;
    // While open, and while its one probe is under way, the last failure is the answer.
    const isProbing = (watch.pending !== undefined && !isAsking) || watch.isSendingCommand;
    const isWaiting = isOpen(watch.breaker) && (isProbing || !isCallDue(watch.breaker, now));
    return isWaiting ? watch.breakerFailure : undefined;
  }

  async #refresh(watch: Watch): Promise<Reading | Refusal> {
    const { share, log } = this.#parts;
    if (!share) return this.#ask(watch);
    try {
      return await this.#askTogether(watch, share);
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      // Without the others, every instance asks for itself, as it would alone.
      log.debug({ err: error, server_id: watch.serverId }, "the other instances cannot be reached");
      return this.#ask(watch);
    }
  }

  /** While we may not ask: another instance may have read the server a moment ago. */
  async #readOthers(watch: Watch, share: RelayShare, waitMs: number): Promise<Reading | Refusal> {
    const news = await share.peek(watch.serverId, watch.sharedVersion).catch((error) => {
      if (error instanceof StoreUnavailable) return null;
      throw error;
    });
    const now = this.#parts.clock();
    if (news) adopt(watch, news);
    if (this.#isFresh(watch, now) && watch.hit) return watch.hit;
    const known = this.#findKnownFailure(watch, now, true);
    return known ? this.#answerFailure(watch, known, now) : this.#answerRateLimit(watch, waitMs, now);
  }

  /** One instance asks, the others wait for what it finds. */
  async #askTogether(watch: Watch, share: RelayShare): Promise<Reading | Refusal> {
    const { clock, sleep } = this.#parts;
    const beganAt = clock();
    while (clock() - beganAt < this.longestWaitMs) {
      const { lease, news } = await share.consult(watch.serverId, watch.sharedVersion);
      const now = clock();
      if (news) {
        adopt(watch, news);
        if (this.#isFresh(watch, now) && watch.hit) return watch.hit;
        const { standing } = news;
        const isOurs = standing?.keyRevision === watch.keyRevision;
        const isNewFailure = isOurs && standing.lastFailure && standing.lastFailure.at >= beganAt;
        const failure = isNewFailure
          ? standing.lastFailure?.failure
          : this.#findKnownFailure(watch, now, true);
        if (failure?.isRateLimit) {
          await this.catchUp();
          return this.#answerRateLimit(watch, this.#keeper.budget.pausedUntil - now, now, failure);
        }
        if (failure) return this.#answerFailure(watch, failure, now);
      } else if (lease) {
        return await this.#askWithLease(watch, share, lease);
      } else {
        await sleep(SHARED_LOOK_MS);
      }
    }
    return this.#answerFailure(watch, OTHERS_SLOW, clock());
  }

  async #askWithLease(watch: Watch, share: RelayShare, lease: ShareLease): Promise<Reading | Refusal> {
    const before = watch.hit;
    try {
      return await this.#ask(watch);
    } finally {
      const snapshot = watch.hit === before ? undefined : watch.hit?.snapshot;
      const reading = snapshot
        ? { parts: snapshot.parts, fetchedAt: snapshot.fetchedAt, keyRevision: watch.keyRevision }
        : null;
      const version = await share.publish(lease, standingOf(watch), reading).catch((error) => {
        if (error instanceof StoreUnavailable) return 0;
        throw error;
      });
      // What we have told ourselves is no news.
      if (version > 0) watch.sharedVersion = version;
    }
  }

  /** 0 when the call may be made now, and is counted; else how long to wait. */
  #takeTurn(watch: Watch, now: number): MaybePromise<number> {
    let waitMs = 0;
    const turn = this.#keeper.change((budget) => {
      waitMs = this.#msUntilCall(watch, now, budget);
      return waitMs > 0 ? undefined : spendCall(budget, now);
    });
    if (!(turn instanceof Promise)) return waitMs;
    // Another call may have been refused while the other instances were asked.
    return turn.then(() => Math.max(waitMs, this.#keeper.msPaused(now)));
  }

  async #ask(watch: Watch): Promise<Reading | Refusal> {
    const { clock, sleep, store, upstream, meter } = this.#parts;
    const serverKey = await store.readServerKey(watch.serverId);
    // The server was deleted between the lookup and here; its callers' key is gone with it.
    if (serverKey === undefined) return INVALID_TOKEN;
    // Asked again after every wait, and last right before the call: others may have spent or paused the budget.
    let startedAt = clock();
    let sleptMs = 0;
    for (;;) {
      const turn = this.#takeTurn(watch, startedAt);
      const waitMs = turn instanceof Promise ? await turn : turn;
      if (waitMs <= 0) break;
      if (sleptMs + waitMs > this.#patienceMs(startedAt))
        return this.#answerRateLimit(watch, waitMs, startedAt);
      await sleep(waitMs);
      sleptMs += waitMs;
      startedAt = clock();
    }
    const lastCallAt = watch.lastCallAt;
    watch.lastCallAt = startedAt;
    this.#callsUnderWay++;
    const answer = await upstream.readServer(serverKey).finally(() => this.#callsUnderWay--);
    const now = clock();
    meter.countCall("failure" in answer ? answer.failure.code : "ok", now - startedAt);
    if ("parts" in answer) return this.#takeParts(watch, answer.parts, answer.hint, now);
    // A refused call was no turn: the server keeps its place in the line.
    if (answer.failure.isRateLimit) watch.lastCallAt = lastCallAt;
    return this.#takeFailure(watch, answer.failure, answer.hint, now);
  }

  #takeParts(watch: Watch, parts: ServerParts, hint: LimitHint | null, now: number): Reading {
    this.#parts.meter.misfits += parts.misfits;
    if (hint) this.#keeper.learn((budget) => learnBudget(budget, hint, now, this.#callsUnderWay));
    const wasRefused = isKeyRefused(watch);
    watch.breaker = CLOSED_BREAKER;
    watch.lastFailure = undefined;
    watch.remembered = undefined;
    if (wasRefused) this.#noteRefusedKeys();
    watch.loggedCode = undefined;
    const snapshot = new Snapshot(parts, now);
    watch.hit = { snapshot, isHit: true };
    this.#parts.watchReading?.(watch.serverId, parts, now);
    return { snapshot, isHit: false };
  }

  #takeFailure(
    watch: Watch,
    failure: UpstreamFailure,
    hint: LimitHint | null,
    now: number,
  ): Reading | Refusal {
    const { settings } = this.#parts;
    this.#logFailure(watch, failure);
    if (failure.isRateLimit && hint) this.#keeper.learn((budget) => pauseBudget(budget, hint, now));
    else if (hint) this.#keeper.learn((budget) => learnBudget(budget, hint, now, this.#callsUnderWay));
    watch.lastFailure = { failure, at: now };
    if (failure.isRateLimit) {
      return this.#answerRateLimit(watch, this.#keeper.budget.pausedUntil - now, now, failure);
    }
    this.#learnFailure(watch, failure, now);
    if (failure.code === OFFLINE && !isKeyRefused(watch))
      watch.remembered = { failure, at: now, forMs: settings.freshMs };
    return this.#answerFailure(watch, failure, now);
  }

  /** What holds for reads and commands alike: failures in a row open the breaker, a refused key is not used again. */
  #learnFailure(watch: Watch, failure: UpstreamFailure, now: number): void {
    const isBreakerFailure = BREAKER_CODES.has(failure.code);
    watch.breaker = isBreakerFailure ? afterFailure(watch.breaker, now) : CLOSED_BREAKER;
    watch.breakerFailure = isBreakerFailure ? failure : undefined;
    const isGlobal = failure.code === GLOBAL_KEY_REFUSED && this.#parts.settings.hasGlobalKey;
    if (isGlobal) this.#globalKeyFailure = failure;
    else if (BAD_KEY_CODES.has(failure.code)) {
      watch.remembered = { failure, at: now, forMs: FOREVER };
      this.#noteRefusedKeys();
    }
  }

  #noteRefusedKeys(): void {
    const refused = [...this.#watches.values()].flatMap(({ serverId, keyRevision, remembered }) => {
      return remembered?.forMs === FOREVER ? [{ serverId, keyRevision, failure: remembered.failure }] : [];
    });
    this.#parts.notes?.saveRefusedKeys(refused);
  }

  /** Once for each kind of failure: a server that goes on failing must not fill the log. */
  #logFailure(watch: Watch, { code, message }: UpstreamFailure): void {
    const fields = { server_id: watch.serverId, upstream_code: code };
    if (watch.loggedCode === code) this.#parts.log.debug(fields, `game API: ${message}`);
    else this.#parts.log.warn(fields, `game API: ${message}`);
    watch.loggedCode = code;
  }

  /** What is old but within GATEHOUSE_STALE_MS beats a failure, unless the failure is news about the server itself. */
  #answerFailure(watch: Watch, failure: UpstreamFailure, now: number): Reading | Refusal {
    const isNews = BAD_KEY_CODES.has(failure.code) || failure.code === OFFLINE;
    const stale = isNews ? undefined : this.#findStale(watch, now);
    return stale ?? refuseUpstream(failure.code, failure.message);
  }

  /** The message of a refusal is for the server that was refused; it may name that server. */
  #answerRateLimit(watch: Watch, waitMs: number, now: number, failure?: UpstreamFailure): Reading | Refusal {
    const stale = this.#findStale(watch, now);
    if (stale) return stale;
    const reason = failure?.message ?? (this.#keeper.msPaused(now) > 0 ? PAUSE_MESSAGE : BUDGET_MESSAGE);
    const headers = { "Retry-After": String(secondsUntil(now + waitMs, now)) };
    return refuseUpstream(failure?.code ?? RATE_LIMITED, reason, headers);
  }

  #findStale(watch: Watch, now: number): Reading | undefined {
    const { freshMs, staleMs } = this.#parts.settings;
    if (!watch.hit || staleMs === 0) return undefined;
    if (!isYounger(watch.hit.snapshot.fetchedAt, freshMs + staleMs, now)) return undefined;
    this.#parts.meter.staleHits++;
    return watch.hit;
  }

  /** A pause was ordered by the game API, so nobody waits for its end here; a turn in the budget may be waited for. */
  #patienceMs(now: number): number {
    return this.#keeper.msPaused(now) > 0 ? 0 : BUDGET_PATIENCE_MS;
  }

  #msUntilCall(watch: Watch, now: number, budget = this.#keeper.budget): number {
    const { share, settings } = this.#parts;
    // Before the first answer, another instance's call may be the one that is under way.
    const isOthersCall =
      share !== undefined && !budget.isTold && now - budget.lastCallAt < settings.timeoutMs;
    return msUntilCall(budget, now, {
      isFirstCall: watch.lastCallAt === 0,
      serversAhead: budget.limit === null ? 0 : this.#countAhead(watch, now),
      callsUnderWay: Math.max(this.#callsUnderWay, isOthersCall ? 1 : 0),
    });
  }

  /** Those that are being asked about, could be called for now, and have waited longer. */
  #countAhead(watch: Watch, now: number): number {
    let ahead = 0;
    for (const other of this.#watches.values()) {
      const isOlder = other !== watch && other.lastCallAt < watch.lastCallAt && isActive(other, now);
      if (isOlder && !this.#isFresh(other, now) && !this.#findKnownFailure(other, now)) ahead++;
    }
    return ahead;
  }

  /** A refused key is kept in mind: forgetting it would mean asking with it again. */
  #forgetSilent(now: number): void {
    if (Math.abs(now - this.#forgotAt) < ACTIVE_MS) return;
    this.#forgotAt = now;
    for (const watch of this.#watches.values()) {
      if (watch.pending || watch.isSendingCommand || now - watch.lastUsedAt < FORGET_AFTER_MS) continue;
      if (isKeyRefused(watch)) watch.hit = undefined;
      else this.#watches.delete(watch.serverId);
    }
  }
}

function refuseUpstream(code: number, message: string, headers?: Record<string, string>): Refusal {
  return refuse(ERRORS.gameApi, { upstream_code: code, upstream_message: message }, headers);
}
