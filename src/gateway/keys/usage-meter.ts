// Counts what every key does, in memory, and hands it to the store in batches: the way of a request waits for none of it.
// A crash loses what was not handed over yet, which is statistics only.
import type { ApiKey } from "../../core/api-key.ts";
import type { Log } from "../../core/ports/log.ts";
import type { UsageCell, UsageStore } from "../../core/ports/usage.ts";

export const HOUR_MS = 3_600_000;
/** Written in one go, so that a busy moment does not hold up requests. */
export const BATCH_MAX = 100;
/** A step that nobody waits for is followed by a rest that is so many times as long. */
const REST_FACTOR = 100;
/** Should a step have taken very long because the machine stood still. */
const REST_MAX_MS = 2_000;
/** With very many keys the rests are shorter: a hand-over should take no longer than this, because a crash loses it. */
const HAND_OVER_MAX_MS = 120_000;
/** Of hours that are over, and of what the store would not take: what is beyond this is dropped. */
export const WAITING_CELLS_MAX = 500_000;

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
    /** The hour that is counted, while it is listed to be handed over. */
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
    hour: NO_HOUR,
    lastUsedAt: 0,
    fine: 0,
    refusals: undefined,
  };
}

export class UsageMeter {
  readonly #store: Pick<UsageStore, "add">;
  readonly #log: Log;
  readonly #batchMax: number;
  /** Those in use, one for each key. They stay listed from one hand-over to the next, unless they had nothing to tell. */
  readonly #busy = new Map<string, Account>();
  /** What hours that are over have left, and what the store would not take, by key and hour. */
  readonly #waiting = new Map<string, Cell>();
  /** How many are being handed over, and not in the store yet. */
  #leaving = 0;
  #handover: Promise<void> = Promise.resolve();
  /** Hand-overs under way and waiting for their turn. */
  #queued = 0;
  /** How many wait for a hand-over; while somebody does, there is no rest. */
  #hurried = 0;
  #endRest = () => {};
  #restMaxMs = REST_MAX_MS;
  #isFailing = false;

  constructor(store: Pick<UsageStore, "add">, log: Log, batchMax = BATCH_MAX) {
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

  /** How much is not in the store yet. Looks at every key in use. */
  size(): number {
    let busy = 0;
    for (const account of this.#busy.values()) if (hasCounts(account)) busy++;
    return busy + this.#waiting.size + this.#leaving;
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
    const batches = (this.#busy.size + this.#waiting.size) / this.#batchMax;
    this.#restMaxMs = Math.min(REST_MAX_MS, HAND_OVER_MAX_MS / Math.max(1, batches));
    const refused: Cell[] = [];
    try {
      await this.#tellAll(this.#takeBusy(), refused);
      // Afterwards: an hour that ends meanwhile leaves more here.
      await this.#tellAll(this.#takeWaiting(), refused);
      this.#noteHealth(refused.length === 0);
    } catch (error) {
      this.#noteHealth(false, error);
    }
    this.#leaving = 0;
    for (const cell of refused) this.#keep(cell);
  }

  /** Each when it is asked for: until then an account goes on counting. Who has nothing to tell is not listed any more. */
  *#takeBusy(): Generator<Cell> {
    for (const [keyId, account] of inOrder(this.#busy)) {
      if (hasCounts(account)) yield takeCounts(account);
      else {
        account.hour = NO_HOUR;
        this.#busy.delete(keyId);
      }
    }
  }

  *#takeWaiting(): Generator<Cell> {
    for (const [name, cell] of inOrder(this.#waiting)) {
      this.#waiting.delete(name);
      yield cell;
    }
  }

  async #tellAll(cells: Iterable<Cell>, refused: Cell[]): Promise<void> {
    let batch: Cell[] = [];
    for (const cell of cells) {
      if (batch.push(cell) < this.#batchMax) continue;
      await this.#tell(batch, refused);
      batch = [];
    }
    if (batch.length > 0) await this.#tell(batch, refused);
  }

  /** Adds to `refused` what the store would not take now, and throws when it takes nothing at all. */
  async #tell(cells: readonly Cell[], refused: Cell[]): Promise<void> {
    this.#leaving = refused.length + cells.length;
    const beganAt = performance.now();
    try {
      for (const cell of await this.#store.add(cells.map(toUsageCell))) refused.push(toCell(cell));
    } catch (error) {
      refused.push(...cells);
      throw error;
    }
    this.#leaving = refused.length;
    await this.#rest((performance.now() - beganAt) * REST_FACTOR);
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
    const timer = setTimeout(resolve, Math.min(ms, this.#restMaxMs));
    this.#endRest = resolve;
    await promise;
    clearTimeout(timer);
  }

  #begin(account: Account, hour: number): void {
    const { keyId } = account;
    const listed = this.#busy.get(keyId);
    const cell = listed && hasCounts(listed) ? takeCounts(listed) : undefined;
    if (cell && cell.hour !== hour) this.#keep(cell);
    if (listed) listed.hour = NO_HOUR;
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
function* inOrder<T>(named: ReadonlyMap<string, T>): Generator<[name: string, found: T]> {
  for (const name of [...named.keys()].sort()) {
    const found = named.get(name);
    if (found !== undefined) yield [name, found];
  }
}

function hasCounts({ fine, refusals }: Counts): boolean {
  return fine > 0 || refusals !== undefined;
}

/** The account starts over. */
function takeCounts(account: Account): Cell {
  const { keyId, hour, lastUsedAt, fine, refusals } = account;
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
