// The logs of one town: the four lists with the entries that they still show, and the record of all entries, so that a test
// can compare what a client knows with what happened.
import { LOG_LISTS, type LogEntries, type LoggedEntry, type LogList } from "./log-lists.ts";

export class TownLogs {
  /** How many entries each list shows. */
  readonly window: number;
  readonly #lists: { readonly [L in LogList]: BoundedLog<LogEntries[L]> };
  readonly #record: EntryRecord;

  constructor(window: number, count: EntryCount) {
    this.window = window;
    this.#record = new EntryRecord(count);
    this.#lists = {
      JoinLogs: new BoundedLog(window),
      KillLogs: new BoundedLog(window),
      CommandLogs: new BoundedLog(window),
      ModCalls: new BoundedLog(window),
    };
  }

  add<L extends LogList>(list: L, entry: LogEntries[L]): void {
    this.#lists[list].add(entry);
    this.#record.add({ list, entry } as LoggedEntry);
  }

  /** Newest first; at most the window. */
  newest<L extends LogList>(list: L, count?: number): readonly LogEntries[L][] {
    return this.#lists[list].newest(count);
  }

  /** Empties the four lists. The record stays. */
  forget(): void {
    for (const list of LOG_LISTS) this.#lists[list].clear();
  }

  /** The recorded entries from this index on, oldest first. */
  listRecorded(since: number): RecordedEntries {
    return this.#record.list(since);
  }

  /** Begins the record anew, with what the lists show now. */
  restartRecord(): void {
    const shown = new Set<object>(LOG_LISTS.flatMap((list) => this.newest(list)));
    this.#record.restart((entry) => shown.has(entry));
  }

  /** Frees the record's share of the entries that are kept for all towns. */
  dropRecord(): void {
    this.#record.clear();
  }
}

export class BoundedLog<T> {
  /** Oldest first, so that adding is cheap however large the log is. */
  #entries: T[] = [];

  constructor(private readonly sizeMax: number) {}

  add(entry: T): void {
    this.#entries.push(entry);
    if (this.#entries.length >= 2 * this.sizeMax) this.#entries = this.#entries.slice(-this.sizeMax);
  }

  /** Newest first, as the game API lists them. */
  newest(count = this.sizeMax): readonly T[] {
    const shown = Math.min(count, this.sizeMax, this.#entries.length);
    return this.#entries.slice(this.#entries.length - shown).reverse();
  }

  clear(): void {
    this.#entries = [];
  }
}

/** How many entries of one town are kept. */
export const ENTRIES_MAX = 200_000;
/** How many entries of all towns together are kept. */
export const ENTRIES_TOTAL_MAX = 1_000_000;

/** How many entries all records that share it keep now. */
export type EntryCount = { total: number };

/** `isTruncated`: some of the requested entries are no longer kept. `next` is the index after the newest entry. */
type RecordedEntries = { entries: LoggedEntry[]; next: number; isTruncated: boolean };

/** Beyond its limits a record drops its own oldest entries. */
export class EntryRecord {
  /** By index, oldest first. */
  #entries = new Map<number, LoggedEntry>();
  #nextIndex = 0;

  constructor(private readonly count: EntryCount) {}

  add(logged: LoggedEntry): void {
    this.#entries.set(this.#nextIndex++, logged);
    this.count.total++;
    if (this.#entries.size > ENTRIES_MAX || this.count.total > ENTRIES_TOTAL_MAX) this.#dropOldest();
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
    this.count.total -= this.#entries.size;
    this.#entries = new Map();
  }

  #dropOldest(): void {
    this.#entries.delete(this.#nextIndex - this.#entries.size);
    this.count.total--;
  }
}
