// Waits for the ends of commands, for callers that want to hear them with their answer. All callers that wait for one command
// share one poll of the store; the dispatcher of this instance ends the wait at once.
import type { Command, CommandStatus } from "../../core/commands/command.ts";
import { type Refusal, StoreUnavailable } from "../../core/errors.ts";
import type { SleepUntilWoken } from "../../core/ports/clock.ts";
import type { CommandQueue } from "../../core/ports/commands.ts";
import { Slots } from "../../core/slots.ts";
import { type WaitOptions, waitBounded } from "../events/bounded-wait.ts";
import { STREAMS_PER_KEY_MAX, type StreamSlots, TOO_MANY_STREAMS } from "../events/stream-slots.ts";

/** How soon a caller hears of an end that another instance has recorded. */
const POLL_MS = 250;
/**
 * Beyond this many, in all and of one key, callers are answered at once with the state as it is. They are not refused: clients
 * send a command again after a refusal, and it was accepted.
 */
export const WAITING_MAX = 1_000;
export const WAITING_PER_KEY_MAX = STREAMS_PER_KEY_MAX;

const UNFINISHED: ReadonlySet<CommandStatus> = new Set(["queued", "sending"]);

export function isFinished({ status }: Pick<Command, "status">): boolean {
  return !UNFINISHED.has(status);
}

type Poll = {
  readonly stopped: AbortController;
  ended: Promise<Command | undefined>;
  wake: AbortController;
  waiting: number;
};

export class CommandEnds {
  readonly #polls = new Map<string, Poll>();
  readonly #slots = new Slots();
  readonly #stopped = new AbortController();
  #waiting = 0;

  constructor(
    private readonly commands: Pick<CommandQueue, "find">,
    private readonly pause: SleepUntilWoken,
    /** Shared with the streams and waiting reads of each key. */
    private readonly streamSlots: StreamSlots,
  ) {}

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
    const over = new AbortController();
    try {
      return await this.#share(commandId, async (poll) => {
        const command = await this.#find(commandId);
        if (command && isFinished(command)) return command;
        const late = this.pause(ms, AbortSignal.any([over.signal, poll.stopped.signal]));
        return (await Promise.race([poll.ended, late])) ?? command;
      });
    } finally {
      over.abort();
      this.#slots.release(keyId);
    }
  }

  /**
   * Resolves when the command has ended, or the wait has: the caller then reads it again. A refusal when the key has as many
   * waiting reads and streams as it may have.
   */
  async waitFor(commandId: string, options: WaitOptions): Promise<Refusal | undefined> {
    if (this.#stopped.signal.aborted || this.#waiting >= WAITING_MAX) return undefined;
    if (!this.streamSlots.take(options.keyId)) return TOO_MANY_STREAMS;
    try {
      await this.#share(commandId, async (poll) => {
        await waitBounded(options, this.#stopped.signal, this.pause, async (ended) => {
          const command = await this.#find(commandId);
          if (command && isFinished(command)) return;
          await Promise.race([poll.ended, untilAborted(ended)]);
        });
      });
    } finally {
      this.streamSlots.release(options.keyId);
    }
    return undefined;
  }

  /** Those who wait are answered at once, and nobody waits from now on. */
  stop(): void {
    this.#stopped.abort();
  }

  /** The poll begins before the first read, so that an end that is recorded during it is not missed. */
  async #share<T>(commandId: string, use: (poll: Poll) => Promise<T>): Promise<T> {
    const poll = this.#polls.get(commandId) ?? this.#start(commandId);
    this.#waiting++;
    poll.waiting++;
    try {
      return await use(poll);
    } finally {
      this.#waiting--;
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
      if (!woken.aborted) await this.pause(POLL_MS, AbortSignal.any([stopped, woken]));
      if (stopped.aborted) break;
      // Made anew before the read, so that an end that is recorded meanwhile is not missed.
      poll.wake = new AbortController();
      const command = await this.#find(commandId);
      if (command && isFinished(command)) return command;
    }
    return undefined;
  }

  /** A store that cannot answer now may answer before the caller has to. */
  async #find(commandId: string): Promise<Command | undefined> {
    try {
      return await this.commands.find(commandId);
    } catch (error) {
      if (error instanceof StoreUnavailable) return undefined;
      throw error;
    }
  }
}

async function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  signal.addEventListener("abort", () => resolve(), { once: true });
  await promise;
}
