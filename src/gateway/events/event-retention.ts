// Deletes events that need not be kept any more, in small steps with rests between them, so that recording hardly waits.
import { StoreUnavailable } from "../../core/errors.ts";
import type { Archive } from "../../core/ports/archive.ts";
import type { Clock } from "../../core/ports/clock.ts";
import type { Log } from "../../core/ports/log.ts";
import { createThrottle } from "../../core/throttle.ts";
import { Rest } from "./rest.ts";

/** How long nothing is looked for after everything was deleted. Short of a minute, in which old events must be gone. */
export const IDLE_REST_MS = 10_000;
/** The rest after a step that left something to delete. */
export const STEP_REST_MS = 5;
const FAULT_LOG_MS = 60_000;

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
  readonly #rest = new Rest();
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
    this.#rest.end();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      const restMs = await this.#step();
      await this.#rest.take(this.#parts.sleep(restMs));
    }
  }

  /** Returns how long to rest. */
  async #step(): Promise<number> {
    const { archive, clock, days, eventsMax } = this.#parts;
    try {
      const hasMore = await archive.prune({ now: clock(), days, eventsMax });
      return hasMore ? STEP_REST_MS : IDLE_REST_MS;
    } catch (error) {
      if (!this.#isStopped) this.#logFault(error);
      return IDLE_REST_MS;
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
