// The heartbeat. Several times a second an instance gives a sign of life, learns Redis's time and how many others there
// are, and catches up with what they have changed.
import { randomBytes } from "node:crypto";
import type { Log } from "../../core/ports/log.ts";
import { createThrottle } from "../../core/throttle.ts";
import { randomBase62 } from "../../core/token.ts";
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
/** An instance that gave no sign for so long does not count any more. */
const INSTANCE_LIVES_MS = 5_000;
const INSTANCE_ID_LENGTH = 20;
const FAULT_LOG_MS = 60_000;

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
  readonly #noteFault = createThrottle(FAULT_LOG_MS);
  #timer: ReturnType<typeof setInterval> | undefined;
  #beating: Promise<void> | undefined;
  #instances = 1;

  constructor(parts: HeartbeatParts) {
    this.#parts = parts;
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
    const { link, clock, directory, limits, commands } = this.#parts;
    const sentAt = Date.now();
    const keys = [NAMES.instances, NAMES.version, NAMES.changes];
    const args = [...clock.timesWithoutDeadline(), this.instanceId, INSTANCE_LIVES_MS];
    const { version: known, changeId } = directory;
    const reply = await link.run(HEARTBEAT, keys, [...args, known, VERSIONS_KEPT, changeId]);
    const [now, instances, version, newest, changed] = reply as [
      ...[number, number, number, string],
      string[] | null,
    ];
    clock.learn(now, sentAt, Date.now());
    this.#instances = instances;
    if (changed === null) await directory.load();
    else await directory.catchUp(changed, version, newest);
    await limits.tellBlocks(now);
    void commands.withdrawUndecided();
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

  #keepBeating(): void {
    const { link, log } = this.#parts;
    if (this.#beating) return;
    this.#beating = this.beat()
      .catch((error) => {
        // That Redis does not answer at all is told once, by the link.
        if (!link.isUp) return;
        this.#noteFault(performance.now(), (unlogged) => {
          log.error({ err: error, unlogged }, "the heartbeat failed");
        });
      })
      .finally(() => {
        this.#beating = undefined;
      });
  }
}
