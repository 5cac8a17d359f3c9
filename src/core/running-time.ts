// How long this process has been running, for deadlines. While it is suspended, or gets no processor on a busy machine, it
// reads no answers: that time says nothing about whoever is to answer.

/** How many checks there are in a deadline, at least; a gap between two of them counts as two. */
const CHECKS_MIN = 10;
const CHECK_EVERY_MAX_MS = 100;

/** How often a deadline of this length has to be checked. */
export function checkEveryMs(deadlineMs: number): number {
  return Math.max(1, Math.min(Math.floor(deadlineMs / CHECKS_MIN), CHECK_EVERY_MAX_MS));
}

export class RunningTime {
  readonly #gapMaxMs: number;
  #askedAt: number;
  #ranMs = 0;

  /** `now` is of a clock that is never set back. It has to be asked every `everyMs` while somebody waits. */
  constructor(now: number, everyMs: number) {
    this.#gapMaxMs = 2 * everyMs;
    this.#askedAt = now;
  }

  /** The time since it was made in which this process was running. */
  at(now: number): number {
    this.#ranMs += Math.min(now - this.#askedAt, this.#gapMaxMs);
    this.#askedAt = now;
    return this.#ranMs;
  }
}
