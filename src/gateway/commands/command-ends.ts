// Waits for the ends of commands, for callers that want to hear them with their answer. All callers that wait for one command
// share one poll of the store; the dispatcher of this instance ends the wait at once.
import type { Command, CommandStatus } from "../../core/command.ts";
import { StoreUnavailable } from "../../core/errors.ts";
import type { SleepUntilWoken } from "../../core/ports/clock.ts";
import type { CommandQueue } from "../../core/ports/commands.ts";
import { Slots } from "../../core/slots.ts";
import { STREAMS_PER_KEY_MAX } from "../events/stream-slots.ts";

/** How soon a caller hears of an end that another instance has recorded. */
const POLL_MS = 250;
/**
 * Beyond this many, in all and of one key, callers are answered at once with the state as it is. They are not refused: clients
 * send a command again after a refusal, and it was accepted.
 */
export const WAITING_MAX = 1_000;
export const WAITING_PER_KEY_MAX = STREAMS_PER_KEY_MAX;

const UNFINISHED: ReadonlySet<CommandStatus> = new Set(["queued", "sending"]);

type Poll = {
  readonly stopped: AbortController;
  ended: Promise<Command | undefined>;
  wake: AbortController;
  waiting: number;
};

export class CommandEnds {
  readonly #commands: Pick<CommandQueue, "find">;
  readonly #pause: SleepUntilWoken;
  readonly #polls = new Map<string, Poll>();
  readonly #slots = new Slots();
  #waiting = 0;

  constructor(commands: Pick<CommandQueue, "find">, pause: SleepUntilWoken) {
    this.#commands = commands;
    this.#pause = pause;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /**
   * The command as it ended; after `ms` without an end, as it was when the wait began; undefined when it cannot be read. `keyId`
   * is the key that waits.
   */
  async wait(commandId: string, keyId: string, ms: number): Promise<Command | undefined> {
    const mayWait = ms > 0 && this.#waiting < WAITING_MAX && this.#slots.take(keyId, WAITING_PER_KEY_MAX);
    if (!mayWait) return this.#find(commandId);
    // Before the first read, so that an end that is recorded during it is not missed.
    const poll = this.#polls.get(commandId) ?? this.#start(commandId);
    const over = new AbortController();
    this.#waiting++;
    poll.waiting++;
    try {
      const command = await this.#find(commandId);
      if (command && !UNFINISHED.has(command.status)) return command;
      const late = this.#pause(ms, AbortSignal.any([over.signal, poll.stopped.signal]));
      return (await Promise.race([poll.ended, late])) ?? command;
    } finally {
      over.abort();
      this.#waiting--;
      this.#slots.release(keyId);
      if (--poll.waiting === 0) this.#stop(commandId, poll);
    }
  }

  /** To be called when the end of a command was recorded. */
  wake(commandId: string): void {
    this.#polls.get(commandId)?.wake.abort();
  }

  #start(commandId: string): Poll {
    const poll: Poll = {
      stopped: new AbortController(),
      wake: new AbortController(),
      ended: Promise.resolve(undefined),
      waiting: 0,
    };
    this.#polls.set(commandId, poll);
    poll.ended = this.#run(commandId, poll);
    return poll;
  }

  #stop(commandId: string, poll: Poll): void {
    poll.stopped.abort();
    if (this.#polls.get(commandId) === poll) this.#polls.delete(commandId);
  }

  async #run(commandId: string, poll: Poll): Promise<Command | undefined> {
    const { signal: stopped } = poll.stopped;
    while (!stopped.aborted) {
      const { signal: woken } = poll.wake;
      if (!woken.aborted) await this.#pause(POLL_MS, AbortSignal.any([stopped, woken]));
      if (stopped.aborted) break;
      // Made anew before the read, so that an end that is recorded meanwhile is not missed.
      poll.wake = new AbortController();
      const command = await this.#find(commandId);
      if (command && !UNFINISHED.has(command.status)) return command;
    }
    return undefined;
  }

  /** A store that cannot answer now may answer before the caller has to. */
  async #find(commandId: string): Promise<Command | undefined> {
    try {
      return await this.#commands.find(commandId);
    } catch (error) {
      if (error instanceof StoreUnavailable) return undefined;
      throw error;
    }
  }
}
