// One task for many callers: it runs at most once at a time and once every so often, however many callers wait for it.
import type { Clock } from "../../core/ports/clock.ts";

export type CoalescedTaskParts = {
  readonly run: () => Promise<void>;
  /** At least this long between the starts of two runs. */
  readonly intervalMs: number;
  /** A clock that is never set back. */
  readonly clock?: Clock;
  readonly sleep?: (ms: number) => Promise<void>;
};

export class CoalescedTask {
  readonly #run: () => Promise<void>;
  readonly #intervalMs: number;
  readonly #clock: Clock;
  readonly #sleep: (ms: number) => Promise<void>;
  #startedAt = Number.NEGATIVE_INFINITY;
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  constructor({ run, intervalMs, clock = () => performance.now(), sleep = Bun.sleep }: CoalescedTaskParts) {
    this.#run = run;
    this.#intervalMs = intervalMs;
    this.#clock = clock;
    this.#sleep = sleep;
  }

  /** Settles like the first run that starts after this call: a run under way may have missed what the caller needs. */
  join(): Promise<void> {
    this.#next ??= this.#start();
    return this.#next;
  }

  async #start(): Promise<void> {
    await this.#running?.catch(() => {});
    const waitMs = this.#startedAt + this.#intervalMs - this.#clock();
    if (waitMs > 0) await this.#sleep(waitMs);
    this.#startedAt = this.#clock();
    this.#running = this.#next;
    this.#next = undefined;
    await this.#run();
  }
}
