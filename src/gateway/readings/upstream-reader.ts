// Reads one server from the game API when the budget allows it, and applies the result to the server's status.
import type { Refusal } from "../../core/errors.ts";
import type { Clock } from "../../core/ports/clock.ts";
import type { Log } from "../../core/ports/log.ts";
import type { ServerStore } from "../../core/ports/servers.ts";
import type { LimitHint, ServerParts, Upstream, UpstreamFailure, UpstreamReading } from "../../core/ports/upstream.ts";
import { INVALID_TOKEN } from "../keys/authenticate.ts";
import type { RelayMeter } from "../meters.ts";
import type { BudgetKeeper } from "./budget-keeper.ts";
import type { CallScheduler } from "./call-scheduler.ts";
import type { Fallback } from "./fallback.ts";
import type { ReadingListeners } from "./reading-listeners.ts";
import type { Reading, ServerStatus } from "./server-status.ts";
import type { ServerStatuses } from "./server-statuses.ts";
import { Snapshot } from "./snapshot.ts";

export type UpstreamReaderDeps = {
  readonly upstream: Pick<Upstream, "readServer">;
  readonly servers: Pick<ServerStore, "readServerKey">;
  readonly clock: Clock;
  readonly sleep: (ms: number) => Promise<void>;
  readonly meter: RelayMeter;
  readonly log: Log;
  readonly statuses: ServerStatuses;
  readonly keeper: BudgetKeeper;
  readonly scheduler: CallScheduler;
  readonly fallback: Fallback;
  readonly listeners: ReadingListeners;
};

type Call = { readonly at: number } & ({ readonly answer: UpstreamReading } | { readonly waitMs: number });

export class UpstreamReader {
  constructor(private readonly deps: UpstreamReaderDeps) {}

  async read(status: ServerStatus): Promise<Reading | Refusal> {
    const { clock, servers, meter, fallback } = this.deps;
    const serverKey = await servers.readServerKey(status.serverId);
    // The server was deleted meanwhile, and the caller's key with it.
    if (serverKey === undefined) return INVALID_TOKEN;
    const { lastCallAt } = status;
    const call = await this.#callWhenAllowed(status, serverKey);
    if ("waitMs" in call) return fallback.answerRateLimit(status, call.waitMs, call.at);
    const { answer, at } = call;
    const now = clock();
    meter.countCall("failure" in answer ? answer.failure.code : "ok", now - at);
    const gameServer = serverKey.slice(serverKey.indexOf("-") + 1);
    if ("parts" in answer) return this.#applyParts(status, answer, gameServer, now);
    // A 429 does not count as a call: the server keeps its place in the order.
    if (answer.failure.isRateLimit) status.lastCallAt = lastCallAt;
    this.deps.listeners.notifyFailure({ serverId: status.serverId, failure: answer.failure, gameServer, at: now });
    return this.#applyFailure(status, answer.failure, answer.hint, now);
  }

  /** Returns `waitMs` when the wait would be too long. */
  async #callWhenAllowed(status: ServerStatus, serverKey: string): Promise<Call> {
    const { clock, sleep, scheduler, upstream } = this.deps;
    let sleptMs = 0;
    for (;;) {
      const at = clock();
      const isForWatch = status.isPendingForWatch;
      // Reserve again after each wait, because other calls may have used or paused the budget.
      const reserved = scheduler.reserve(status, at);
      const waitMs = reserved instanceof Promise ? await reserved : reserved;
      if (waitMs <= 0) {
        // Nothing may be awaited between the reservation and the call: a 429 that arrives in between must stop the call.
        status.lastCallAt = at;
        return { answer: await scheduler.run(() => upstream.readServer(serverKey)), at };
      }
      if (isForWatch) {
        // A caller has joined while the shared budget was asked: from now on this is the caller's read.
        if (!status.isPendingForWatch) continue;
        // Callers that come now must not get the watcher's "not now".
        status.pending = undefined;
        status.isPendingForWatch = false;
        return { waitMs, at };
      }
      if (sleptMs + waitMs > scheduler.maxWaitMs(at)) return { waitMs, at };
      await scheduler.waitTurn(sleep(waitMs));
      sleptMs += waitMs;
    }
  }

  #applyParts(
    status: ServerStatus,
    { parts, content, hint }: Extract<UpstreamReading, { parts: ServerParts }>,
    gameServer: string,
    now: number,
  ): Reading {
    const { meter, scheduler, statuses, listeners } = this.deps;
    meter.misfits += parts.misfits;
    if (hint) scheduler.applyHint(hint, false, now);
    const snapshot = new Snapshot(parts, now);
    statuses.learnReading(status, snapshot);
    listeners.notify({ serverId: status.serverId, parts, content, gameServer, fetchedAt: now });
    return { snapshot, isHit: false };
  }

  #applyFailure(
    status: ServerStatus,
    failure: UpstreamFailure,
    hint: LimitHint | null,
    now: number,
  ): Reading | Refusal {
    const { scheduler, statuses, keeper, fallback } = this.deps;
    this.#logFailure(status, failure);
    if (hint) scheduler.applyHint(hint, failure.isRateLimit, now);
    statuses.learnReadFailure(status, failure, now);
    if (failure.isRateLimit) return fallback.answerRateLimit(status, keeper.msPaused(now), now, failure);
    statuses.learnFailure(status, failure, now);
    return fallback.answerFailure(status, failure, now);
  }

  /** Warns once for each kind of failure: a server that keeps failing must not fill the log. */
  #logFailure(status: ServerStatus, { code, message }: UpstreamFailure): void {
    const { log } = this.deps;
    const fields = { server_id: status.serverId, upstream_code: code };
    if (status.loggedCode === code) log.debug(fields, `game API: ${message}`);
    else log.warn(fields, `game API: ${message}`);
    status.loggedCode = code;
  }
}
