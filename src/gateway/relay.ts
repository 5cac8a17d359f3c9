// Asks the game API once, however many ask us. Keeps what was read while it is fresh, remembers failures as long as
// asking again would be pointless or rude, and holds every call to the shared budget.
import { CLOSED_BREAKER, isCallDue, isOpen } from "../core/breaker.ts";
import { countCallsLeft } from "../core/budget.ts";
import type { Refusal } from "../core/errors.ts";
import type { GameServer } from "../core/game-server.ts";
import type {
  Clock,
  Delivery,
  LimitHint,
  Log,
  MaybePromise,
  RelayShare,
  ServerParts,
  Store,
  Upstream,
  UpstreamFailure,
} from "../core/ports.ts";
import { OFFLINE } from "../core/upstream-codes.ts";
import { INVALID_TOKEN } from "./authenticate.ts";
import { BudgetKeeper } from "./budget-keeper.ts";
import type { CommandOutlook } from "./command-dispatcher.ts";
import { createFallback, type Fallback } from "./fallback.ts";
import { OtherInstances } from "./other-instances.ts";
import type { RelayMeter } from "./relay-meter.ts";
import { Snapshot } from "./snapshot.ts";
import { BUDGET_PATIENCE_MS, Turns } from "./turns.ts";
import type { UpstreamNotes } from "./upstream-notes.ts";
import { isKeyRefused, type Reading, type Watch } from "./watch.ts";
import { Watches } from "./watches.ts";

/** While a read probes the game API, commands look again after this time. */
const PROBE_RECHECK_MS = 250;

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
  readonly #watches: Watches;
  readonly #keeper: BudgetKeeper;
  readonly #turns: Turns;
  readonly #fallback: Fallback;
  readonly #others: OtherInstances | undefined;

  constructor(parts: RelayParts) {
    const { share, clock, notes, settings, meter } = parts;
    this.#parts = parts;
    this.#keeper = new BudgetKeeper(share, clock, notes);
    this.#watches = new Watches(settings, notes, clock());
    this.#turns = new Turns(this.#keeper, this.#watches, {
      hasOthers: share !== undefined,
      timeoutMs: settings.timeoutMs,
    });
    this.#fallback = createFallback(settings, this.#keeper, meter);
    this.#others = share && this.#joinOthers(share);
  }

  /** Nobody waits longer than this for our own call: a turn in the budget, one call, and some slack. */
  get longestWaitMs(): number {
    return BUDGET_PATIENCE_MS + this.#parts.settings.timeoutMs + 1_000;
  }

  /** The state of the server, or 5019. Callers that come while a call is under way share its answer. */
  read(server: GameServer, now: number): MaybePromise<Reading | Refusal> {
    const watch = this.#watches.of(server, now);
    watch.lastAskedAt = now;
    watch.lastUsedAt = now;
    if (this.#watches.isFresh(watch, now) && watch.hit) {
      this.#parts.meter.hits++;
      return watch.hit;
    }
    const known = this.#watches.findKnownFailure(watch, now);
    if (known) return this.#fallback.answerFailure(watch, known, now);
    if (watch.pending) {
      this.#parts.meter.coalesced++;
      return watch.pending;
    }
    const waitMs = this.#turns.msUntil(watch, now);
    const mayAsk = waitMs <= this.#turns.patienceMs(now);
    const reading = mayAsk ? this.#refresh(watch) : this.#others?.readKnown(watch, waitMs);
    if (!reading) return this.#fallback.answerRateLimit(watch, waitMs, now);
    watch.pending = reading.finally(() => {
      watch.pending = undefined;
    });
    return watch.pending;
  }

  findRefusedKey(server: GameServer, now: number): UpstreamFailure | undefined {
    return this.#watches.findRefusedKey(server, now);
  }

  msUntilCommand(server: GameServer, now: number): number {
    const pauseMs = this.#keeper.msPaused(now);
    if (pauseMs > 0) return pauseMs;
    const { breaker, pending } = this.#watches.of(server, now);
    if (!isOpen(breaker)) return 0;
    // The one probe may be a command, unless a read is that already.
    if (isCallDue(breaker, now)) return pending ? PROBE_RECHECK_MS : 0;
    return breaker.openUntil - now;
  }

  async catchUpOn(server: GameServer, now: number): Promise<void> {
    if (this.#others) await this.#others.catchUpOn(this.#watches.of(server, now));
  }

  noteSending(server: GameServer, now: number): void {
    const watch = this.#watches.of(server, now);
    // With an old key: what becomes of it will say nothing about the new one.
    if (watch.keyRevision === server.keyRevision) watch.isSendingCommand = true;
  }

  noteDelivery(server: GameServer, delivery: Delivery, now: number): void {
    const watch = this.#watches.find(server.serverId);
    // The server was deleted meanwhile, or has a new key, of which what an old one has met says nothing.
    if (!watch || watch.keyRevision > server.keyRevision) return;
    watch.isSendingCommand = false;
    watch.lastUsedAt = now;
    const { breaker, remembered } = watch;
    if (delivery.outcome === "done") watch.breaker = CLOSED_BREAKER;
    else if (!delivery.failure.isRateLimit) this.#watches.learnFailure(watch, delivery.failure, now);
    const isNews = !Bun.deepEquals(watch.breaker, breaker) || watch.remembered !== remembered;
    if (isNews) this.#others?.tell(watch);
  }

  /** Learns what the other instances have made of the budget, a pause above all. */
  async catchUp(): Promise<void> {
    await this.#keeper.catchUp();
  }

  /** A server that was deleted leaves nothing behind, not even a refused key. */
  forget(serverId: string): void {
    this.#watches.forget(serverId);
  }

  /** The same for those that another instance has deleted. */
  forgetGone(isThere: (serverId: string) => boolean): void {
    this.#watches.forgetGone(isThere);
  }

  /** For people and metrics: nothing here holds a key or a player. */
  describe(now: number) {
    return {
      budgetLimit: this.#keeper.budget.limit,
      callsLeft: countCallsLeft(this.#keeper.budget, now),
      pauseMs: this.#keeper.msPaused(now),
      ...this.#watches.describe(now),
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

  #joinOthers(share: RelayShare): OtherInstances {
    const { clock, sleep, log } = this.#parts;
    return new OtherInstances({
      ...{ share, clock, sleep, log },
      keeper: this.#keeper,
      watches: this.#watches,
      fallback: this.#fallback,
      longestWaitMs: this.longestWaitMs,
      ask: (watch) => this.#ask(watch),
    });
  }

  #refresh(watch: Watch): Promise<Reading | Refusal> {
    return this.#others ? this.#others.askTogether(watch) : this.#ask(watch);
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
      const turn = this.#turns.take(watch, startedAt);
      const waitMs = turn instanceof Promise ? await turn : turn;
      if (waitMs <= 0) break;
      if (sleptMs + waitMs > this.#turns.patienceMs(startedAt))
        return this.#fallback.answerRateLimit(watch, waitMs, startedAt);
      await sleep(waitMs);
      sleptMs += waitMs;
      startedAt = clock();
    }
    const lastCallAt = watch.lastCallAt;
    watch.lastCallAt = startedAt;
    const answer = await this.#turns.spend(() => upstream.readServer(serverKey));
    const now = clock();
    meter.countCall("failure" in answer ? answer.failure.code : "ok", now - startedAt);
    if ("parts" in answer) return this.#takeParts(watch, answer.parts, answer.hint, now);
    // A refused call was no turn: the server keeps its place in the line.
    if (answer.failure.isRateLimit) watch.lastCallAt = lastCallAt;
    return this.#takeFailure(watch, answer.failure, answer.hint, now);
  }

  #takeParts(watch: Watch, parts: ServerParts, hint: LimitHint | null, now: number): Reading {
    this.#parts.meter.misfits += parts.misfits;
    if (hint) this.#turns.learn(hint, false, now);
    const snapshot = new Snapshot(parts, now);
    this.#watches.learnReading(watch, snapshot);
    this.#parts.watchReading?.(watch.serverId, parts, now);
    return { snapshot, isHit: false };
  }

  #takeFailure(
    watch: Watch,
    failure: UpstreamFailure,
    hint: LimitHint | null,
    now: number,
  ): Reading | Refusal {
    this.#logFailure(watch, failure);
    if (hint) this.#turns.learn(hint, failure.isRateLimit, now);
    watch.lastFailure = { failure, at: now };
    if (failure.isRateLimit) {
      return this.#fallback.answerRateLimit(watch, this.#keeper.msPaused(now), now, failure);
    }
    this.#watches.learnFailure(watch, failure, now);
    if (failure.code === OFFLINE && !isKeyRefused(watch))
      watch.remembered = { failure, at: now, forMs: this.#parts.settings.freshMs };
    return this.#fallback.answerFailure(watch, failure, now);
  }

  /** Once for each kind of failure: a server that goes on failing must not fill the log. */
  #logFailure(watch: Watch, { code, message }: UpstreamFailure): void {
    const fields = { server_id: watch.serverId, upstream_code: code };
    if (watch.loggedCode === code) this.#parts.log.debug(fields, `game API: ${message}`);
    else this.#parts.log.warn(fields, `game API: ${message}`);
    watch.loggedCode = code;
  }
}
