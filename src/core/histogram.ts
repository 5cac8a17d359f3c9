// Counts durations into buckets: one addition an observation, read only when somebody looks.

export class Histogram {
  readonly counts: number[];
  sum = 0;

  /** `bounds` are upper bounds in seconds, ascending; one more bucket takes what is above. */
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
