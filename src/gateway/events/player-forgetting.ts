// Forgets players in the archive and in the texts of commands: notes it durably, then works in small steps, so that a restart
// or another instance can go on. The audit log tells that a player was forgotten, not which.
import { StoreUnavailable } from "../../core/errors.ts";
import { canForget } from "../../core/events/forget-player.ts";
import type { Archive } from "../../core/ports/archive.ts";
import type { Actor, AuditStore } from "../../core/ports/audit.ts";
import type { Clock } from "../../core/ports/clock.ts";
import type { CommandQueue } from "../../core/ports/commands.ts";
import type { Log } from "../../core/ports/log.ts";
import { createThrottle } from "../../core/throttle.ts";
import { InterruptibleSleep } from "./event-retention.ts";
import type { Recorder } from "./recorder.ts";

/** The longest that an operator waits; the rest is done in the background. */
export const WAIT_MS = 5_000;
export const STEP_SLEEP_MS = 5;
/** How often to look for what a stopped instance has left. */
export const IDLE_SLEEP_MS = 60_000;
const FAULT_LOG_MS = 60_000;
/** The target of audit entries. */
const TARGET = "player";

export type PlayerForgettingDeps = {
  /** Undefined when nothing is kept. */
  readonly archive:
    | Pick<Archive, "startForgetting" | "continueForgetting" | "listForgotten" | "finishForgetting">
    | undefined;
  readonly commands: Pick<CommandQueue, "forgetPlayer">;
  readonly recorder: Pick<Recorder, "flush"> | undefined;
  readonly audit: Pick<AuditStore, "add">;
  readonly clock: Clock;
  readonly sleep: (ms: number) => Promise<void>;
  readonly log: Log;
};

export class PlayerForgetting {
  readonly #throttleLog = createThrottle(FAULT_LOG_MS);
  readonly #sleep = new InterruptibleSleep();
  #running: Promise<void> | undefined;
  #isStopped = false;

  constructor(private readonly deps: PlayerForgettingDeps) {}

  /** Starts to look, again and again, for what is left to do. */
  start(): void {
    if (this.deps.archive) this.#running ??= this.#run();
  }

  /** Resolves when the step that has begun is finished. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#sleep.stop();
    await this.#running;
  }

  /** When this resolves, it is certain that the player will be forgotten; nearly always it is done. */
  async forget(playerId: string, actor: Actor): Promise<void> {
    const { archive, commands, recorder, audit, clock, sleep } = this.deps;
    const now = clock();
    const note = { at: now, action: "player.forgotten", actor, details: {} };
    await audit.add(TARGET, note);
    if (!canForget(playerId)) return;
    if (!archive) {
      // No names are known without an archive, and nothing notes what is left to do.
      if (!(await commands.forgetPlayer({ id: playerId, names: [] }, now)))
        throw new StoreUnavailable("a command that names the player is not finished; forget the player again later");
      return;
    }
    // What waits in memory was read before, so it is to be forgotten too.
    await recorder?.flush();
    await archive.startForgetting(playerId);
    await Promise.race([this.#workOff(), sleep(WAIT_MS)]);
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      await this.#workOff();
      await this.#sleep.wait(this.deps.sleep(IDLE_SLEEP_MS));
    }
  }

  async #workOff(): Promise<void> {
    const { archive, commands, clock, sleep } = this.deps;
    try {
      while (!this.#isStopped && (await archive?.continueForgetting())) await sleep(STEP_SLEEP_MS);
      for (const player of (await archive?.listForgotten()) ?? []) {
        if (this.#isStopped) return;
        // A command that is not sent yet keeps its text; the next look may find it finished.
        if (await commands.forgetPlayer(player, clock())) await archive?.finishForgetting(player.id);
      }
    } catch (error) {
      if (!this.#isStopped) this.#logFault(error);
    }
  }

  #logFault(error: unknown): void {
    const { clock, log } = this.deps;
    this.#throttleLog(clock(), (unlogged) => {
      const fields = { err: error, unlogged };
      if (error instanceof StoreUnavailable) log.warn(fields, "a player could not be forgotten yet; it is tried again");
      else log.error(fields, "forgetting a player failed");
    });
  }
}
