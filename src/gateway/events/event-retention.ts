// Deletes events that need not be kept any more, in small steps with sleeps between them, so that recording hardly waits.
import { StoreUnavailable } from "../../core/errors.ts";
import type { Archive } from "../../core/ports/archive.ts";
import type { Clock } from "../../core/ports/clock.ts";
import type { Log } from "../../core/ports/log.ts";
import { createThrottle } from "../../core/throttle.ts";
import { InterruptibleSleep } from "./interruptible-sleep.ts";

/** How long nothing is looked for after everything was deleted. Short of a minute, in which old events must be gone. */
export const IDLE_SLEEP_MS = 10_000;
/** The sleep after a step that left something to delete. */
export const STEP_SLEEP_MS = 5;
const FAULT_LOG_MS = 60_000;
/** A hundred years: more would be no time that a database knows. */
const DAYS_MAX = 36_500;

export type EventRetentionParts = {
  readonly archive: Pick<Archive, "prune">;
  readonly clock: Clock;
  readonly sleep: (ms: number) => Promise<void>;
  readonly log: Log;
  readonly days: number;
  readonly eventsMax: number;
};

export class EventRetention {
  readonly #parts: EventRetentionParts;
  readonly #throttleLog = createThrottle(FAULT_LOG_MS);
  readonly #sleep = new InterruptibleSleep();
  #running: Promise<void> | undefined;
  #isStopped = false;

  constructor(parts: EventRetentionParts) {
    this.#parts = parts;
  }

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
      await this.#sleep.wait(this.#parts.sleep(sleepMs));
    }
  }

  /** Returns how long to sleep. */
  async #step(): Promise<number> {
    const { archive, clock, eventsMax } = this.#parts;
    const days = Math.min(this.#parts.days, DAYS_MAX);
    try {
      const hasMore = await archive.prune({ now: clock(), days, eventsMax });
      return hasMore ? STEP_SLEEP_MS : IDLE_SLEEP_MS;
    } catch (error) {
      if (!this.#isStopped) this.#logFault(error);
      return IDLE_SLEEP_MS;
    }
  }

  #logFault(error: unknown): void {
    const { clock, log } = this.#parts;
    this.#throttleLog(clock(), (unlogged) => {
      const fields = { err: error, unlogged };
      if (error instanceof StoreUnavailable) log.warn(fields, "old events could not be deleted");
      else log.error(fields, "deleting old events failed");
    });
  }
}
