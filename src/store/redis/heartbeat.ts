// The heartbeat: several times a second an instance gives a sign of life, learns Redis's time and how many instances there
// are, and catches up with what they have changed. A token that is not known here makes it catch up at once.
import { randomBytes } from "node:crypto";
import { StoreUnavailable } from "../../core/errors.ts";
import type { Log } from "../../core/ports/log.ts";
import { createThrottle } from "../../core/throttle.ts";
import { randomBase62 } from "../../core/token.ts";
import { CoalescedTask } from "./coalesced-task.ts";
import type { RedisCommandQueue } from "./command-queue.ts";
import { type Directory, VERSIONS_KEPT } from "./directory.ts";
import { NAMES } from "./names.ts";
import type { RedisClock } from "./redis-clock.ts";
import type { RedisLink } from "./redis-link.ts";
import { createScript } from "./script.ts";
import heartbeatText from "./scripts/heartbeat.lua" with { type: "text" };
import type { SharedLimits } from "./shared-limits.ts";

const HEARTBEAT = createScript(heartbeatText);
const BEAT_EVERY_MS = 250;
/** At most a hundred catch-ups a second, however many invented tokens there are. */
const CATCH_UP_INTERVAL_MS = 10;
/** A script that lists more changed ids would keep Redis busy for more than a few milliseconds. */
const CHANGES_LISTED_MAX = 1_000;
/** An instance that gave no sign of life for so long does not count any more. */
const INSTANCE_LIVES_MS = 5_000;
const INSTANCE_ID_LENGTH = 20;
const FAULT_LOG_MS = 60_000;

type HeartbeatReply = [
  now: number,
  instances: number,
  version: number,
  changeId: string,
  changedIds: string[] | null,
  hasMore: number,
];

export type HeartbeatParts = {
  readonly link: RedisLink;
  readonly clock: RedisClock;
  readonly directory: Directory;
  readonly limits: SharedLimits;
  readonly commands: RedisCommandQueue;
  readonly log: Log;
};

export class Heartbeat {
  readonly instanceId = randomBase62(INSTANCE_ID_LENGTH, randomBytes);
  readonly #parts: HeartbeatParts;
  readonly #sampleFault = createThrottle(FAULT_LOG_MS);
  readonly #catchUp: CoalescedTask;
  #timer: ReturnType<typeof setInterval> | undefined;
  #beating: Promise<void> | undefined;
  #isSignDue = false;
  #instances = 1;

  constructor(parts: HeartbeatParts) {
    this.#parts = parts;
    this.#catchUp = new CoalescedTask({
      run: () => this.#catchUpNow(),
      intervalMs: CATCH_UP_INTERVAL_MS,
    });
  }

  /** How many share this store, as far as is known. */
  get instances(): number {
    return this.#instances;
  }

  /** Fails when the first beat does; what happens to later ones is logged. */
  async start(): Promise<void> {
    await this.beat();
    this.#timer = setInterval(() => this.#keepBeating(), BEAT_EVERY_MS);
    this.#timer.unref();
  }

  async beat(): Promise<void> {
    const { clock, directory, limits, commands } = this.#parts;
    this.#isSignDue = true;
    await this.#catchUp.join();
    directory.dropOrphans();
    await limits.tellBlocks(clock.now());
    void commands.withdrawUndecided();
  }

  /**
   * Resolves when everything is known that others had changed before this call. One question to Redis is for all that
   * wait. Throws StoreUnavailable when that takes longer than a request may wait.
   */
  async catchUp(): Promise<void> {
    const { promise, reject } = Promise.withResolvers<never>();
    const giveUp = () => reject(new StoreUnavailable("Redis did not tell in time what has changed"));
    const timer = setTimeout(giveUp, this.#parts.link.answerWithinMs);
    try {
      await Promise.race([this.#catchUp.join(), promise]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Ends what a beat has begun, and tells the others that this instance has gone. */
  async stop(): Promise<void> {
    const { link, commands } = this.#parts;
    clearInterval(this.#timer);
    await this.#beating;
    await commands.withdrawUndecided();
    const sign = link.send(NAMES.instances, "ZREM", NAMES.instances, this.instanceId);
    await sign.catch(() => {});
  }

  /** In bounded steps: there may be thousands of changes. */
  async #catchUpNow(): Promise<void> {
    const { link, clock, directory } = this.#parts;
    const keys = [NAMES.instances, NAMES.version, NAMES.changes];
    let hasMore = true;
    while (hasMore) {
      const sign = this.#isSignDue ? this.instanceId : "";
      this.#isSignDue = false;
      const sentAt = Date.now();
      const known = [directory.version, directory.changeId];
      const limits = [VERSIONS_KEPT, CHANGES_LISTED_MAX];
      const args = [...clock.timesWithoutDeadline(), sign, INSTANCE_LIVES_MS, ...known, ...limits];
      const reply = (await link.run(HEARTBEAT, keys, args)) as HeartbeatReply;
      const [now, instances, version, changeId, changedIds] = reply;
      clock.learn(now, sentAt, Date.now());
      this.#instances = instances;
      hasMore = reply[5] === 1;
      if (changedIds === null) await directory.load();
      else await directory.catchUp(changedIds, version, changeId);
    }
  }

  #keepBeating(): void {
    const { link, log } = this.#parts;
    if (this.#beating) return;
    this.#beating = this.beat()
      .catch((error) => {
        // That Redis does not answer at all is told once, by the link.
        if (!link.isUp) return;
        this.#sampleFault(performance.now(), (unlogged) => {
          log.error({ err: error, unlogged }, "the heartbeat failed");
        });
      })
      .finally(() => {
        this.#beating = undefined;
      });
  }
}
