// Looks up values in the samples of /metrics.
import type { Sample } from "../../api/metrics-text.ts";

export class Metrics {
  readonly #byName: ReadonlyMap<string, readonly Sample[]>;

  constructor(samples: readonly Sample[]) {
    this.#byName = Map.groupBy(samples, ({ name }) => name);
  }

  /** All samples of a metric; the prefix `gatehouse_` can be left out. */
  list(name: string): readonly Sample[] {
    return this.#byName.get(`gatehouse_${name}`) ?? this.#byName.get(name) ?? [];
  }

  /** The first value of a metric; 0 when there is no sample. */
  value(name: string): number {
    return this.list(name)[0]?.value ?? 0;
  }

  /** The sums for each value of a label, largest first. */
  sumBy(name: string, label: string): [string, number][] {
    const sums = new Map<string, number>();
    for (const { labels, value } of this.list(name)) {
      const key = labels[label] ?? "";
      sums.set(key, (sums.get(key) ?? 0) + value);
    }
    return [...sums].toSorted(([, a], [, b]) => b - a);
  }
}
