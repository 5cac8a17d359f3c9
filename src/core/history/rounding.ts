// How the answers about the past are rounded: one rule for each kind of value, so that all answers agree.

/** Whole seconds that have passed. Rounded down, so that parts never add up to more than the whole. */
export function toSeconds(ms: number): number {
  return Math.floor(ms / 1000);
}

/** A lower and an upper bound in whole seconds, rounded outwards, so that they stay true. */
export function toSecondBounds(lowMs: number, highMs: number): [number, number] {
  return [Math.floor(lowMs / 1000), Math.ceil(highMs / 1000)];
}

/** An average over known time, to two decimals. */
export function toAverage(sumMs: number, knownMs: number): number {
  return Math.round((sumMs / knownMs) * 100) / 100;
}

const SHARE_STEPS = 10_000;

/** The known share of a time, to four decimals. It is 0 only when nothing is known, and 1 only when everything is. */
export function toShare(knownMs: number, wholeMs: number): number {
  if (knownMs <= 0) return 0;
  if (knownMs >= wholeMs) return 1;
  const steps = Math.round((knownMs / wholeMs) * SHARE_STEPS);
  return Math.min(SHARE_STEPS - 1, Math.max(1, steps)) / SHARE_STEPS;
}
