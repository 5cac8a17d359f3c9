// Deletes events that need not be kept any more, in small steps with sleeps between them, so that recording hardly waits.
import { StoreUnavailable } from "../../core/errors.ts";
import type { Archive } from "../../core/ports/archive.ts";
import type { Clock } from "../../core/ports/clock.ts";
import type { Log } from "../../core/ports/log.ts";
import type { ServerStore } from "../../core/ports/servers.ts";
import { createThrottle } from "../../core/throttle.ts";

/** How long nothing is looked for after everything was deleted. Short of a minute, in which old events must be gone. */
export const IDLE_SLEEP_MS = 10_000;
/** The sleep after a step that left something to delete. */
export const STEP_SLEEP_MS = 5;
const FAULT_LOG_MS = 60_000;
/** A hundred years: more would be no time that a database knows. */
const DAYS_MAX = 36_500;

export type EventRetentionDeps = {
  readonly archive: Pick<Archive, "prune">;
  readonly clock: Clock;
  readonly sleep: (ms: number) => Promise<void>;
  readonly log: Log;
  readonly days: number;
  readonly eventsMax: number;
};

export class EventRetention {
  readonly #throttleLog = createThrottle(FAULT_LOG_MS);
  readonly #sleep = new InterruptibleSleep();
  #running: Promise<void> | undefined;
  #isStopped = false;

  constructor(private readonly deps: EventRetentionDeps) {}

  start(): void {
    this.#running ??= this.#run();
  }

  /** Resolves when the step that has begun is finished. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#sleep.stop();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      const sleepMs = await this.#step();
      await this.#sleep.wait(this.deps.sleep(sleepMs));
    }
  }

  /** Returns how long to sleep. */
  async #step(): Promise<number> {
    const { archive, clock, eventsMax } = this.deps;
    const days = Math.min(this.deps.days, DAYS_MAX);
    try {
      const hasMore = await archive.prune({ now: clock(), days, eventsMax });
      return hasMore ? STEP_SLEEP_MS : IDLE_SLEEP_MS;
    } catch (error) {
      if (!this.#isStopped) this.#logFault(error);
      return IDLE_SLEEP_MS;
    }
  }

  #logFault(error: unknown): void {
    const { clock, log } = this.deps;
    this.#throttleLog(clock(), (unlogged) => {
      const fields = { err: error, unlogged };
      if (error instanceof StoreUnavailable) log.warn(fields, "old events could not be deleted");
      else log.error(fields, "deleting old events failed");
    });
  }
}

/** The most servers that one query asks for. */
const BATCH_MAX = 500;

/**
 * Deletes the ledgers that deleted servers still have, because the archive was away or another instance recorded since.
 * Only servers that this store has deleted itself are looked for. A store that does not answer, or that shares the archive
 * with another store, so never deletes a ledger that somebody needs.
 */
export async function removeDeletedLedgers(
  servers: Pick<ServerStore, "listDeleted" | "find">,
  archive: Pick<Archive, "findLast" | "removeServer">,
): Promise<void> {
  const deleted = await servers.listDeleted();
  for (let start = 0; start < deleted.length; start += BATCH_MAX) {
    const found = await archive.findLast(deleted.slice(start, start + BATCH_MAX));
    for (const serverId of found.keys()) {
      // A restored server has its id again.
      if (!servers.find(serverId)) await archive.removeServer(serverId);
    }
  }
}

/** Sleeps that a stop cuts short. */
export class InterruptibleSleep {
  #isStopped = false;
  #wake = () => {};

  /** Resolves with `sleep`, or at once when the job stops. */
  async wait(sleep: Promise<void>): Promise<void> {
    if (this.#isStopped) return;
    // A promise for this sleep alone: one that lasts would remember every race that it took part in.
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    await Promise.race([sleep, promise]);
  }

  /** Ends this sleep and all later ones. */
  stop(): void {
    this.#isStopped = true;
    this.#wake();
  }
}
