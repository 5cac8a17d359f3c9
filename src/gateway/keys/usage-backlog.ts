// Usage that was taken out of its key and is not written: from hours that are over, and from writes that failed.
import { addCounts, type HourCounts } from "./counted-key.ts";

/** Entries beyond this are dropped. */
export const BACKLOG_MAX = 500_000;

export class UsageBacklog {
  /** By key and hour. */
  readonly #hours = new Map<string, Map<number, HourCounts>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(counts: HourCounts): void {
    const { keyId, hour } = counts;
    const hours = this.#hours.get(keyId);
    const kept = hours?.get(hour);
    if (kept) addCounts(kept, counts);
    else if (this.#size < BACKLOG_MAX) {
      this.#size++;
      if (hours) hours.set(hour, counts);
      else this.#hours.set(keyId, new Map([[hour, counts]]));
    }
  }

  /** The entries of a key. */
  of(keyId: string): Iterable<HourCounts> {
    return this.#hours.get(keyId)?.values() ?? [];
  }

  /** Removes each entry only when it is yielded: a caller that stops early leaves the others here. */
  *takeAll(): Generator<HourCounts> {
    for (const keyId of [...this.#hours.keys()].sort()) {
      for (const counts of [...this.of(keyId)]) {
        this.#delete(counts);
        yield counts;
      }
    }
  }

  #delete({ keyId, hour }: HourCounts): void {
    const hours = this.#hours.get(keyId);
    if (!hours?.delete(hour)) return;
    this.#size--;
    if (hours.size === 0) this.#hours.delete(keyId);
  }
}
