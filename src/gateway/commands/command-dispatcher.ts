// Sends what waits: one worker for each game server that has commands waiting, first in, first out, at the pace that we
// and the game API keep. Claim, send, record; what was claimed and not recorded is never sent again.
import type { Command, CommandEnd } from "../../core/command.ts";
import { delayAfterRateLimitMs, delayAfterSendMs } from "../../core/command-delay.ts";
import { StoreUnavailable } from "../../core/errors.ts";
import { CONFIRM_WITHIN_MS, findConfirmations, type LogEntry } from "../../core/find-confirmations.ts";
import type { GameServer } from "../../core/game-server.ts";
import type { Clock } from "../../core/ports/clock.ts";
import type { CommandQueue } from "../../core/ports/commands.ts";
import type { Log } from "../../core/ports/log.ts";
import type { ServerStore } from "../../core/ports/servers.ts";
import type { Delivery, Upstream, UpstreamFailure } from "../../core/ports/upstream.ts";
import { createThrottle } from "../../core/throttle.ts";
import { NO_CODE } from "../../core/upstream-codes.ts";
import type { CommandMeter } from "./command-meter.ts";

/** More at a time would wait inside the runtime, where their deadlines run. */
const SENDS_MAX = 64;
/** How long to leave a store alone that takes nothing. */
const STORE_RETRY_MS = 1_000;
const STORE_FAULT_LOG_MS = 60_000;
/** The backoff after an unexpected error, a bug most likely. It doubles with each in a row. */
const BUG_BACKOFF_MS = 1_000;
const BUG_BACKOFF_MAX_MS = 60_000;
const BUG_LOG_MS = 60_000;
/** Between claiming a command and sending it nothing is waited for; what took longer was held up from outside. */
const CLAIM_FRESH_MS = 2_000;
/** A burst that does not end is waited for no longer than so many times the quiet. */
const BURST_LONGEST = 10;

/** What reads have taught about the game API, and what commands teach in turn. */
export interface CommandOutlook {
  /** A failure that asking with this server's key would surely meet again. */
  findRefusedKey(server: GameServer, now: number): UpstreamFailure | undefined;
  /** How long nothing may be asked: a pause that the game API ordered, an open breaker. */
  msUntilCommand(server: GameServer, now: number): number;
  /** Learns what other instances know of the server. */
  catchUpOn(server: GameServer, now: number): Promise<void>;
  noteSending(server: GameServer, now: number): void;
  noteDelivery(server: GameServer, delivery: Delivery, now: number): void;
}

/** Waits; ends early when woken. */
export type Pause = (ms: number, wake: AbortSignal) => Promise<void>;

export type DispatcherParts = {
  readonly store: {
    readonly commands: CommandQueue;
    readonly servers: Pick<ServerStore, "find" | "readServerKey">;
  };
  readonly upstream: Pick<Upstream, "sendCommand">;
  readonly outlook: CommandOutlook;
  readonly clock: Clock;
  readonly pause: Pause;
  readonly intervalMs: number;
  readonly ttlMs: number;
  /** A queue that was empty is sent from when nothing has come for so long; 0 for at once. */
  readonly burstQuietMs: number;
  readonly meter: CommandMeter;
  readonly log: Log;
};

type Worker = {
  wake: AbortController;
  /** Set by a notice that came while the worker was about to end. */
  isNotified: boolean;
  refusals: number;
  /** Steps in a row that ended with an unexpected error. */
  bugs: number;
  readonly ended: Promise<void>;
};

export class CommandDispatcher {
  readonly #parts: DispatcherParts;
  readonly #workers = new Map<string, Worker>();
  readonly #noteStoreFault = createThrottle(STORE_FAULT_LOG_MS);
  readonly #sampleBug = createThrottle(BUG_LOG_MS);
  #sends = 0;
  #isStopping = false;
  #stopped: Promise<void> | undefined;

  constructor(parts: DispatcherParts) {
    this.#parts = parts;
  }

  /** Goes on with what an earlier process has left. */
  async start(): Promise<void> {
    for (const serverId of await this.#parts.store.commands.listWaitingServers()) this.notify(serverId);
  }

  /** Something may wait for this server now. */
  notify(serverId: string): void {
    if (this.#isStopping) return;
    const known = this.#workers.get(serverId);
    if (known) {
      known.isNotified = true;
      return;
    }
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    const worker: Worker = { wake: new AbortController(), isNotified: false, refusals: 0, bugs: 0, ended };
    this.#workers.set(serverId, worker);
    void this.#run(serverId, worker).finally(resolve);
  }

  /**
   * Nothing new is begun; what is being sent is finished and recorded, if that takes no longer than `graceMs`. What is
   * not becomes unknown at the next start.
   */
  stop(graceMs: number): Promise<void> {
    this.#stopped ??= this.#endWorkers(graceMs);
    return this.#stopped;
  }

  async #endWorkers(graceMs: number): Promise<void> {
    this.#isStopping = true;
    for (const { wake } of this.#workers.values()) wake.abort();
    const ended = Promise.all([...this.#workers.values()].map((worker) => worker.ended));
    await Promise.race([ended, Bun.sleep(graceMs)]);
  }

  /** Looks for commands of the server in a log of the game that was read anyway. `log` is JSON text. */
  async confirm(serverId: string, log: string, now: number): Promise<void> {
    const { commands } = this.#parts.store;
    const sent = await commands.listSent(serverId, now - CONFIRM_WITHIN_MS);
    if (sent.every(({ loggedAt }) => loggedAt !== null)) return;
    for (const { commandId, loggedAt } of findConfirmations(sent, JSON.parse(log) as LogEntry[])) {
      await commands.confirm(commandId, loggedAt, now);
      this.#parts.meter.count("confirmed");
    }
  }

  get workers(): number {
    return this.#workers.size;
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
        if (error instanceof StoreUnavailable) {
          this.#tellStoreFault(error);
          waitMs = STORE_RETRY_MS;
        } else {
          this.#logBug(error, serverId);
          waitMs = Math.min(BUG_BACKOFF_MS * 2 ** worker.bugs++, BUG_BACKOFF_MAX_MS);
        }
      }
      if (waitMs !== undefined) await this.#pause(worker, waitMs);
      else if (!worker.isNotified) break;
    }
    this.#workers.delete(serverId);
  }

  /** Commands that come all at once are judged against the queue before the first of them leaves it. */
  async #letBurstArrive(worker: Worker): Promise<void> {
    const { burstQuietMs } = this.#parts;
    const until = performance.now() + burstQuietMs * BURST_LONGEST;
    do {
      worker.isNotified = false;
      if (burstQuietMs > 0 && !this.#isStopping) await Bun.sleep(burstQuietMs);
    } while (worker.isNotified && performance.now() < until && !this.#isStopping);
  }

  /** Sends one command if one may be sent now. How long to wait before the next step; undefined when nothing waits. */
  async #step(serverId: string, worker: Worker): Promise<number | undefined> {
    const { store, clock, ttlMs, outlook, meter } = this.#parts;
    const now = clock();
    meter.count("expired", await store.commands.expire(serverId, now - ttlMs, now));
    const server = store.servers.find(serverId);
    const serverKey = await store.servers.readServerKey(serverId);
    if (serverKey === undefined) {
      // Accepted while the server was being deleted.
      meter.count("failed", await store.commands.failWaiting(serverId, now));
      return undefined;
    }
    // Another instance has just added it; we shall know it in a moment.
    if (!server) return STORE_RETRY_MS;
    await outlook.catchUpOn(server, now);
    const refusedKey = outlook.findRefusedKey(server, now);
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
    const { store, clock, ttlMs, intervalMs } = this.#parts;
    const { serverId } = server;
    const now = clock();
    // What is not sent needs no time until the next: with a refused key all that wait fail at once.
    const claim = await store.commands.claim(serverId, now, refusedKey ? 0 : intervalMs);
    if (claim.kind === "empty") return undefined;
    if (claim.kind === "busy") return STORE_RETRY_MS;
    if (claim.kind === "wait") return Math.min(claim.until, claim.headQueuedAt + ttlMs + 1) - now;
    if (refusedKey) await this.#settle(worker, claim.command, { ...failWith(refusedKey), isUnsent: true });
    else await this.#send(server, serverKey, worker, claim.command);
    return 0;
  }

  async #send(server: GameServer, serverKey: string, worker: Worker, command: Command): Promise<void> {
    const { store, upstream, outlook, clock, intervalMs, ttlMs, log } = this.#parts;
    const { serverId } = server;
    // An instance that was frozen meanwhile may have lost its claim to another one.
    const beganAt = clock();
    const isOld = beganAt - (command.sentAt ?? 0) > CLAIM_FRESH_MS;
    const isExpired = beganAt - command.queuedAt > ttlMs;
    // A read may have met a limit or a refusal while the claim was written.
    const isStopped =
      outlook.findRefusedKey(server, beganAt) !== undefined || outlook.msUntilCommand(server, beganAt) > 0;
    if (isOld || isExpired || isStopped) return await this.#requeue(worker, command);
    outlook.noteSending(server, beganAt);
    const delivery = await upstream.sendCommand(serverKey, command.text);
    const now = clock();
    outlook.noteDelivery(server, delivery, now);
    if (delivery.outcome === "done") {
      worker.refusals = 0;
      // In this order: a full Redis takes note of an end, but not of a hold.
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
  }

  #msUntilSend(server: GameServer, now: number): number {
    const outlookMs = this.#parts.outlook.msUntilCommand(server, now);
    return outlookMs === 0 && this.#sends >= SENDS_MAX ? 100 : outlookMs;
  }

  /** A command that expires while it is held is told so in time. */
  async #msUntilHeadExpires(serverId: string, now: number, heldMs: number): Promise<number | undefined> {
    const { items } = await this.#parts.store.commands.list({ serverId, status: "queued", limit: 200 });
    const head = items.at(-1);
    return head && Math.min(heldMs, head.queuedAt + this.#parts.ttlMs + 1 - now);
  }

  /** The command takes its place at the head again; what `first` notes must hold before it can be claimed anew. */
  async #requeue(worker: Worker, { commandId }: Command, first?: () => Promise<void>): Promise<void> {
    this.#parts.meter.count("returned");
    await this.#record(worker, async () => {
      await first?.();
      await this.#parts.store.commands.requeue(commandId);
    });
  }

  async #settle(worker: Worker, { commandId }: Command, end: CommandEnd): Promise<void> {
    this.#parts.meter.count(end.status);
    await this.#record(worker, () => this.#parts.store.commands.settle(commandId, end, this.#parts.clock()));
  }

  /**
   * What has happened must be written before anything else is sent. While the disk refuses, the worker waits; should
   * the process end meanwhile, the command is found half-sent and becomes unknown.
   */
  async #record(worker: Worker, write: () => Promise<void>): Promise<void> {
    for (;;) {
      try {
        return await write();
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
        this.#tellStoreFault(error);
        if (this.#isStopping) return;
        await this.#pause(worker, STORE_RETRY_MS);
      }
    }
  }

  #tellStoreFault(error: StoreUnavailable): void {
    this.#noteStoreFault(this.#parts.clock(), (unlogged) => {
      this.#parts.log.warn({ err: error, unlogged }, "commands wait: the store cannot answer");
    });
  }

  #logBug(error: unknown, serverId: string): void {
    this.#sampleBug(this.#parts.clock(), (unlogged) => {
      const fields = { err: error, server_id: serverId, unlogged };
      this.#parts.log.error(fields, "sending a command failed unexpectedly");
    });
  }

  async #pause(worker: Worker, ms: number): Promise<void> {
    if (ms > 0 && !this.#isStopping) await this.#parts.pause(ms, worker.wake.signal);
  }
}

function failWith({ code, message }: UpstreamFailure): CommandEnd {
  return { status: "failed", upstreamCode: code, upstreamMessage: message };
}

function loseWith({ code, message }: UpstreamFailure): CommandEnd {
  return {
    status: "unknown",
    upstreamCode: code === NO_CODE ? null : code,
    upstreamMessage: message,
  };
}
