// The clock, as a port so that tests can use a fake one.

/** Returns epoch milliseconds. */
export type Clock = () => number;

/** The longest delay of a timer: a longer one would fire at once. */
export const TIMER_MAX_MS = 2 ** 31 - 1;
