// For what a flood could repeat a million times: the first is told, then one in a while, with how many there were.

export type Sampler = (now: number, tell: (unlogged: number) => void) => void;

export function createSampler(everyMs: number): Sampler {
  let toldAt = Number.NEGATIVE_INFINITY;
  let unlogged = 0;
  return (now, tell) => {
    if (Math.abs(now - toldAt) < everyMs) {
      unlogged++;
      return;
    }
    tell(unlogged);
    toldAt = now;
    unlogged = 0;
  };
}
