// Makes sure that all instances on one database share one Redis: each keeps the same id in it. Address and host say nothing
// about that: "localhost" is another Redis on each machine, and after a failover another host has the same data.
import { StartRefused, StoreUnavailable } from "../../core/errors.ts";

/** How often an instance puts the id back, which is gone when Redis was emptied or replaced. */
export const KEEP_ID_MS = 1_000;
/** How long a start looks for the id that the others keep: until those that were killed count as dead, and a little more. */
const LOOK_FOR_MS = 7_000;
const LOOK_EVERY_MS = 250;

/** Of the instances on the database. */
export type Registered = {
  readonly redisId: string;
  /** Whether no living instance was there before this one. */
  readonly isOldest: boolean;
  /** Whether the database answers: without it nobody learns that an older instance has died. */
  readonly isUp: boolean;
};

/** Both throw StoreUnavailable while Redis is away. */
type Identified = { findId(): Promise<string | undefined>; saveId(id: string): Promise<void> };

export class RedisIdKeeper {
  #isChecked = false;

  constructor(
    private readonly redis: Identified,
    private readonly registered: Registered,
    private readonly sleep: (ms: number) => Promise<void> = Bun.sleep,
  ) {}

  /**
   * At a start, and every KEEP_ID_MS from then on: puts the id back, whatever happened to the Redis. Also notices a Redis that
   * takes no writes. Throws StartRefused when the first Redis that answers is not the one of the other instances; one that
   * is away keeps nobody from starting.
   */
  async keep(): Promise<void> {
    if (this.#isChecked) return this.redis.saveId(this.registered.redisId);
    try {
      this.#isChecked = await this.#check();
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
    }
  }

  async #check(): Promise<boolean> {
    const redis = this.redis;
    for (let lookedMs = 0; lookedMs <= LOOK_FOR_MS; lookedMs += LOOK_EVERY_MS) {
      const { redisId, isOldest } = this.registered;
      if (isOldest) await redis.saveId(redisId);
      if (isOldest || (await redis.findId()) === redisId) return true;
      await this.sleep(LOOK_EVERY_MS);
    }
    if (!this.registered.isUp) return false;
    throw new StartRefused(
      "the other instances on this PostgreSQL share another Redis; set GATEHOUSE_REDIS to the same Redis for all of them",
    );
  }
}
