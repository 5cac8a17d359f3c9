// Sends commands, each at most once, and follows them to their end.
import { chooseBackoffMs, GatehouseError, isOpen, isOutage } from "./gatehouse-error.ts";
import { type CallOptions, RESTART_BACKOFFS_MS, type Transport } from "./transport.ts";
import type { CommandPage, CommandReceipt, CommandResource, CommandStatus } from "./wire-types.ts";

const PATH = "/v2/game/server/command";
const TOO_MANY_STREAMS = 5109;
/** How long Gatehouse waits for the end of a command, at most. */
const WAIT_MAX_SECONDS = 25;
/** Waits between two looks at a command that came back too soon; the last repeats. Each look counts toward the key's limit. */
const POLL_MS = [250, 500, 1_000, 2_000, 5_000];
/** Longer than a command waits by default before it expires. */
const SETTLED_DEFAULT_MS = 15 * 60_000;
const KEY_BYTES = 16;
const KEY_SHAPE = /^[\x21-\x7e]{1,255}$/;

export type FinalStatus = Exclude<CommandStatus, "queued" | "sending">;

export const FINAL_STATUSES: ReadonlySet<CommandStatus> = new Set<FinalStatus>([
  "sent",
  "failed",
  "unknown",
  "expired",
  "cancelled",
]);

export type SettledCommand = CommandResource & { readonly status: FinalStatus };

export type SendOptions = CallOptions & {
  /** 1 to 255 visible ASCII characters. One is made for the command when it is left out. */
  readonly idempotencyKey?: string | undefined;
};

export type SettledOptions = Pick<CallOptions, "signal"> & {
  /** 15 minutes by default. */
  readonly timeoutMs?: number | undefined;
};

export type ListOptions = CallOptions & {
  readonly status?: CommandStatus | undefined;
  readonly limit?: number | undefined;
  /** The `next` of the page before. */
  readonly cursor?: string | undefined;
};

/** A command that Gatehouse has accepted. */
export class CommandHandle {
  readonly id: string;
  readonly #commands: Commands;

  constructor(commands: Commands, id: string) {
    this.#commands = commands;
    this.id = id;
  }

  status(options?: CallOptions): Promise<CommandResource> {
    return this.#commands.get(this.id, options);
  }

  /**
   * Resolves when its status is final, over restarts of Gatehouse too. `sent` says that the game API took it, `unknown` that
   * nobody can tell: it is never sent again by itself. Throws GatehouseError when the time is up.
   */
  settled(options?: SettledOptions): Promise<SettledCommand> {
    return this.#commands.waitForEnd(this.id, options);
  }

  /** Takes it out of the queue; throws GatehouseError with status 409 when it no longer waits. */
  cancel(options?: CallOptions): Promise<CommandResource> {
    return this.#commands.cancel(this.id, options);
  }
}

export class Commands {
  readonly #transport: Transport;
  readonly #now: () => number;

  constructor(transport: Transport, now: () => number = Date.now) {
    this.#transport = transport;
    this.#now = now;
  }

  /**
   * Queues a command. It is tried again while Gatehouse cannot be reached, with the same idempotency key, so that it is
   * queued once. An error that leaves open whether it is queued has its `idempotencyKey`. Throws TypeError for a bad key.
   */
  async send(text: string, { idempotencyKey = makeKey(), ...options }: SendOptions = {}): Promise<CommandHandle> {
    // fetch throws for some of these, which would look like an outage.
    if (!KEY_SHAPE.test(idempotencyKey))
      throw new TypeError("idempotencyKey must be 1 to 255 visible ASCII characters");
    // A try that was lost may have queued it, whatever the next one is told.
    let mayBeQueued = false;
    try {
      const { value } = await this.#transport.request<CommandReceipt>(PATH, {
        method: "POST",
        body: { command: text },
        headers: { "Idempotency-Key": idempotencyKey },
        backoffsMs: RESTART_BACKOFFS_MS,
        onFailure: (error) => {
          mayBeQueued ||= isOpen(error);
        },
        ...options,
      });
      return this.handle(value.command_id);
    } catch (error) {
      if (mayBeQueued && error instanceof GatehouseError) error.idempotencyKey = idempotencyKey;
      throw error;
    }
  }

  /** The handle of a command that was sent earlier, by its id. */
  handle(id: string): CommandHandle {
    return new CommandHandle(this, id);
  }

  async get(id: string, options: CallOptions = {}): Promise<CommandResource> {
    return (await this.#transport.request<CommandResource>(pathOf(id), options)).value;
  }

  /** Newest first. */
  async list({ signal, timeoutMs, ...query }: ListOptions = {}): Promise<CommandPage> {
    return (await this.#transport.request<CommandPage>(PATH, { query, signal, timeoutMs })).value;
  }

  async cancel(id: string, options: CallOptions = {}): Promise<CommandResource> {
    return (await this.#transport.request<CommandResource>(pathOf(id), { method: "DELETE", ...options })).value;
  }

  async waitForEnd(
    id: string,
    { timeoutMs = SETTLED_DEFAULT_MS, signal }: SettledOptions = {},
  ): Promise<SettledCommand> {
    const deadline = this.#now() + timeoutMs;
    let last: unknown;
    let isWaitRefused = false;
    for (let early = 0; ; ) {
      const askedAt = this.#now();
      const leftSeconds = Math.floor((deadline - askedAt) / 1000);
      const wait = isWaitRefused ? 0 : Math.max(0, Math.min(WAIT_MAX_SECONDS, leftSeconds));
      let pauseMs = POLL_MS[Math.min(early++, POLL_MS.length - 1)] ?? 0;
      try {
        const command = await this.#look(id, wait, signal);
        if (isSettled(command)) return command;
        last = undefined;
        isWaitRefused = false;
        // It has waited as long as it was asked to.
        if (wait > 0 && this.#now() - askedAt >= wait * 1000) pauseMs = early = 0;
      } catch (error) {
        isWaitRefused = error instanceof GatehouseError && error.code === TOO_MANY_STREAMS;
        if (!isWaitRefused && !isOutage(error)) throw error;
        pauseMs = chooseBackoffMs(error, pauseMs);
        last = error;
      }
      const leftMs = deadline - this.#now();
      if (leftMs <= 0) throw new GatehouseError(`the command ${id} had no end within ${timeoutMs} ms`, { cause: last });
      if (pauseMs > 0) await this.#transport.pause(Math.min(pauseMs, leftMs), signal);
      signal?.throwIfAborted();
    }
  }

  async #look(id: string, wait: number, signal: AbortSignal | undefined): Promise<CommandResource> {
    const request = { query: wait > 0 ? { wait } : {}, extraMs: wait * 1000, backoffsMs: [], signal };
    return (await this.#transport.request<CommandResource>(pathOf(id), request)).value;
  }
}

function isSettled(command: CommandResource): command is SettledCommand {
  return FINAL_STATUSES.has(command.status);
}

function pathOf(id: string): string {
  return `${PATH}/${encodeURIComponent(id)}`;
}

/** crypto.randomUUID exists in browsers only on pages with https. */
function makeKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(KEY_BYTES));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
