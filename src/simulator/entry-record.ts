// Records every log entry of a town, also those that the lists no longer show, so that a test can compare what a client
// knows with what happened. Only `GET /_entries` reads it.
import type { LoggedEntry } from "./log-lists.ts";

/** How many entries of one town are kept. */
export const ENTRIES_MAX = 200_000;
/** How many entries of all towns together are kept. */
export const ENTRIES_TOTAL_MAX = 1_000_000;

/** How many entries all records that share it keep now. */
export type EntryCount = { total: number };

/** `isTruncated`: some of the requested entries are no longer kept. `next` is the index after the newest entry. */
export type RecordedEntries = { entries: LoggedEntry[]; next: number; isTruncated: boolean };

/** Beyond its limits a record drops its own oldest entries. */
export class EntryRecord {
  readonly #count: EntryCount;
  /** By index, oldest first. */
  #entries = new Map<number, LoggedEntry>();
  #nextIndex = 0;

  constructor(count: EntryCount) {
    this.#count = count;
  }

  add(logged: LoggedEntry): void {
    this.#entries.set(this.#nextIndex++, logged);
    this.#count.total++;
    if (this.#entries.size > ENTRIES_MAX || this.#count.total > ENTRIES_TOTAL_MAX) this.#dropOldest();
  }

  /** Drops all entries that the lists no longer show, and numbers the rest anew, from 0. */
  restart(isShown: (entry: object) => boolean): void {
    const shown = [...this.#entries.values()].filter(({ entry }) => isShown(entry));
    this.clear();
    this.#nextIndex = 0;
    for (const logged of shown) this.add(logged);
  }

  /** The entries from this index on, oldest first. */
  list(since: number): RecordedEntries {
    const oldest = this.#nextIndex - this.#entries.size;
    const entries: LoggedEntry[] = [];
    for (let index = Math.max(since, oldest); index < this.#nextIndex; index++) {
      const logged = this.#entries.get(index);
      if (logged) entries.push(logged);
    }
    return { entries, next: this.#nextIndex, isTruncated: since < oldest };
  }

  /** Drops everything. */
  clear(): void {
    this.#count.total -= this.#entries.size;
    this.#entries = new Map();
  }

  #dropOldest(): void {
    this.#entries.delete(this.#nextIndex - this.#entries.size);
    this.#count.total--;
  }
}
