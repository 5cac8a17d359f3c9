// The logs of one town: the four lists with the entries that they still show, and the record of all entries.
import { BoundedLog } from "./bounded-log.ts";
import { type EntryCount, EntryRecord, type RecordedEntries } from "./entry-record.ts";
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
