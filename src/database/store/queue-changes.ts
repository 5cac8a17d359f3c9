// Changes of command queues. The row of a queue is locked while the queue is changed, so that all instances change it one
// after another. Changes of one process that come together share one transaction.
import { StoreUnavailable } from "../../core/errors.ts";
import type { Driver, Sql } from "../sql.ts";

/** The size limit of a transaction, so that its last change does not wait for long. */
const CHANGES_MAX = 256;
/** The others of the driver's connections are for everything else. */
const TRANSACTIONS_MAX = 2;

type Change = {
  readonly serverId: string;
  readonly apply: (sql: Sql) => Promise<void>;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
};

type Failure = { readonly error: unknown; readonly change?: Change };

type Batch = { readonly queues: Map<string, readonly Change[]>; failure: Failure | undefined };

/**
 * Locks the queues of these servers until the end of the transaction. All transactions lock them in the same order, so that
 * no two wait for each other. Statements that are sent after these need not wait for this promise.
 */
export async function lockQueues(sql: Sql, serverIds: readonly string[]): Promise<void> {
  const { valuesOf, isAmong, forUpdate } = sql.dialect;
  if (forUpdate === "") return;
  const ids = JSON.stringify(serverIds.toSorted());
  const [, locked] = await Promise.all([
    sql.run(
      `INSERT INTO queues (server_id, until, hold_ms, finished, cancelled)
       SELECT value, 0, 0, 0, 0 FROM (${valuesOf("?1", "text")}) AS given WHERE true ON CONFLICT DO NOTHING`,
      ids,
    ),
    sql.all(
      `SELECT server_id FROM queues WHERE ${isAmong("server_id", "?1", "text")} ORDER BY server_id ${forUpdate}`,
      ids,
    ),
  ]);
  if (locked.length < serverIds.length) throw new StoreUnavailable("a queue was deleted at the same time");
}

export class QueueChanges {
  /** By server, in the order in which they came. */
  readonly #waiting = new Map<string, Change[]>();
  /** The servers whose queues are being changed. */
  readonly #busy = new Set<string>();
  #transactions = 0;
  /** A transaction was asked for that has not taken its changes yet. */
  #isStarting = false;

  constructor(private readonly driver: Driver) {}

  /**
   * Makes a change of a server's queue, which is durable when this resolves. Changes of one queue are made one after another,
   * in the order of the calls. A change may be applied again after a transaction that was rolled back.
   */
  make<T>(serverId: string, change: (sql: Sql) => Promise<T>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    let value: T;
    const apply = async (sql: Sql) => {
      value = await change(sql);
    };
    const one: Change = { serverId, apply, resolve: () => resolve(value), reject };
    const waiting = this.#waiting.get(serverId);
    if (waiting) waiting.push(one);
    else this.#waiting.set(serverId, [one]);
    this.#start();
    return promise;
  }

  #start(): void {
    if (this.#isStarting || this.#transactions >= TRANSACTIONS_MAX) return;
    if (!this.#waiting.keys().some((serverId) => !this.#busy.has(serverId))) return;
    this.#isStarting = true;
    this.#transactions++;
    void this.#run({ queues: new Map(), failure: undefined });
  }

  async #run(batch: Batch): Promise<void> {
    const { queues } = batch;
    try {
      await this.driver.transact((sql) => {
        this.#take(queues);
        this.#isStarting = false;
        this.#start();
        return applyBatch(sql, batch);
      });
      for (const { resolve } of [...queues.values()].flat()) resolve();
    } catch (error) {
      this.#handleFailure(error, batch);
    } finally {
      if (queues.size === 0) this.#isStarting = false;
      this.#transactions--;
      for (const serverId of queues.keys()) this.#busy.delete(serverId);
      this.#start();
    }
  }

  /** Takes all waiting changes of a queue or none, unless they are too many for any transaction. */
  #take(queues: Map<string, readonly Change[]>): void {
    let count = 0;
    for (const [serverId, changes] of this.#waiting) {
      if (this.#busy.has(serverId)) continue;
      if (count > 0 && count + changes.length > CHANGES_MAX) return;
      const taken = changes.splice(0, CHANGES_MAX);
      if (changes.length === 0) this.#waiting.delete(serverId);
      count += taken.length;
      queues.set(serverId, taken);
      this.#busy.add(serverId);
    }
  }

  /** A database that is away refuses everybody at once. A change with a bug is refused alone, and the others are made again. */
  #handleFailure(error: unknown, { queues, failure }: Batch): void {
    const culprit = error instanceof StoreUnavailable ? undefined : failure?.change;
    if (culprit) {
      culprit.reject(error);
      for (const [serverId, changes] of queues) {
        const others = changes.filter((change) => change !== culprit);
        others.push(...(this.#waiting.get(serverId) ?? []));
        if (others.length > 0) this.#waiting.set(serverId, others);
      }
      return;
    }
    const refused = [...queues.values(), ...this.#waiting.values()].flat();
    this.#waiting.clear();
    for (const { reject } of refused) reject(error);
  }
}

/** Queues are independent of each other, so their statements are sent without waiting for those of the others. */
async function applyBatch(sql: Sql, batch: Batch): Promise<void> {
  const fail = (failure: Failure) => {
    batch.failure ??= failure;
  };
  // All of them must have ended before the transaction is rolled back, or a late one would write outside of it.
  await Promise.all([
    lockQueues(sql, [...batch.queues.keys()]).catch((error) => fail({ error })),
    ...batch.queues.values().map(async (changes) => {
      for (const change of changes) {
        if (batch.failure) return;
        await change.apply(sql).catch((error) => fail({ error, change }));
      }
    }),
  ]);
  if (batch.failure) throw batch.failure.error;
}
