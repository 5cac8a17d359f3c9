// Sends waiting commands: one worker for each game server with waiting commands, first in, first out, within our own rate
// limit and the game API's. A worker claims, sends and records; a command that was claimed and not recorded is never sent again.
// A result that could not be recorded, and a claim without an answer, are repeated until the store answers, also during a drain.
import type { Command, CommandEnd } from "../../core/commands/command.ts";
import {
  CONFIRM_WITHIN_MS,
  findConfirmations,
  type LogEntry,
  mayHaveRemoteEntry,
} from "../../core/commands/find-confirmations.ts";
import { StoreUnavailable } from "../../core/errors.ts";
import type { GameServer } from "../../core/game-server.ts";
import type { Clock, SleepUntilWoken } from "../../core/ports/clock.ts";
import type { Claim, CommandQueue } from "../../core/ports/commands.ts";
import type { Log } from "../../core/ports/log.ts";
import type { ServerStore } from "../../core/ports/servers.ts";
import type { Delivery, Upstream, UpstreamFailure } from "../../core/ports/upstream.ts";
import { delayAfterRateLimitMs, delayAfterSendMs } from "../../core/readings/budget.ts";
import { NO_CODE } from "../../core/readings/upstream-codes.ts";
import { checkEveryMs, RunningTime } from "../../core/running-time.ts";
import { createThrottle } from "../../core/throttle.ts";
import type { CommandMeter } from "../meters.ts";

/** With more concurrent calls, some would wait inside the runtime while their deadlines run. */
const SENDS_MAX = 64;
/** The backoff while the store is unavailable. */
const STORE_RETRY_MS = 1_000;
const STORE_FAULT_LOG_MS = 60_000;
/** The first backoff after an unexpected error, most likely a bug. It doubles with each further error in a row. */
const BUG_BACKOFF_MS = 1_000;
const BUG_BACKOFF_MAX_MS = 60_000;
const BUG_LOG_MS = 60_000;
/** Sending follows the claim at once. When it took longer than this, the process was suspended and may have lost its lease. */
const CLAIM_FRESH_MS = 2_000;
/** The longest wait for the end of a burst, as a multiple of `burstQuietMs`. */
const BURST_WAIT_FACTOR = 10;

/** What is known about the game API from reads, and updated by the results of commands. */
export interface CommandCallState {
  /** The failure with which the game API refused the server's key or the global key: calling with it again is pointless. */
  findRefusedKey(server: GameServer, now: number): UpstreamFailure | undefined;
  /** How long no command may be sent, because of a pause after a 429, an open breaker or a parked server; 0 when one may be sent now. */
  msUntilCommand(server: GameServer, now: number): number;
  /** Fetches what other instances know about the server. */
  catchUpOn(server: GameServer, now: number): Promise<void>;
  /** Reads the server when the probe of its open breaker is due. Undefined when nothing is read. */
  probe(server: GameServer, now: number): Promise<unknown> | undefined;
  markSending(server: GameServer, now: number): void;
  applyDelivery(server: GameServer, delivery: Delivery, now: number): void;
}

export type DispatcherDeps = {
  readonly store: { readonly commands: CommandQueue; readonly servers: Pick<ServerStore, "find" | "readServerKey"> };
  readonly upstream: Pick<Upstream, "sendCommand">;
  readonly callState: CommandCallState;
  readonly clock: Clock;
  readonly pause: SleepUntilWoken;
  readonly intervalMs: number;
  readonly ttlMs: number;
  /** A worker starts to send when no command has arrived for this long; 0 starts at once. */
  readonly burstQuietMs: number;
  readonly meter: CommandMeter;
  readonly log: Log;
  /** Called after the result of a command was recorded. */
  readonly onSettled?: ((commandId: string) => void) | undefined;
};

type Worker = {
  wake: AbortController;
  /** Set by `notify`, so that a worker that is about to end checks the queue again. */
  isNotified: boolean;
  refusals: number;
  /** The last claim got no answer, so it may have taken a command. */
  isClaimUnanswered: boolean;
  /** Steps in a row that ended with an unexpected error. */
  bugs: number;
  readonly ended: Promise<void>;
};

export class CommandDispatcher {
  readonly #workers = new Map<string, Worker>();
  readonly #throttleStoreFault = createThrottle(STORE_FAULT_LOG_MS);
  readonly #throttleBug = createThrottle(BUG_LOG_MS);
  #sends = 0;
  #isStopping = false;
  /** The grace period of `stop` is over. */
  #isStopped = false;
  #stopped: Promise<void> | undefined;

  constructor(private readonly deps: DispatcherDeps) {}

  /** Starts workers for the commands that were waiting when the last process ended. */
  async start(): Promise<void> {
    for (const serverId of await this.deps.store.commands.listWaitingServers()) this.notify(serverId);
  }

  /** To be called when a command of this server may be waiting. */
  notify(serverId: string): void {
    if (this.#isStopping) return;
    const known = this.#workers.get(serverId);
    if (known) {
      known.isNotified = true;
      return;
    }
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    const worker: Worker = {
      wake: new AbortController(),
      isNotified: false,
      refusals: 0,
      isClaimUnanswered: false,
      bugs: 0,
      ended,
    };
    this.#workers.set(serverId, worker);
    void this.#run(serverId, worker).finally(resolve);
  }

  /** To be called when a pause has ended early: workers that wait for its end try again now. */
  wakeWorkers(): void {
    for (const worker of this.#workers.values()) {
      worker.wake.abort();
      worker.wake = new AbortController();
    }
  }

  /**
   * Sends no more commands, and waits at most `graceMs` until those that were claimed are recorded or back in their queue. The
   * others become `unknown` at the next start.
   */
  stop(graceMs: number): Promise<void> {
    this.#stopped ??= this.#endWorkers(graceMs);
    return this.#stopped;
  }

  async #endWorkers(graceMs: number): Promise<void> {
    this.#isStopping = true;
    this.wakeWorkers();
    let isEnded = false;
    const ended = Promise.all([...this.#workers.values()].map((worker) => worker.ended)).then(() => {
      isEnded = true;
    });
    const everyMs = checkEveryMs(graceMs);
    const running = new RunningTime(performance.now(), everyMs);
    while (!isEnded && running.at(performance.now()) < graceMs) await Promise.race([ended, Bun.sleep(everyMs)]);
    this.#isStopped = true;
  }

  /** Searches the game's command log, from a reading, for commands that were sent to the server. `log` is JSON text. */
  async confirm(serverId: string, log: string, now: number): Promise<void> {
    // Nearly no reading shows a command that came through the game's API, so the store is not asked for most of them.
    if (!mayHaveRemoteEntry(log)) return;
    const { commands } = this.deps.store;
    const sent = await commands.listSent(serverId, now - CONFIRM_WITHIN_MS);
    if (sent.every(({ loggedAt }) => loggedAt !== null)) return;
    for (const { commandId, loggedAt } of findConfirmations(sent, JSON.parse(log) as LogEntry[])) {
      await commands.confirm(commandId, loggedAt, now);
      this.deps.meter.count("confirmed");
    }
  }

  async #run(serverId: string, worker: Worker): Promise<void> {
    await this.#letBurstArrive(worker);
    while (!this.#isStopping) {
      worker.isNotified = false;
      let waitMs: number | undefined;
      try {
        waitMs = await this.#step(serverId, worker);
        worker.bugs = 0;
      } catch (error) {
        this.#logFault(error, serverId);
        const isBug = !(error instanceof StoreUnavailable);
        waitMs = isBug ? Math.min(BUG_BACKOFF_MS * 2 ** worker.bugs++, BUG_BACKOFF_MAX_MS) : STORE_RETRY_MS;
      }
      if (this.#isStopping) break;
      if (waitMs !== undefined) await this.#pause(worker, waitMs);
      else if (!worker.isNotified) break;
    }
    if (worker.isClaimUnanswered) await this.#putBackUnanswered(serverId, worker);
    this.#workers.delete(serverId);
  }

  /** Waits until a burst of commands has been accepted, so that QUEUE_MAX applies to the whole burst before the first is sent. */
  async #letBurstArrive(worker: Worker): Promise<void> {
    const { burstQuietMs } = this.deps;
    const until = performance.now() + burstQuietMs * BURST_WAIT_FACTOR;
    do {
      worker.isNotified = false;
      if (burstQuietMs > 0 && !this.#isStopping) await Bun.sleep(burstQuietMs);
    } while (worker.isNotified && performance.now() < until && !this.#isStopping);
  }

  /** Sends one command if one may be sent now. Returns the wait before the next step; undefined when the queue is empty. */
  async #step(serverId: string, worker: Worker): Promise<number | undefined> {
    const { store, clock, ttlMs, callState, meter } = this.deps;
    const now = clock();
    meter.count("expired", await store.commands.expire(serverId, now - ttlMs, now));
    const server = store.servers.find(serverId);
    const serverKey = await store.servers.readServerKey(serverId);
    if (serverKey === undefined) {
      // The server is deleted; these commands were accepted during the deletion.
      meter.count("failed", await store.commands.failWaiting(serverId, now));
      return undefined;
    }
    // Another instance has just added the server, and this instance has not loaded it yet.
    if (!server) return STORE_RETRY_MS;
    await callState.catchUpOn(server, now);
    // Not by a command: one that fails may be lost.
    void callState.probe(server, now)?.catch((error) => {
      if (!this.#isStopping) this.#logFault(error, serverId);
    });
    const refusedKey = callState.findRefusedKey(server, now);
    const heldMs = refusedKey ? 0 : this.#msUntilSend(server, now);
    if (heldMs > 0) return await this.#msUntilHeadExpires(serverId, now, heldMs);
    this.#sends++;
    try {
      return await this.#claimAndSend(server, serverKey, worker, refusedKey);
    } finally {
      this.#sends--;
    }
  }

  async #claimAndSend(
    server: GameServer,
    serverKey: string,
    worker: Worker,
    refusedKey: UpstreamFailure | undefined,
  ): Promise<number | undefined> {
    const { clock, ttlMs, intervalMs } = this.deps;
    const { serverId } = server;
    const now = clock();
    // With a refused key all waiting commands fail at once: nothing is sent, so no interval is needed.
    const claim = await this.#claim(serverId, worker, now, refusedKey ? 0 : intervalMs);
    if (claim.kind === "empty") return undefined;
    if (claim.kind === "busy") return STORE_RETRY_MS;
    if (claim.kind === "wait") return Math.min(claim.until, claim.headQueuedAt + ttlMs + 1) - now;
    if (refusedKey) await this.#settle(worker, claim.command, { ...failWith(refusedKey), isUnsent: true });
    else await this.#send(server, serverKey, worker, claim.command);
    return 0;
  }

  async #claim(serverId: string, worker: Worker, now: number, holdMs: number): Promise<Claim> {
    worker.isClaimUnanswered = true;
    const claim = await this.deps.store.commands.claim(serverId, now, holdMs);
    worker.isClaimUnanswered = false;
    return claim;
  }

  /** For the last claim of a worker. It has sent nothing, so what it may have taken must not become `unknown`. */
  async #putBackUnanswered(serverId: string, worker: Worker): Promise<void> {
    const { store, clock, intervalMs } = this.deps;
    try {
      await this.#record(worker, async () => {
        const claim = await this.#claim(serverId, worker, clock(), intervalMs);
        if (claim.kind === "claimed") await store.commands.requeue(claim.command.commandId);
      });
    } catch (error) {
      this.#logBug(error, serverId);
    }
  }

  async #send(server: GameServer, serverKey: string, worker: Worker, command: Command): Promise<void> {
    const { store, upstream, callState, clock, intervalMs, ttlMs, log } = this.deps;
    const { serverId } = server;
    // If this process was suspended since the claim, another instance may have claimed the command.
    const beganAt = clock();
    const isOld = beganAt - (command.sentAt ?? 0) > CLAIM_FRESH_MS;
    const isExpired = beganAt - command.queuedAt > ttlMs;
    // A read may have got a 429 or a refusal while the claim was written.
    const isStopped =
      callState.findRefusedKey(server, beganAt) !== undefined || callState.msUntilCommand(server, beganAt) > 0;
    if (isOld || isExpired || isStopped || this.#isStopping) return await this.#requeue(worker, command);
    callState.markSending(server, beganAt);
    const delivery = await upstream.sendCommand(serverKey, command.text);
    const now = clock();
    callState.applyDelivery(server, delivery, now);
    if (delivery.outcome === "done") {
      worker.refusals = 0;
      // In this order, because a Redis that is out of memory accepts `settle` but not `hold`.
      await this.#settle(worker, command, { status: "sent", upstreamCode: null, upstreamMessage: null });
      return await store.commands.hold(serverId, now, delayAfterSendMs(intervalMs, delivery.hint, now));
    }
    const { outcome, failure, hint } = delivery;
    const fields = { server_id: serverId, command_id: command.commandId, upstream_code: failure.code };
    log.warn(fields, `a command did not go through (${outcome}): ${failure.message}`);
    if (outcome === "refused" && failure.isRateLimit) {
      const pauseMs = delayAfterRateLimitMs(intervalMs, hint, worker.refusals++, now);
      return await this.#requeue(worker, command, () => store.commands.hold(serverId, now, pauseMs));
    }
    if (outcome === "unsent") return await this.#requeue(worker, command);
    await this.#settle(worker, command, outcome === "refused" ? failWith(failure) : loseWith(failure));
    if (hint) await store.commands.hold(serverId, now, delayAfterSendMs(intervalMs, hint, now));
  }

  #msUntilSend(server: GameServer, now: number): number {
    const heldMs = this.deps.callState.msUntilCommand(server, now);
    return heldMs === 0 && this.#sends >= SENDS_MAX ? 100 : heldMs;
  }

  /** Wakes the worker when the oldest command expires, so that its status changes on time. */
  async #msUntilHeadExpires(serverId: string, now: number, heldMs: number): Promise<number | undefined> {
    const { items } = await this.deps.store.commands.list({ serverId, status: "queued", limit: 200 });
    const head = items.at(-1);
    return head && Math.min(heldMs, head.queuedAt + this.deps.ttlMs + 1 - now);
  }

  /** Puts the command back to the head of its queue. `before` runs first, so that it takes effect before the next claim. */
  async #requeue(worker: Worker, { commandId }: Command, before?: () => Promise<void>): Promise<void> {
    this.deps.meter.count("returned");
    await this.#record(worker, async () => {
      await before?.();
      await this.deps.store.commands.requeue(commandId);
    });
  }

  async #settle(worker: Worker, { commandId }: Command, end: CommandEnd): Promise<void> {
    this.deps.meter.count(end.status);
    await this.#record(worker, () => this.deps.store.commands.settle(commandId, end, this.deps.clock()));
    this.deps.onSettled?.(commandId);
  }

  /**
   * Retries until the result of a command is stored, because nothing else may be sent before. When the grace period of `stop`
   * ends without that, the command becomes `unknown` at the next start.
   */
  async #record(worker: Worker, write: () => Promise<void>): Promise<void> {
    for (;;) {
      try {
        return await write();
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
        this.#logStoreFault(error);
        if (this.#isStopped) return;
        await this.#pause(worker, STORE_RETRY_MS);
      }
    }
  }

  #logFault(error: unknown, serverId: string): void {
    if (error instanceof StoreUnavailable) this.#logStoreFault(error);
    else this.#logBug(error, serverId);
  }

  #logStoreFault(error: StoreUnavailable): void {
    this.#throttleStoreFault(this.deps.clock(), (unlogged) => {
      this.deps.log.warn({ err: error, unlogged }, "commands wait: the store cannot answer");
    });
  }

  #logBug(error: unknown, serverId: string): void {
    this.#throttleBug(this.deps.clock(), (unlogged) => {
      const fields = { err: error, server_id: serverId, unlogged };
      this.deps.log.error(fields, "sending a command failed unexpectedly");
    });
  }

  async #pause(worker: Worker, ms: number): Promise<void> {
    if (ms > 0) await this.deps.pause(ms, worker.wake.signal);
  }
}

function failWith({ code, message }: UpstreamFailure): CommandEnd {
  return { status: "failed", upstreamCode: code, upstreamMessage: message };
}

function loseWith({ code, message }: UpstreamFailure): CommandEnd {
  return { status: "unknown", upstreamCode: code === NO_CODE ? null : code, upstreamMessage: message };
}
