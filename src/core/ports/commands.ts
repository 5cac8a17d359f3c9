// The command queues.
import type { Command, CommandEnd, CommandStatus, Sender } from "../commands/command.ts";
import type { ForgottenPlayer } from "../events/forget-player.ts";
import type { AuditNote } from "./audit.ts";
import type { Page, PageRequest } from "./pages.ts";

export type CommandDraft = {
  readonly serverId: string;
  readonly keyId: string;
  /** The key itself when left out. */
  readonly sentBy?: Sender;
  readonly text: string;
  readonly idempotencyKey: string | undefined;
  /** The same text from the same key may be the same command, see `accept`. */
  readonly joinsSame?: boolean;
};

/** What the caller gets for an accepted command. Repeated requests with the same idempotency key get the same receipt. */
export type Receipt = { readonly commandId: string; readonly position: number; readonly queuedAt: number };

/**
 * `mismatch`: the idempotency key was used for another text. `full`: QUEUE_MAX commands wait, or the command has an
 * idempotency key and its API key has as many receipts as can be remembered.
 */
export type Acceptance = { readonly receipt: Receipt } | { readonly declined: "full" | "mismatch" };

/** `wait`: the next command may not be sent before `until`. `empty`: no command waits. `busy`: one is being sent already. */
export type Claim =
  | { readonly kind: "claimed"; readonly command: Command }
  | { readonly kind: "wait"; readonly until: number; readonly headQueuedAt: number }
  | { readonly kind: "empty" }
  | { readonly kind: "busy" };

export type Cancellation = { readonly command: Command; readonly isCancelled: boolean };

export type CommandFilter = {
  readonly serverId?: string | undefined;
  /** Only commands for these servers. */
  readonly serverIds?: readonly string[] | undefined;
  /** Only commands that this key has sent; with `serverId` only. */
  readonly keyId?: string | undefined;
  readonly status?: CommandStatus | undefined;
};

/**
 * A command that the game may have run. `loggedAt` is the time in the game's log, null while it was not found there. `textHash`:
 * of the text as it was sent, when a player was taken out of it.
 */
export type SentCommand = {
  readonly commandId: string;
  readonly sentBy: Sender;
  readonly text: string;
  readonly textHash?: string;
  readonly sentAt: number;
  readonly loggedAt: number | null;
};

export type QueueReport = { readonly waiting: number; readonly oldestQueuedAt: number | null };

/**
 * One queue per game server: first in, first out, at most QUEUE_MAX waiting. When a method returns, its effect is
 * durable. After a crash, a command that was being sent is `unknown` and is never claimed again.
 *
 * The step that finishes a command also drops the oldest finished ones beyond HISTORY_LIMITS, a bounded number of them. The
 * receipt of a dropped command is kept as long as its idempotency key is remembered.
 */
export interface CommandQueue {
  /**
   * One atomic step. An idempotency key that this API key used within IDEMPOTENCY_KEPT_MS gets the same receipt, or
   * `mismatch` for another text. With `joinsSame`, a command of this API key with this text that isSameCommand is true for
   * gets its first receipt again. A queue in which `waitingMax` commands wait declines, by default QUEUE_MAX; with 0 only
   * repeated commands get a receipt. Otherwise the command waits at the end of its queue.
   */
  accept(draft: CommandDraft, now: number, waitingMax?: number): Promise<Acceptance>;
  /**
   * Claims the server's next command for sending. The command after it cannot be claimed before `holdMs` have passed, or
   * longer if `hold` is called. Holds survive restarts. When this throws, a command may have been claimed: the next call puts it
   * back to the head of its queue first.
   */
  claim(serverId: string, now: number, holdMs: number): Promise<Claim>;
  /** Lets no command of the server be claimed before `holdMs` have passed. */
  hold(serverId: string, now: number, holdMs: number): Promise<void>;
  /** Puts a command that was certainly not delivered back to the head of its queue. */
  requeue(commandId: string): Promise<void>;
  /** Records the result of sending a claimed command. */
  settle(commandId: string, end: CommandEnd, now: number): Promise<void>;
  /** Expires the server's commands that were queued before `cutoff`. Returns how many. */
  expire(serverId: string, cutoff: number, now: number): Promise<number>;
  /** Fails the waiting commands of a server. Their message is `reason`, by default SERVER_DELETED. Returns how many. */
  failWaiting(serverId: string, now: number, reason?: string): Promise<number>;
  /**
   * Cancels the command if it waits. Undefined when the server has no such command. The note is written with the
   * cancellation, both or neither.
   */
  cancel(serverId: string, commandId: string, now: number, note?: AuditNote): Promise<Cancellation | undefined>;
  find(commandId: string): Promise<Command | undefined>;
  /**
   * Newest first. The work for a page is bounded: with a filter a page may have fewer items than asked for, or none, although
   * there is a next page.
   */
  list(page: PageRequest & CommandFilter): Promise<Page<Command>>;
  /** The servers with at least one waiting command. */
  listWaitingServers(): Promise<readonly string[]>;
  /** The commands with status `sent` or `unknown` that were sent since then, oldest first. */
  listSent(serverId: string, since: number): Promise<readonly SentCommand[]>;
  /** Records that the game's log shows the command, with the time that the log gives. */
  confirm(commandId: string, loggedAt: number, now: number): Promise<void>;
  report(): Promise<QueueReport>;
  /**
   * Takes a player out of the texts of all finished commands. A command that waits or is being sent keeps its text, because
   * the game must get it as it was accepted; then this returns false, and is called again later. Repeated requests still get
   * their first receipt, and the entry of a command in the game's log is still known as its own.
   */
  forgetPlayer(player: ForgottenPlayer, now: number): Promise<boolean>;
}
