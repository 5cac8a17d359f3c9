// The calls that the simulator has received, for tests and for debugging. Holds no complete server key.

/** How many calls are kept. The totals also count the calls that were dropped. */
export const CALLS_MAX = 2000;
const PATH_SHOWN_MAX = 200;

export type CallRecord = {
  index: number;
  /** Epoch milliseconds by the simulator's clock. */
  at: number;
  method: string;
  path: string;
  kind: "read" | "command" | "other";
  /** The part of the server key after the hyphen. */
  server: string;
  sections: readonly string[];
  command?: string;
  /** Null until the call is answered; stays null when a fault leaves it without an answer. */
  status: number | null;
  code?: number;
  fault?: string;
};

export type CallTotals = { reads: number; commands: number; refused: number; limited: number };

/** `next` is the `since` that continues where this list ends. */
export type CallList = { calls: CallRecord[]; next: number; totals: CallTotals };

export class CallLog {
  #calls: CallRecord[] = [];
  #nextIndex = 0;
  #totals: CallTotals = emptyTotals();

  /** Adds a call when it arrives; `finish` adds its answer. */
  record(call: Omit<CallRecord, "index" | "status">): CallRecord {
    const path = call.path.slice(0, PATH_SHOWN_MAX);
    const entry: CallRecord = { index: this.#nextIndex++, ...call, path, status: null };
    this.#calls.push(entry);
    if (this.#calls.length > CALLS_MAX) this.#calls.shift();
    if (call.kind === "read") this.#totals.reads++;
    if (call.kind === "command") this.#totals.commands++;
    return entry;
  }

  /** `refused` counts every answer of 400 and above, `limited` the 429s among them. */
  finish(entry: CallRecord, status: number, code: number | undefined): void {
    entry.status = status;
    if (code !== undefined) entry.code = code;
    if (status >= 400) this.#totals.refused++;
    if (status === 429) this.#totals.limited++;
  }

  /** Oldest first. */
  list(since = 0): CallList {
    const calls = this.#calls.filter(({ index }) => index >= since);
    return { calls, next: this.#nextIndex, totals: { ...this.#totals } };
  }

  clear(): void {
    this.#calls = [];
    this.#totals = emptyTotals();
  }
}

function emptyTotals(): CallTotals {
  return { reads: 0, commands: 0, refused: 0, limited: 0 };
}
