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
/** While the store takes nothing: what is counted beyond this is dropped. */
export const WAITING_CELLS_MAX = 100_000;

const NO_HOUR = -1;

/** A key with what it did since that was handed over last. Whoever knows the key has it at hand, so counting looks nothing up. */
export type Account = {
  readonly key: ApiKey;
  /** The hour that is counted, while there is something to hand over. */
  hour: number;
  lastUsedAt: number;
  /** Answers without an error, which most are. */
  fine: number;
  refusals: Map<number, number> | undefined;
};

export function openAccount(key: ApiKey): Account {
  return { key, hour: NO_HOUR, lastUsedAt: 0, fine: 0, refusals: undefined };
}

export class UsageMeter {
  readonly #store: Pick<Store, "addUsage">;
  readonly #log: Log;
  readonly #batchMax: number;
  /** Those with something to hand over, by key. */
  #busy = new Map<string, Account>();
  /** Counts of hours that are over, and those that the store would not take, by key and hour. */
  #waiting = new Map<string, Account>();
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
    account.lastUsedAt = now;
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
    const accounts = [...inOrder(this.#waiting), ...inOrder(this.#busy)];
    this.#waiting = new Map();
    this.#busy = new Map();
    for (let done = 0; done < accounts.length; done += this.#batchMax) {
      this.#leaving = accounts.length - done;
      const beganAt = performance.now();
      // Only now: until its turn comes, an account goes on counting.
      const taken = accounts
        .slice(done, done + this.#batchMax)
        .filter(hasCounts)
        .map(takeCounts);
      try {
        if (taken.length > 0) await this.#store.addUsage(taken.map(toUsageCell));
        this.#isFailing = false;
      } catch (error) {
        for (const counts of taken) this.#keep(counts);
        for (const account of accounts.slice(done + this.#batchMax)) this.#setAside(account);
        this.#leaving = 0;
        if (!this.#isFailing)
          this.#log.warn({ err: error }, "the use of keys cannot be saved now; it is kept in memory");
        this.#isFailing = true;
        return;
      }
      if (done + this.#batchMax < accounts.length)
        await this.#rest((performance.now() - beganAt) * REST_FACTOR);
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

  #begin(account: Account, hour: number): void {
    this.#setAside(account);
    // The same key as it was before a change to it.
    const former = this.#busy.get(account.key.keyId);
    if (former) this.#setAside(former);
    this.#busy.set(account.key.keyId, account);
    account.hour = hour;
  }

  #setAside(account: Account): void {
    if (hasCounts(account)) this.#keep(takeCounts(account));
  }

  #keep(counts: Account): void {
    const name = `${counts.key.keyId} ${counts.hour}`;
    const kept = this.#waiting.get(name);
    if (!kept) {
      if (this.#waiting.size < WAITING_CELLS_MAX) this.#waiting.set(name, counts);
      return;
    }
    kept.lastUsedAt = Math.max(kept.lastUsedAt, counts.lastUsedAt);
    kept.fine += counts.fine;
    for (const [code, times] of counts.refusals ?? []) addRefusals(kept, code, times);
  }
}

/** In the order of their keys: neighbours share a page of the database. Plain text is sorted ten times faster than anything else. */
function inOrder(byName: ReadonlyMap<string, Account>): Account[] {
  const names = [...byName.keys()].sort();
  return names.map((name) => byName.get(name)).filter((account) => account !== undefined);
}

function hasCounts(account: Account): boolean {
  return account.hour !== NO_HOUR;
}

/** A copy with the counts; the account itself starts over. */
function takeCounts(account: Account): Account {
  const taken = { ...account };
  account.hour = NO_HOUR;
  account.fine = 0;
  account.refusals = undefined;
  return taken;
}

function addRefusals(account: Account, code: number, times: number): void {
  account.refusals ??= new Map();
  account.refusals.set(code, (account.refusals.get(code) ?? 0) + times);
}

function toUsageCell({ key, hour, lastUsedAt, fine, refusals = new Map() }: Account): UsageCell {
  const counts = fine > 0 ? new Map([[0, fine], ...refusals]) : refusals;
  return { keyId: key.keyId, hour, lastUsedAt, counts };
}
