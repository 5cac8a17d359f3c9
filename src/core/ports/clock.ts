// The clock and its timers, as ports so that tests can use fake ones.

/** Returns epoch milliseconds. */
export type Clock = () => number;

/** Sleeps, but not longer than until `wake` is aborted. */
export type SleepUntilWoken = (ms: number, wake: AbortSignal) => Promise<void>;

/** The longest delay of a timer: a longer one would fire at once. */
export const TIMER_MAX_MS = 2 ** 31 - 1;
