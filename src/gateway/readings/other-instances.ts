// Reading together with the other instances: one calls the game API, the others wait for its result. Status changes by
// commands are published too.
import { type Refusal, StoreUnavailable } from "../../core/errors.ts";
import type { Clock } from "../../core/ports/clock.ts";
import type { Log } from "../../core/ports/log.ts";
import type { RelayShare, ShareLease } from "../../core/ports/relay-share.ts";
import type { UpstreamFailure } from "../../core/ports/upstream.ts";
import { NO_CODE } from "../../core/readings/upstream-codes.ts";
import type { BudgetKeeper } from "./budget-keeper.ts";
import type { Fallback } from "./fallback.ts";
import { type Reading, type ServerStatus, sharedStatusOf } from "./server-status.ts";
import type { ServerStatuses } from "./server-statuses.ts";
import type { UpstreamReader } from "./upstream-reader.ts";

/** How often a waiting instance checks for the result. */
const POLL_MS = 25;
const OTHERS_TOO_SLOW: UpstreamFailure = {
  code: NO_CODE,
  message: "The game API did not answer in time.",
  isRateLimit: false,
};

export type OtherInstancesDeps = {
  readonly share: RelayShare;
  readonly clock: Clock;
  readonly sleep: (ms: number) => Promise<void>;
  readonly log: Log;
  readonly keeper: BudgetKeeper;
  readonly statuses: ServerStatuses;
  readonly fallback: Fallback;
  /** How long to wait for another instance. */
  readonly longestWaitMs: number;
  readonly reader: UpstreamReader;
};

export class OtherInstances {
  constructor(private readonly deps: OtherInstancesDeps) {}

  /** Calls the game API, or waits for the instance that does. */
  async readTogether(status: ServerStatus): Promise<Reading | Refusal> {
    try {
      return await this.#readOrWait(status);
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      // Without the shared store every instance reads for itself.
      const fields = { err: error, server_id: status.serverId };
      this.deps.log.debug(fields, "the other instances cannot be reached");
      return this.deps.reader.read(status);
    }
  }

  /** For when this instance may not call: another one may have read the server a moment ago. */
  async readKnown(status: ServerStatus, waitMs: number): Promise<Reading | Refusal> {
    const { share, clock, statuses, fallback } = this.deps;
    const news = await share.peek(status.serverId, status.sharedVersion).catch((error) => {
      if (error instanceof StoreUnavailable) return null;
      throw error;
    });
    const now = clock();
    if (news) statuses.learnNews(status, news, now);
    if (statuses.isFresh(status, now) && status.hit) return status.hit;
    const known = statuses.findKnownFailure(status, now, true);
    return known ? fallback.answerFailure(status, known, now) : fallback.answerRateLimit(status, waitMs, now);
  }

  /** Fetches what the others know about the server and the budget. Without Redis this instance goes on by itself. */
  async catchUpOn(status: ServerStatus): Promise<void> {
    const ignoreAway = (error: unknown) => {
      if (!(error instanceof StoreUnavailable)) throw error;
    };
    await Promise.all([this.fetchNews(status).catch(ignoreAway), this.deps.keeper.catchUp()]);
  }

  /** Fetches what the others know about the server alone. */
  async fetchNews(status: ServerStatus): Promise<void> {
    const { share, statuses, clock } = this.deps;
    const news = await share.peek(status.serverId, status.sharedVersion);
    if (news) statuses.learnNews(status, news, clock());
  }

  /** Ignores failures: the other instances then find out with their next call. */
  publishStatus(status: ServerStatus): void {
    this.deps.share.amend(status.serverId, sharedStatusOf(status)).catch(() => {});
  }

  async #readOrWait(status: ServerStatus): Promise<Reading | Refusal> {
    const { share, clock, sleep, keeper, statuses, fallback, longestWaitMs } = this.deps;
    const beganAt = clock();
    while (clock() - beganAt < longestWaitMs) {
      const { lease, news } = await share.consult(status.serverId, status.sharedVersion);
      const now = clock();
      if (news) {
        statuses.learnNews(status, news, now);
        if (statuses.isFresh(status, now) && status.hit) return status.hit;
        const { status: shared } = news;
        const isOurs = shared?.keyRevision === status.keyRevision;
        const isNewFailure = isOurs && shared.lastFailure && shared.lastFailure.at >= beganAt;
        const failure = isNewFailure ? shared.lastFailure?.failure : statuses.findKnownFailure(status, now, true);
        if (failure?.isRateLimit) {
          await keeper.catchUp();
          return fallback.answerRateLimit(status, keeper.msPaused(now), now, failure);
        }
        if (failure) return fallback.answerFailure(status, failure, now);
      } else if (lease) {
        return await this.#readWithLease(status, lease);
      } else {
        await sleep(POLL_MS);
      }
    }
    return fallback.answerFailure(status, OTHERS_TOO_SLOW, clock());
  }

  async #readWithLease(status: ServerStatus, lease: ShareLease): Promise<Reading | Refusal> {
    const { share, reader } = this.deps;
    const before = status.hit;
    try {
      return await reader.read(status);
    } finally {
      const snapshot = status.hit === before ? undefined : status.hit?.snapshot;
      const reading = snapshot
        ? { parts: snapshot.parts, fetchedAt: snapshot.fetchedAt, keyRevision: status.keyRevision }
        : null;
      const version = await share.publish(lease, sharedStatusOf(status), reading).catch((error) => {
        if (error instanceof StoreUnavailable) return 0;
        throw error;
      });
      // Our own publication is not news to us.
      if (version > 0) status.sharedVersion = version;
    }
  }
}
