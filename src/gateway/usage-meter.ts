// Counts what every key does, in memory, and hands it to the store in batches: the way of a request waits for none of it.
// A crash loses what was not handed over yet, which is statistics only.
import type { Log, Store, UsageCell } from "../core/ports.ts";

export const HOUR_MS = 3_600_000;
/** Written in one go, so that a busy moment does not hold up requests. */
export const BATCH_MAX = 100;
/** A step that nobody waits for is followed by a rest that is so many times as long. */
const REST_FACTOR = 40;
/** Should a step have taken very long because the machine stood still. */
const REST_MAX_MS = 2_000;
/** While the store takes nothing: what is counted beyond this is dropped. */
export const WAITING_CELLS_MAX = 100_000;

type OpenCell = {
  readonly keyId: string;
  readonly hour: number;
  lastUsedAt: number;
  /** Answers without an error, which most are. */
  fine: number;
  refused: Map<number, number> | undefined;
};

export class UsageMeter {
  readonly #store: Pick<Store, "addUsage">;
  readonly #log: Log;
  readonly #batchMax: number;
  #open = new Map<string, OpenCell>();
  /** Cells of hours that are over, and those that the store would not take, by key and hour. */
  #waiting = new Map<string, OpenCell>();
  /** How many are being handed over, and not in the store yet. */
  #leaving = 0;
  #handover: Promise<void> = Promise.resolve();
  /** Hand-overs under way and waiting for their turn. */
  #queued = 0;
  /** How many wait for a hand-over; while somebody does, there is no rest. */
  #hurried = 0;
  #endRest = () => {};
  #isFailing = false;

  constructor(store: Pick<Store, "addUsage">, log: Log, batchMax = BATCH_MAX) {
    this.#store = store;
    this.#log = log;
    this.#batchMax = batchMax;
  }

  /** `code` is 0 for an answer without an error. */
  count(keyId: string, code: number, now: number): void {
    const hour = now - (now % HOUR_MS);
    let cell = this.#open.get(keyId);
    if (cell === undefined || cell.hour !== hour) {
      if (cell) this.#keep(cell);
      cell = { keyId, hour, lastUsedAt: now, fine: 0, refused: undefined };
      this.#open.set(keyId, cell);
    }
    cell.lastUsedAt = now;
    if (code === 0) cell.fine++;
    else addRefusals(cell, code, 1);
  }

  /** Resolves when everything counted so far is in the store, or the store has refused it. Never throws. */
  async handOver(): Promise<void> {
    this.#hurried++;
    this.#endRest();
    await this.#queueHandOver();
    this.#hurried--;
  }

  /** The same for when nobody waits: with very many keys in use, writing them must not hold up their requests. */
  handOverGently(): Promise<void> {
    return this.#queued > 0 ? this.#handover : this.#queueHandOver();
  }

  size(): number {
    return this.#open.size + this.#waiting.size + this.#leaving;
  }

  #queueHandOver(): Promise<void> {
    this.#queued++;
    this.#handover = this.#handover
      .then(() => this.#handOverAll())
      .then(() => {
        this.#queued--;
      });
    return this.#handover;
  }

  async #handOverAll(): Promise<void> {
    if (this.size() === 0) return;
    // In the order of their keys: neighbours share a page of the database.
    const cells = [...this.#waiting.values(), ...this.#open.values()].sort(byKey);
    this.#waiting = new Map();
    this.#open = new Map();
    for (let done = 0; done < cells.length; done += this.#batchMax) {
      this.#leaving = cells.length - done;
      const beganAt = performance.now();
      try {
        await this.#store.addUsage(cells.slice(done, done + this.#batchMax).map(toUsageCell));
        this.#isFailing = false;
      } catch (error) {
        for (const cell of cells.slice(done)) this.#keep(cell);
        this.#leaving = 0;
        if (!this.#isFailing)
          this.#log.warn({ err: error }, "the use of keys cannot be saved now; it is kept in memory");
        this.#isFailing = true;
        return;
      }
      if (done + this.#batchMax < cells.length) await this.#rest((performance.now() - beganAt) * REST_FACTOR);
    }
    this.#leaving = 0;
  }

  async #rest(ms: number): Promise<void> {
    // Requests that came meanwhile go first, even before those in a hurry.
    if (this.#hurried > 0) return new Promise((resolve) => setImmediate(resolve));
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, Math.min(ms, REST_MAX_MS));
    this.#endRest = resolve;
    await promise;
    clearTimeout(timer);
  }

  #keep(cell: OpenCell): void {
    const name = `${cell.keyId} ${cell.hour}`;
    const kept = this.#waiting.get(name);
    if (!kept) {
      if (this.#waiting.size < WAITING_CELLS_MAX) this.#waiting.set(name, cell);
      return;
    }
    kept.lastUsedAt = Math.max(kept.lastUsedAt, cell.lastUsedAt);
    kept.fine += cell.fine;
    for (const [code, times] of cell.refused ?? []) addRefusals(kept, code, times);
  }
}

function byKey(a: OpenCell, b: OpenCell): number {
  if (a.keyId === b.keyId) return a.hour - b.hour;
  return a.keyId < b.keyId ? -1 : 1;
}

function addRefusals(cell: OpenCell, code: number, times: number): void {
  cell.refused ??= new Map();
  cell.refused.set(code, (cell.refused.get(code) ?? 0) + times);
}

function toUsageCell({ keyId, hour, lastUsedAt, fine, refused = new Map() }: OpenCell): UsageCell {
  const counts = fine > 0 ? new Map([[0, fine], ...refused]) : refused;
  return { keyId, hour, lastUsedAt, counts };
}
