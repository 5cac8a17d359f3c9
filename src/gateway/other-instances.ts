// Reading together with the other instances: one asks the game API, the others wait for what it finds, and what commands
// teach is told to all.
import { type Refusal, StoreUnavailable } from "../core/errors.ts";
import type { Clock, Log, RelayShare, ShareLease, UpstreamFailure } from "../core/ports.ts";
import { NO_CODE } from "../core/upstream-codes.ts";
import type { BudgetKeeper } from "./budget-keeper.ts";
import type { Fallback } from "./fallback.ts";
import { adopt, type Reading, standingOf, type Watch } from "./watch.ts";
import type { Watches } from "./watches.ts";

/** How often those that wait for another instance look for what it has found. */
const SHARED_LOOK_MS = 25;
const OTHERS_SLOW: UpstreamFailure = {
  code: NO_CODE,
  message: "The game API did not answer in time.",
  isRateLimit: false,
};

export type OtherInstancesParts = {
  readonly share: RelayShare;
  readonly clock: Clock;
  readonly sleep: (ms: number) => Promise<void>;
  readonly log: Log;
  readonly keeper: BudgetKeeper;
  readonly watches: Watches;
  readonly fallback: Fallback;
  /** Those that wait for another instance give up after this time. */
  readonly longestWaitMs: number;
  /** Asks the game API, as an instance alone would. */
  readonly ask: (watch: Watch) => Promise<Reading | Refusal>;
};

export class OtherInstances {
  readonly #parts: OtherInstancesParts;

  constructor(parts: OtherInstancesParts) {
    this.#parts = parts;
  }

  /** Asks, or waits for the instance that does. */
  async askTogether(watch: Watch): Promise<Reading | Refusal> {
    try {
      return await this.#askOrWait(watch);
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      // Without the others, every instance asks for itself, as it would alone.
      const fields = { err: error, server_id: watch.serverId };
      this.#parts.log.debug(fields, "the other instances cannot be reached");
      return this.#parts.ask(watch);
    }
  }

  /** While we may not ask: another instance may have read the server a moment ago. */
  async readKnown(watch: Watch, waitMs: number): Promise<Reading | Refusal> {
    const { share, clock, watches, fallback } = this.#parts;
    const news = await share.peek(watch.serverId, watch.sharedVersion).catch((error) => {
      if (error instanceof StoreUnavailable) return null;
      throw error;
    });
    const now = clock();
    if (news) adopt(watch, news);
    if (watches.isFresh(watch, now) && watch.hit) return watch.hit;
    const known = watches.findKnownFailure(watch, now, true);
    return known ? fallback.answerFailure(watch, known, now) : fallback.answerRateLimit(watch, waitMs, now);
  }

  /** Learns what the others know of the server, and of the budget. */
  async catchUpOn(watch: Watch): Promise<void> {
    const { share, keeper } = this.#parts;
    const [news] = await Promise.all([share.peek(watch.serverId, watch.sharedVersion), keeper.catchUp()]);
    if (news) adopt(watch, news);
  }

  /** Whoever cannot be told now will find out by asking. */
  tell(watch: Watch): void {
    this.#parts.share.amend(watch.serverId, standingOf(watch)).catch(() => {});
  }

  async #askOrWait(watch: Watch): Promise<Reading | Refusal> {
    const { share, clock, sleep, keeper, watches, fallback, longestWaitMs } = this.#parts;
    const beganAt = clock();
    while (clock() - beganAt < longestWaitMs) {
      const { lease, news } = await share.consult(watch.serverId, watch.sharedVersion);
      const now = clock();
      if (news) {
        adopt(watch, news);
        if (watches.isFresh(watch, now) && watch.hit) return watch.hit;
        const { standing } = news;
        const isOurs = standing?.keyRevision === watch.keyRevision;
        const isNewFailure = isOurs && standing.lastFailure && standing.lastFailure.at >= beganAt;
        const failure = isNewFailure
          ? standing.lastFailure?.failure
          : watches.findKnownFailure(watch, now, true);
        if (failure?.isRateLimit) {
          await keeper.catchUp();
          return fallback.answerRateLimit(watch, keeper.msPaused(now), now, failure);
        }
        if (failure) return fallback.answerFailure(watch, failure, now);
      } else if (lease) {
        return await this.#askWithLease(watch, lease);
      } else {
        await sleep(SHARED_LOOK_MS);
      }
    }
    return fallback.answerFailure(watch, OTHERS_SLOW, clock());
  }

  async #askWithLease(watch: Watch, lease: ShareLease): Promise<Reading | Refusal> {
    const { share, ask } = this.#parts;
    const before = watch.hit;
    try {
      return await ask(watch);
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
}
