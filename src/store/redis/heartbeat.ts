// The heartbeat: several times a second an instance gives a sign of life, learns Redis's time and how many instances there
// are, and catches up with what they have changed. A token that is not known here makes it catch up at once.
import { randomBytes } from "node:crypto";
import { StoreUnavailable } from "../../core/errors.ts";
import type { Log } from "../../core/ports/log.ts";
import { RunningTime } from "../../core/running-time.ts";
import { createThrottle } from "../../core/throttle.ts";
import { randomBase62 } from "../../core/token.ts";
import { CoalescedTask } from "./coalesced-task.ts";
import type { RedisCommandQueue } from "./command-queue.ts";
import { type Directory, VERSIONS_KEPT } from "./directory.ts";
import { NAMES } from "./names.ts";
import type { RedisClock } from "./redis-clock.ts";
import type { RedisLink } from "./redis-link.ts";
import { CHECK_EVERY_MS } from "./reply-deadlines.ts";
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
  readonly #throttleFault = createThrottle(FAULT_LOG_MS);
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

  /** How many instances there were at the last beat. */
  get instances(): number {
    return this.#instances;
  }

  /** Throws when the first beat fails; later failures are logged. */
  async start(): Promise<void> {
    await this.beat();
    this.#timer = setInterval(() => this.#keepBeating(), BEAT_EVERY_MS);
    this.#timer.unref();
  }

  async beat(): Promise<void> {
    const { clock, directory, limits, commands } = this.#parts;
    this.#isSignDue = true;
    await this.#catchUp.join();
    directory.cache.dropOrphans();
    await limits.publishBlocks(clock.now());
    void commands.withdrawUnanswered();
  }

  /**
   * Resolves when every change that was made before this call is known. All callers that wait share one request to Redis.
   * Throws StoreUnavailable when that takes longer than the deadline of a reply.
   */
  async catchUp(): Promise<void> {
    const { promise, reject } = Promise.withResolvers<never>();
    const giveUp = () => reject(new StoreUnavailable("Redis did not list the changes in time"));
    const { replyDeadlineMs } = this.#parts.link;
    const running = new RunningTime(performance.now(), CHECK_EVERY_MS);
    const timer = setInterval(() => {
      if (running.at(performance.now()) > replyDeadlineMs) giveUp();
    }, CHECK_EVERY_MS);
    try {
      await Promise.race([this.#catchUp.join(), promise]);
    } finally {
      clearInterval(timer);
    }
  }

  /** Waits for a beat under way, and then takes this instance off the list. */
  async stop(): Promise<void> {
    const { link, commands } = this.#parts;
    clearInterval(this.#timer);
    await this.#beating;
    await commands.withdrawUnanswered();
    const leaving = link.send(NAMES.instances, "ZREM", NAMES.instances, this.instanceId);
    await leaving.catch(() => {});
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
        // The link logs once that Redis does not answer at all.
        if (!link.isUp) return;
        this.#throttleFault(performance.now(), (unlogged) => {
          log.error({ err: error, unlogged }, "the heartbeat failed");
        });
      })
      .finally(() => {
        this.#beating = undefined;
      });
  }
}
