// Counts the use of every key in memory, and writes it to the store in batches: no request waits for a write. What is
// shown of a key's use is what the store has plus what is not written yet. A crash loses what is not written yet.
import { HOUR_MS } from "../../core/durations.ts";
import type { HourlyUsage, KeyDetails, UsageCount, UsageStore } from "../../core/ports/keys.ts";
import type { Log } from "../../core/ports/log.ts";
import {
  addCounts,
  addRefusals,
  type CountedKey,
  type HourCounts,
  hasCounts,
  NO_HOUR,
  takeCounts,
} from "./counted-key.ts";
import { UsageBacklog } from "./usage-backlog.ts";

/** The longest sleep after a batch. A batch may have taken long only because the machine stood still. */
const SLEEP_MAX_MS = 2_000;
/** With very many keys the sleeps are shorter, so that a flush takes at most this long: a crash loses what it has not written. */
const FLUSH_MAX_MS = 120_000;
/** How long a read waits for a batch with its key. Longer than any store needs to answer or to give up. */
const BATCH_WAIT_MS = 2_000;

export type WritePace = {
  /** Keys written at once. A larger batch holds up requests for longer. */
  readonly batchMax: number;
  /** After each batch, sleep this many times the batch's duration. */
  readonly sleepFactor: number;
};

export type UsageMeterDeps = {
  readonly store: UsageStore;
  readonly log: Log;
  readonly pace: WritePace;
  /** Sleeps, but not longer than until `wake` is aborted. */
  readonly pause: (ms: number, wake: AbortSignal) => Promise<void>;
};

/** What is being written now. The store may or may not have it already. */
type Batch = {
  readonly size: number;
  readonly byKey: ReadonlyMap<string, readonly HourCounts[]>;
  /** Aborted when the store has answered. */
  readonly settled: AbortController;
  /** Whether a read has waited for it in vain. */
  isOverdue: boolean;
};

/** A read of a key's usage from the store. Stale when a write of that key has begun or ended meanwhile. */
type StoreRead = { readonly keyId: string; isStale: boolean };

export class UsageMeter {
  /** The keys in use, one CountedKey for each. */
  readonly #busy = new Map<string, CountedKey>();
  readonly #backlog = new UsageBacklog();
  readonly #reads = new Set<StoreRead>();
  readonly #stopping = new AbortController();
  #batch: Batch | undefined;
  #flush: Promise<void> | undefined;
  #isFailing = false;

  constructor(private readonly deps: UsageMeterDeps) {}

  /** `code` is 0 for an answer without an error. */
  count(key: CountedKey, code: number, now: number): void {
    const hour = now - (now % HOUR_MS);
    if (key.hour !== hour) this.#startHour(key, hour);
    if (now > key.lastUsedAt) key.lastUsedAt = now;
    if (code === 0) key.fine++;
    else addRefusals(key, code, 1);
  }

  /** Adds the last use to a key that the store has just returned, because it may not be written yet. */
  withLastUse(key: KeyDetails): KeyDetails {
    let lastUsedAt = key.lastUsedAt ?? 0;
    for (const counts of this.#listUnwritten(key.keyId)) lastUsedAt = Math.max(lastUsedAt, counts.lastUsedAt);
    return lastUsedAt === 0 ? key : { ...key, lastUsedAt };
  }

  /** Like UsageStore.read, with what is not written yet. The same hour and code may come more than once. */
  async read(keyId: string, since: number): Promise<readonly UsageCount[]> {
    for (;;) {
      const batch = this.#batch;
      // Until the store has answered, nobody knows whether what it returns includes the batch.
      if (batch?.byKey.has(keyId) && !batch.isOverdue) {
        await this.deps.pause(BATCH_WAIT_MS, batch.settled.signal);
        batch.isOverdue = true;
        continue;
      }
      const read: StoreRead = { keyId, isStale: false };
      this.#reads.add(read);
      const stored = await this.deps.store.read(keyId, since).finally(() => this.#reads.delete(read));
      if (!read.isStale) return addUnwritten(stored, this.#listUnwritten(keyId), since);
    }
  }

  /** Writes everything counted so far, unless the store refuses. Joins a flush that is under way. Never throws. */
  flush(): Promise<void> {
    this.#flush ??= this.#writeAll().finally(() => {
      this.#flush = undefined;
    });
    return this.#flush;
  }

  /** Writes everything without sleeping, but gives up after `withinMs`. */
  async stop(withinMs: number): Promise<void> {
    this.#stopping.abort();
    const done = new AbortController();
    // A flush under way may already have written keys that were used again since.
    const whole = Promise.resolve(this.#flush).then(() => this.flush());
    void whole.then(() => done.abort());
    await this.deps.pause(withinMs, done.signal);
    if (!done.signal.aborted)
      this.deps.log.warn({ unwritten: this.size() }, "usage could not be written in time; it is lost");
  }

  /** How many entries are not in the store yet. Iterates over every key in use. */
  size(): number {
    let busy = 0;
    for (const key of this.#busy.values()) if (hasCounts(key)) busy++;
    return busy + this.#backlog.size + (this.#batch?.size ?? 0);
  }

  #startHour(key: CountedKey, hour: number): void {
    const listed = this.#busy.get(key.keyId);
    if (listed) {
      const counts = takeCounts(listed);
      listed.hour = NO_HOUR;
      key.lastUsedAt = Math.max(key.lastUsedAt, counts.lastUsedAt);
      if (counts.hour === hour) addCounts(key, counts);
      else if (hasCounts(counts)) this.#backlog.add(counts);
    }
    this.#busy.set(key.keyId, key);
    key.hour = hour;
  }

  *#listUnwritten(keyId: string): Generator<Readonly<HourCounts>> {
    const key = this.#busy.get(keyId);
    if (key) yield key;
    yield* this.#backlog.of(keyId);
    yield* this.#batch?.byKey.get(keyId) ?? [];
  }

  async #writeAll(): Promise<void> {
    const batches = (this.#busy.size + this.#backlog.size) / this.deps.pace.batchMax;
    const sleepMaxMs = Math.min(SLEEP_MAX_MS, FLUSH_MAX_MS / Math.max(1, batches));
    try {
      for (const batch of this.#takeBatches()) {
        const beganAt = performance.now();
        await this.#write(batch);
        const sleepMs = (performance.now() - beganAt) * this.deps.pace.sleepFactor;
        await this.#sleep(Math.min(sleepMs, sleepMaxMs));
      }
      this.#logHealth(true);
    } catch (error) {
      this.#logHealth(false, error);
    }
  }

  *#takeBatches(): Generator<HourCounts[]> {
    let batch: HourCounts[] = [];
    for (const counts of this.#takeAll()) {
      if (batch.push(counts) < this.deps.pace.batchMax) continue;
      yield batch;
      batch = [];
    }
    if (batch.length > 0) yield batch;
  }

  /** Takes each key's counts only when its batch is due: until then the key goes on counting. */
  *#takeAll(): Generator<HourCounts> {
    // In the order of the keys: neighbours share a page of the database. Strings are sorted ten times faster than objects.
    for (const keyId of [...this.#busy.keys()].sort()) {
      const key = this.#busy.get(keyId);
      if (key && hasCounts(key)) yield takeCounts(key);
      else if (key) this.#unlist(key);
    }
    // Last, because it may be long, and because an hour that ends during the flush adds to it.
    yield* this.#backlog.takeAll();
  }

  /** Only in the flush after the key's last write: a read of the store that began before that write still finds its last use here. */
  #unlist(key: CountedKey): void {
    key.hour = NO_HOUR;
    this.#busy.delete(key.keyId);
  }

  /** What the store refuses goes to the backlog. */
  async #write(entries: readonly HourCounts[]): Promise<void> {
    const batch: Batch = {
      size: entries.length,
      byKey: Map.groupBy(entries, ({ keyId }) => keyId),
      settled: new AbortController(),
      isOverdue: false,
    };
    this.#batch = batch;
    this.#markStale(batch);
    let refused: readonly HourCounts[] = entries;
    try {
      await this.deps.store.add(entries.map(toHourlyUsage));
      refused = [];
    } finally {
      this.#batch = undefined;
      for (const counts of refused) this.#backlog.add(counts);
      this.#markStale(batch);
      batch.settled.abort();
    }
  }

  #markStale({ byKey }: Batch): void {
    for (const read of this.#reads) if (byKey.has(read.keyId)) read.isStale = true;
  }

  /** Lets requests run that came during the batch, even when there is no time to sleep. */
  #sleep(ms: number): Promise<void> {
    const { signal } = this.#stopping;
    if (ms > 0 && !signal.aborted) return this.deps.pause(ms, signal);
    return new Promise((resolve) => setImmediate(resolve));
  }

  /** One line in the log for each time that writing begins to fail. */
  #logHealth(isWell: boolean, error?: unknown): void {
    if (!isWell && !this.#isFailing)
      this.deps.log.warn({ err: error }, "usage cannot be written now; it is kept in memory");
    this.#isFailing = !isWell;
  }
}

function addUnwritten(
  stored: readonly UsageCount[],
  unwritten: Iterable<Readonly<HourCounts>>,
  since: number,
): readonly UsageCount[] {
  const counts = [...stored];
  for (const { hour, fine, refusals } of unwritten) {
    if (hour < since) continue;
    if (fine > 0) counts.push({ hour, code: 0, count: fine });
    for (const [code, count] of refusals ?? []) counts.push({ hour, code, count });
  }
  return counts.sort((a, b) => a.hour - b.hour || a.code - b.code);
}

function toHourlyUsage({ keyId, hour, lastUsedAt, fine, refusals = new Map() }: HourCounts): HourlyUsage {
  const counts = fine > 0 ? new Map([[0, fine], ...refusals]) : refusals;
  return { keyId, hour, lastUsedAt, counts };
}
