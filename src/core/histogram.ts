// A histogram of durations, for /metrics.

export class Histogram {
  readonly counts: number[];
  sum = 0;

  /** `bounds` are the upper bounds of the buckets in seconds, ascending. One more bucket counts longer durations. */
  constructor(readonly bounds: readonly number[]) {
    this.counts = new Array<number>(bounds.length + 1).fill(0);
  }

  observe(seconds: number): void {
    this.sum += seconds;
    let index = 0;
    while (index < this.bounds.length && seconds > (this.bounds[index] ?? 0)) index++;
    this.counts[index] = (this.counts[index] ?? 0) + 1;
  }
}
