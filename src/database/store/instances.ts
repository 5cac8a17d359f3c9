// Which instances live, on PostgreSQL: each has a row with an id and renews it twice a second. A row that is not renewed for
// five seconds, by the database's clock, is deleted by another instance. Then every transaction under its id is refused.
import { randomBytes } from "node:crypto";
import { StartRefused, StoreUnavailable } from "../../core/errors.ts";
import { randomBase62 } from "../../core/keys/token.ts";
import type { InstanceLease } from "../../core/ports/instance-lease.ts";
import type { Log } from "../../core/ports/log.ts";
import { createThrottle } from "../../core/throttle.ts";
import type { DatabaseClock } from "../database-clock.ts";
import { Fenced } from "../postgres.ts";
import type { Driver, Sql } from "../sql.ts";
import { DatabaseLease } from "./leases.ts";

export const BEAT_EVERY_MS = 500;
/** Of PostgreSQL's reply to a heartbeat. Instances and operators learn within three seconds that it is away. */
export const BEAT_DEADLINE_MS = 1_500;
/** An instance that was not seen for so long counts as dead. */
export const INSTANCE_LIVES_MS = 5_000;
const ID_LENGTH = 20;
const FAULT_LOG_MS = 60_000;

/** The database's clock, so that the machines' clocks do not matter. */
const NOW = "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint)";
const BEAT = `UPDATE instances SET seen_at = ${NOW} WHERE instance_id = ?1
  RETURNING seen_at AS now, (SELECT version FROM directory WHERE id = 1) AS version,
    (SELECT count(*) FROM instances WHERE instance_id <> ?1 AND seen_at > ${NOW} - ${INSTANCE_LIVES_MS}) AS others,
    (SELECT count(*) FROM instances AS other WHERE other.seen_at > ${NOW} - ${INSTANCE_LIVES_MS}
      AND (other.started_at, other.instance_id) < (instances.started_at, instances.instance_id)) AS older,
    (SELECT count(*) FROM instances WHERE instance_id <> ?1 AND seen_at <= ${NOW} - ${INSTANCE_LIVES_MS}) AS dead`;
// A row that a transaction of its instance has locked is left for the next beat: that instance may be alive after all.
const LIST_DEAD = `SELECT instance_id, seen_at FROM instances
  WHERE instance_id <> ?1 AND seen_at <= ${NOW} - ${INSTANCE_LIVES_MS} FOR UPDATE SKIP LOCKED`;

type Dead = { readonly instance_id: string; readonly seen_at: number };

type Beat = {
  readonly now: number;
  readonly version: number | null;
  readonly others: number;
  readonly older: number;
  readonly dead: number;
};

/** Another instance that must not be there together with this one. */
type Rival = { readonly instanceId: string; readonly seenAt: number; readonly redis: string };

type Registration = { readonly instanceId: string; readonly redisId: string; readonly others: number };

/** Marks commands that no living instance is sending any more as unknown, within the transaction. */
export type MarkAbandoned = (sql: Sql, now: number) => Promise<unknown>;

export type InstancesDeps = {
  /** Has a connection of its own, no fence and BEAT_DEADLINE_MS: no other query delays the heartbeat. */
  readonly pulse: Driver;
  /** With this instance's fence. */
  readonly driver: Driver;
  readonly clock: DatabaseClock;
  readonly log: Log;
  /** Whether it shares a Redis with others. Without one it must be the only instance. */
  readonly isShared: boolean;
  readonly markAbandoned: MarkAbandoned;
  readonly sleep?: ((ms: number) => Promise<void>) | undefined;
  /** Replaces the monotonic clock in tests. */
  readonly ownTicks?: (() => number) | undefined;
};

export class Instances {
  readonly #sleep: (ms: number) => Promise<void>;
  readonly #ticks: () => number;
  readonly #throttleFault = createThrottle(FAULT_LOG_MS);
  #registration: Registration | undefined;
  #isUp = true;
  /** Monotonic: when this instance was registered, or heartbeats were answered again. */
  #upSince = Number.NEGATIVE_INFINITY;
  #others = 0;
  #older = 0;
  #timer: NodeJS.Timeout | undefined;
  #beating: Promise<void> | undefined;
  #reaping: Promise<void> | undefined;
  #isStopped = false;
  /** Called with the directory's version at each beat. Must not throw. */
  onVersion: ((version: number) => void) | undefined;
  /** Called when the database went away or came back, and when this instance got another id. */
  readonly onChange = new Set<() => void>();
  /** Called when this instance must end: another one has taken its place, or shares another Redis. */
  onReplaced: ((error: StartRefused) => void) | undefined;

  constructor(private readonly deps: InstancesDeps) {
    this.#sleep = deps.sleep ?? Bun.sleep;
    this.#ticks = deps.ownTicks ?? (() => performance.now());
  }

  /** The fencing token of what this instance does. Undefined before `start`. */
  get instanceId(): string | undefined {
    return this.#registration?.instanceId;
  }

  /** What all instances that share a Redis keep in it, so that one with another Redis is noticed. */
  get redisId(): string {
    return this.#registration?.redisId ?? "";
  }

  /** Whether the last heartbeat was answered. */
  get isUp(): boolean {
    return this.#isUp;
  }

  /** How far this machine's clock was ahead of PostgreSQL's at the last beats, at least. */
  get clockOffsetMs(): number {
    return this.deps.clock.offsetMs;
  }

  /** How many instances there were at the last beat. */
  get count(): number {
    return this.#others + 1;
  }

  /** Whether no living instance was there before this one, at the last beat. */
  get isOldest(): boolean {
    return this.#older === 0;
  }

  lease(name: string): InstanceLease {
    return new DatabaseLease(this.deps.driver, name, () => this.instanceId);
  }

  /** Registers this instance, and begins to renew. Throws StartRefused beside rivals, StoreUnavailable without a database. */
  async start(): Promise<void> {
    await this.#register();
    this.#schedule();
  }

  /** Takes this instance off the list, so that others need not wait for it. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#beating;
    await this.reaped();
    const { instanceId } = this;
    if (instanceId === undefined || !this.#isUp) return;
    const { pulse, markAbandoned } = this.deps;
    const leaving = pulse.transact(async (sql) => {
      await sql.run("DELETE FROM instances WHERE instance_id = ?1", instanceId);
      await markAbandoned(sql, await readNow(sql));
    });
    await leaving.catch(() => {});
  }

  /** A beat now, or the one under way. Called when a query failed: whether the database is away is known soon. */
  beat(): Promise<void> {
    if (this.#isStopped || this.instanceId === undefined) return Promise.resolve();
    clearTimeout(this.#timer);
    this.#beating ??= this.#beatNow().finally(() => {
      this.#beating = undefined;
      this.#schedule();
    });
    return this.#beating;
  }

  /** Resolves when no dead instances are being taken off the list. */
  async reaped(): Promise<void> {
    await this.#reaping;
  }

  #schedule(): void {
    clearTimeout(this.#timer);
    if (this.#isStopped) return;
    this.#timer = setTimeout(() => void this.beat(), BEAT_EVERY_MS);
    this.#timer.unref();
  }

  async #beatNow(): Promise<void> {
    const { pulse, log, isShared } = this.deps;
    const sentAt = Date.now();
    try {
      const row = await pulse.query((sql) => sql.get<Beat>(BEAT, this.instanceId ?? ""));
      if (row) return this.#take(row, sentAt);
      log.warn({}, "this instance was not seen for too long and counts as dead; what it was sending is unknown");
      await this.#register();
      log.info({ shared: isShared }, "this instance goes on under a new id");
    } catch (error) {
      if (error instanceof StartRefused) return this.#end(error);
      this.#noteFault(error);
    }
  }

  #take({ now, version, others, older, dead }: Beat, sentAt: number): void {
    this.deps.clock.learn(now, sentAt, Date.now());
    this.#others = others;
    this.#older = older;
    this.#setUp(true);
    if (version !== null) this.onVersion?.(version);
    // After PostgreSQL was away, perhaps before this start, the others get the time to be seen again.
    const hasSeenAllMs = this.#ticks() - this.#upSince;
    if (dead > 0 && hasSeenAllMs >= INSTANCE_LIVES_MS) this.#reap();
  }

  #setUp(isUp: boolean): void {
    if (this.#isUp === isUp) return;
    this.#isUp = isUp;
    this.#upSince = this.#ticks();
    const { log } = this.deps;
    if (isUp) log.info({}, "PostgreSQL answers again");
    this.#tellChange();
  }

  #tellChange(): void {
    for (const listener of this.onChange) listener();
  }

  /** On a connection of the other queries, because it may wait for locks. */
  #reap(): void {
    const { driver, markAbandoned, log } = this.deps;
    this.#reaping ??= driver
      .transact((sql) => reap(sql, this.instanceId, markAbandoned))
      .then((dead) => {
        if (dead.length > 0) log.warn({ instances: dead }, "instances that were not seen count as dead now");
      })
      // Another beat tries again; whether the database is away is for beats to tell.
      .catch((error) => log.warn({ err: error }, "dead instances could not be taken off the list"))
      .finally(() => {
        this.#reaping = undefined;
      });
  }

  /** A rival that was killed is waited for; one that lives is a reason to end. */
  async #register(): Promise<void> {
    const { pulse, driver, clock, isShared, markAbandoned } = this.deps;
    // At the start nobody waits for a quick answer. Later, the driver's fence would refuse it.
    const entrance = this.instanceId === undefined ? driver : pulse;
    const seen = new Map<string, number>();
    for (;;) {
      const sentAt = Date.now();
      const entered = await entrance.transact((sql) => enter(sql, isShared, markAbandoned, seen));
      if ("instanceId" in entered) {
        clock.learn(entered.now, sentAt, Date.now());
        this.#registration = entered;
        this.#others = entered.others;
        this.#older = entered.others;
        this.#isUp = true;
        this.#upSince = this.#ticks();
        this.#tellChange();
        return;
      }
      for (const rival of entered.rivals) {
        const before = seen.get(rival.instanceId);
        if (before !== undefined && before < rival.seenAt) throw new StartRefused(describeRival(isShared, rival));
        seen.set(rival.instanceId, rival.seenAt);
      }
      await this.#sleep(BEAT_EVERY_MS);
      if (this.#isStopped) throw new StoreUnavailable("this instance is stopping");
    }
  }

  #noteFault(error: unknown): void {
    if (error instanceof Fenced) return;
    const { log } = this.deps;
    const isAway = error instanceof StoreUnavailable;
    this.#throttleFault(performance.now(), (unlogged) => {
      log.error({ err: error, unlogged }, isAway ? "PostgreSQL is away" : "the heartbeat failed");
    });
    if (isAway) this.#setUp(false);
  }

  #end(error: StartRefused): void {
    this.#isStopped = true;
    this.onReplaced?.(error);
  }
}

/**
 * Adds a row for a new instance, unless there are rivals. `seen` has when the others had been seen at an earlier look: after
 * PostgreSQL was away all look dead, so only those that were not seen since then are.
 */
async function enter(
  sql: Sql,
  isShared: boolean,
  markAbandoned: MarkAbandoned,
  seen: ReadonlyMap<string, number>,
): Promise<(Registration & { readonly now: number }) | { readonly rivals: readonly Rival[] }> {
  // Instances register one after another.
  await sql.get("SELECT version FROM directory WHERE id = 1 FOR UPDATE");
  const dead = await sql.all<Dead>(LIST_DEAD, "");
  await remove(
    sql,
    dead.filter(({ instance_id, seen_at }) => seen_at <= (seen.get(instance_id) ?? -1)),
  );
  const others = await sql.all<Rival>('SELECT instance_id AS "instanceId", seen_at AS "seenAt", redis FROM instances');
  const rivals = others.filter(({ redis }) => !isShared || redis === "");
  if (rivals.length > 0) return { rivals };
  const instanceId = newInstanceId();
  const redisId = isShared ? (others[0]?.redis ?? newInstanceId()) : "";
  const now = await readNow(sql);
  await insertInstance(sql, instanceId, now, redisId);
  // Also what no instance in the list has claimed: commands that were moved here while they were being sent.
  await markAbandoned(sql, now);
  return { instanceId, redisId, others: others.length, now };
}

/** Returns the ids of those that count as dead since now. */
async function reap(sql: Sql, ownId: string | undefined, markAbandoned: MarkAbandoned): Promise<readonly string[]> {
  const dead = await sql.all<Dead>(LIST_DEAD, ownId ?? "");
  await remove(sql, dead);
  if (dead.length > 0) await markAbandoned(sql, await readNow(sql));
  return dead.map((row) => row.instance_id);
}

async function remove(sql: Sql, dead: readonly Dead[]): Promise<void> {
  await sql.runEach(
    "DELETE FROM instances WHERE instance_id = ?1",
    dead.map(({ instance_id }) => [instance_id]),
  );
}

async function insertInstance(sql: Sql, instanceId: string, now: number, redis: string): Promise<void> {
  const text = "INSERT INTO instances (instance_id, started_at, seen_at, redis) VALUES (?1, ?2, ?2, ?3)";
  await sql.run(text, instanceId, now, redis);
}

async function readNow(sql: Sql): Promise<number> {
  return (await sql.get<{ now: number }>(`SELECT ${NOW} AS now`))?.now ?? Date.now();
}

function newInstanceId(): string {
  return randomBase62(ID_LENGTH, randomBytes);
}

function describeRival(isShared: boolean, { redis }: Rival): string {
  if (isShared)
    return "another instance uses this PostgreSQL without a Redis; set GATEHOUSE_REDIS there too, to the same Redis";
  if (redis !== "")
    return "the other instances on this PostgreSQL share a Redis; set GATEHOUSE_REDIS to the same Redis here";
  return "another instance uses this PostgreSQL; to run several, set GATEHOUSE_REDIS to the same Redis for all of them";
}
