// Limits how often a repeated event is logged: the first time, then at most once per interval with the count in between.

/** Calls `log` with the number of events since the last call, or only counts the event. */
export type Throttle = (now: number, log: (unlogged: number) => void) => void;

export function createThrottle(everyMs: number): Throttle {
  let loggedAt = Number.NEGATIVE_INFINITY;
  let unlogged = 0;
  return (now, log) => {
    if (Math.abs(now - loggedAt) < everyMs) {
      unlogged++;
      return;
    }
    log(unlogged);
    loggedAt = now;
    unlogged = 0;
  };
}
