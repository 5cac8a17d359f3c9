// Counts what every key does, in memory, and hands it to the store in batches: the way of a request waits for none of it.
// A crash loses what was not handed over yet, which is statistics only.
import type { ApiKey } from "../core/api-key.ts";
import type { Log, Store, UsageCell } from "../core/ports.ts";

export const HOUR_MS = 3_600_000;
/** Written in one go, so that a busy moment does not hold up requests. */
export const BATCH_MAX = 100;
/** A step that nobody waits for is followed by a rest that is so many times as long. */
const REST_FACTOR = 40;
/** Should a step have taken very long because the machine stood still. */
const REST_MAX_MS = 2_000;
/** Of hours that are over, and of what the store would not take: what is beyond this is dropped. */
export const WAITING_CELLS_MAX = 100_000;

const NO_HOUR = -1;

type Counts = {
  lastUsedAt: number;
  /** Answers without an error, which most are. */
  fine: number;
  refusals: Map<number, number> | undefined;
};

/**
 * A key with what it did since that was handed over last. Whoever knows the key has it at hand, so that counting looks
 * nothing up. A key may have several: one for each token, and a new one after each change.
 */
export type Account = ApiKey &
  Counts & {
    /** The hour that is counted, while there is something to hand over. */
    hour: number;
  };

/** What was counted in an hour that is over, or is on its way to the store. */
type Cell = Counts & { readonly keyId: string; readonly hour: number };

/** In one object with the key, field by field: there may be a hundred thousand, and each is one place in memory this way. */
export function openAccount(key: ApiKey): Account {
  return {
    keyId: key.keyId,
    serverId: key.serverId,
    grant: key.grant,
    expiresAt: key.expiresAt,
    limit: key.limit,
    hour: NO_HOUR,
    lastUsedAt: 0,
    fine: 0,
    refusals: undefined,
  };
}

export class UsageMeter {
  readonly #store: Pick<Store, "addUsage">;
  readonly #log: Log;
  readonly #batchMax: number;
  /** Those with something to hand over: one for each key. */
  #busy = new Map<string, Account>();
  /** What hours that are over have left, and what the store would not take, by key and hour. */
  #waiting = new Map<string, Cell>();
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
  count(account: Account, code: number, now: number): void {
    const hour = now - (now % HOUR_MS);
    if (account.hour !== hour) this.#begin(account, hour);
    if (now > account.lastUsedAt) account.lastUsedAt = now;
    if (code === 0) account.fine++;
    else addRefusals(account, code, 1);
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
    return this.#busy.size + this.#waiting.size + this.#leaving;
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
    const cells = [...inOrder(this.#waiting), ...inOrder(this.#busy).map(takeCounts)];
    this.#waiting = new Map();
    this.#busy = new Map();
    let isWell = true;
    for (let done = 0; done < cells.length; done += this.#batchMax) {
      this.#leaving = cells.length - done;
      const beganAt = performance.now();
      try {
        const batch = cells.slice(done, done + this.#batchMax);
        const refused = await this.#store.addUsage(batch.map(toUsageCell));
        for (const cell of refused) this.#keep(toCell(cell));
        isWell &&= refused.length === 0;
      } catch (error) {
        for (const cell of cells.slice(done)) this.#keep(cell);
        this.#leaving = 0;
        this.#noteHealth(false, error);
        return;
      }
      if (done + this.#batchMax < cells.length) await this.#rest((performance.now() - beganAt) * REST_FACTOR);
    }
    this.#leaving = 0;
    this.#noteHealth(isWell);
  }

  /** One line in the log for each time that it becomes bad. */
  #noteHealth(isWell: boolean, error?: unknown): void {
    if (!isWell && !this.#isFailing)
      this.#log.warn({ err: error }, "the use of keys cannot be saved now; it is kept in memory");
    this.#isFailing = !isWell;
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

  #begin(account: Account, hour: number): void {
    const { keyId } = account;
    const listed = this.#busy.get(keyId);
    const cell = listed && takeCounts(listed);
    if (cell && cell.hour !== hour) this.#keep(cell);
    this.#busy.set(keyId, account);
    account.hour = hour;
    if (cell?.hour === hour) addCounts(account, cell);
  }

  #keep(cell: Cell): void {
    const name = `${cell.keyId} ${cell.hour}`;
    const kept = this.#waiting.get(name);
    if (kept) addCounts(kept, cell);
    else if (this.#waiting.size < WAITING_CELLS_MAX) this.#waiting.set(name, cell);
  }
}

/** By key: neighbours share a page of the database. Plain text is sorted ten times faster than anything else. */
function inOrder<T>(byName: ReadonlyMap<string, T>): T[] {
  const names = [...byName.keys()].sort();
  return names.map((name) => byName.get(name)).filter((found) => found !== undefined);
}

/** The account starts over. */
function takeCounts(account: Account): Cell {
  const { keyId, hour, lastUsedAt, fine, refusals } = account;
  account.hour = NO_HOUR;
  account.fine = 0;
  account.refusals = undefined;
  return { keyId, hour, lastUsedAt, fine, refusals };
}

function addCounts(counts: Counts, { lastUsedAt, fine, refusals }: Counts): void {
  counts.lastUsedAt = Math.max(counts.lastUsedAt, lastUsedAt);
  counts.fine += fine;
  for (const [code, times] of refusals ?? []) addRefusals(counts, code, times);
}

function addRefusals(counts: Counts, code: number, times: number): void {
  counts.refusals ??= new Map();
  counts.refusals.set(code, (counts.refusals.get(code) ?? 0) + times);
}

function toCell({ keyId, hour, lastUsedAt, counts }: UsageCell): Cell {
  const refusals = new Map(counts);
  refusals.delete(0);
  return { keyId, hour, lastUsedAt, fine: counts.get(0) ?? 0, refusals };
}

function toUsageCell({ keyId, hour, lastUsedAt, fine, refusals = new Map() }: Cell): UsageCell {
  const counts = fine > 0 ? new Map([[0, fine], ...refusals]) : refusals;
  return { keyId, hour, lastUsedAt, counts };
}
