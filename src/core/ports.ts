// What the rules need from outside, as promises that adapters keep. Each interface carries its whole promise;
// implementations do not repeat it.
import type { ApiKey, KeyIdentity, KeyRights } from "./api-key.ts";
import type { Breaker } from "./breaker.ts";
import type { Budget } from "./budget.ts";
import type { Command, CommandEnd, CommandStatus } from "./command.ts";
import type { GameServer } from "./game-server.ts";
import type { Verdict } from "./rate-limit.ts";

/** The embedded store answers at once, a remote one later; the way of a request allows for both. */
export type MaybePromise<T> = T | Promise<T>;

export type Clock = () => number;

export type Page<T> = { readonly items: readonly T[]; readonly next: string | null };
export type PageRequest = { readonly limit: number; readonly cursor?: string | undefined };

export type ServerDraft = {
  readonly name: string;
  readonly community: string | null;
  readonly serverKey: string;
};

export type KeyDraft = KeyRights & {
  readonly serverId: string;
  readonly label: string;
  readonly tokenHash: string;
  readonly expiresAt: number | null;
};

export type KeyChange = Partial<KeyRights> & {
  readonly label?: string;
  readonly expiresAt?: number | null;
  readonly isSuspended?: boolean;
};

/** A key as an operator sees it. */
export type KeyDetails = KeyRights & {
  readonly keyId: string;
  readonly serverId: string;
  readonly label: string;
  readonly expiresAt: number | null;
  readonly isSuspended: boolean;
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
  readonly revokedAt: number | null;
};

/** Who made a change: enough to tell operators apart, too little to act as one. */
export type Actor = { readonly fingerprint: string; readonly address: string };

/** What is told about a change beside its target. `details` never hold a secret. */
export type AuditNote = {
  readonly at: number;
  readonly action: string;
  readonly actor: Actor;
  readonly details: Readonly<Record<string, unknown>>;
};

export type AuditEntry = AuditNote & { readonly id: string; readonly target: string };

/** What one key did in one hour since the last time it was told. Code 0 stands for answers without an error. */
export type UsageCell = {
  readonly keyId: string;
  /** The beginning of the hour. */
  readonly hour: number;
  readonly lastUsedAt: number;
  readonly counts: ReadonlyMap<number, number>;
};

export type UsageCount = { readonly hour: number; readonly code: number; readonly count: number };

export type TidyTimes = {
  readonly now: number;
  readonly usage: number;
  readonly audit: number;
  readonly commands: number;
};

export type DeletedServer = { readonly revokedKeys: number; readonly failedCommands: number };

export type Block = { readonly keyId: string; readonly blockedUntil: number };

export const TOKENS_IN_GRACE_MAX = 5;

export type CommandDraft = {
  readonly serverId: string;
  readonly keyId: string;
  readonly text: string;
  readonly idempotencyKey: string | undefined;
};

/** What a caller is told about an accepted command, the same however often it is asked with the same idempotency key. */
export type Receipt = {
  readonly commandId: string;
  readonly position: number;
  readonly queuedAt: number;
};

/** `mismatch`: the idempotency key was used for another text. */
export type Acceptance = { readonly receipt: Receipt } | { readonly declined: "full" | "mismatch" };

/** `wait`: not before that time. `empty`: nothing waits. `busy`: one is being sent already. */
export type Claim =
  | { readonly kind: "claimed"; readonly command: Command }
  | { readonly kind: "wait"; readonly until: number; readonly headQueuedAt: number }
  | { readonly kind: "empty" }
  | { readonly kind: "busy" };

export type CommandFilter = {
  readonly serverId?: string | undefined;
  readonly status?: CommandStatus | undefined;
};

/** A command that the game may have run and that its log has not shown yet, or shown at `loggedAt`. */
export type SentCommand = {
  readonly commandId: string;
  readonly text: string;
  readonly sentAt: number;
  readonly loggedAt: number | null;
};

export type QueueReport = { readonly waiting: number; readonly oldestQueuedAt: number | null };

/**
 * The queues of commands, one for each game server: first in, first out, at most QUEUE_MAX waiting. A method that has
 * returned has its effect on disk. After a crash, what was being sent is `unknown`: it is never handed out again.
 */
export interface CommandQueue {
  /**
   * One indivisible step: an idempotency key that this key has used within IDEMPOTENCY_KEPT_MS gets the receipt it got
   * then, or `mismatch`; a full queue declines; else the command waits, last in its queue.
   */
  accept(draft: CommandDraft, now: number): Promise<Acceptance>;
  /**
   * Takes the next command of the server for sending, unless the pace forbids it. The pace is kept over restarts; the
   * next command is not handed out before `holdMs` have passed, or what `hold` has said since.
   */
  claim(serverId: string, now: number, holdMs: number): Promise<Claim>;
  hold(serverId: string, now: number, holdMs: number): Promise<void>;
  /** Puts a command that surely was not taken back to its place at the head. */
  giveBack(commandId: string): Promise<void>;
  settle(commandId: string, end: CommandEnd, now: number): Promise<void>;
  /** Ends the commands of the server that have waited since before `cutoff`; how many. */
  expire(serverId: string, cutoff: number, now: number): Promise<number>;
  /** Fails what waits for a server that is gone; how many. */
  failWaiting(serverId: string, now: number): Promise<number>;
  /** The command, cancelled if it waited; undefined when the server has no such command. */
  cancel(
    serverId: string,
    commandId: string,
    now: number,
  ): Promise<{ readonly command: Command; readonly isCancelled: boolean } | undefined>;
  find(commandId: string): Promise<Command | undefined>;
  /** Newest first. */
  list(page: PageRequest & CommandFilter): Promise<Page<Command>>;
  /** The servers for which a command waits. */
  listWaitingServers(): Promise<readonly string[]>;
  /** Those that are `sent` or `unknown` and were handed to the game since then, oldest first. */
  listSent(serverId: string, since: number): Promise<readonly SentCommand[]>;
  /** Notes that the game's log shows the command, with the time that the log gives. */
  confirm(commandId: string, loggedAt: number, now: number): Promise<void>;
  report(): Promise<QueueReport>;
}

/**
 * Keeps servers, keys, blocks, their use and the audit log. Every method throws StoreUnavailable when it cannot keep its promise; nothing has
 * changed then, unless the answer of a remote store was lost on the way. A change that has returned survives a crash, and the next lookup sees it. A note handed to a change is
 * kept in the audit log with it, both or neither; a change that finds nothing to change keeps no note.
 */
export interface Store {
  readonly commands: CommandQueue;

  /**
   * The key a valid token belongs to; undefined for tokens unknown, revoked, rotated away or past their time. With a
   * token in its grace, the key expires when the grace does. Answered at once: what the way of every request needs is at hand.
   */
  findKey(tokenHash: string, now: number): ApiKey | undefined;
  findServer(serverId: string): GameServer | undefined;
  /** Another number after every change to a key that was found before: until then, what was found may be kept. */
  readonly keysVersion: number;

  /**
   * Judges one request of the key with `judgeRequest`, as one indivisible step, and keeps the next state. A block
   * that began or grew is durable before the verdict is returned, or, when the disk refuses it, as soon as it can be;
   * counts may be forgotten by a restart.
   */
  judge(key: KeyIdentity, now: number, isCounted: boolean): MaybePromise<Verdict>;

  createServer(draft: ServerDraft, now: number, note?: AuditNote): Promise<GameServer>;
  findServerByName(name: string): Promise<GameServer | undefined>;
  /** Setting the same upstream key again counts as a new one. Undefined when there is no such server. */
  updateServer(
    serverId: string,
    change: Partial<ServerDraft>,
    note?: AuditNote,
  ): Promise<GameServer | undefined>;
  /**
   * Revokes the server's keys, fails its waiting commands and forgets all but that it was there. Undefined when there
   * never was such a server.
   */
  deleteServer(serverId: string, now: number, note?: AuditNote): Promise<DeletedServer | undefined>;
  /** Oldest first. */
  listServers(page: PageRequest): Promise<Page<GameServer>>;
  /** The upstream key in the clear, for the relay alone. Undefined when there is no such server. */
  readServerKey(serverId: string): Promise<string | undefined>;

  /** Undefined when there is no such server. */
  createKey(draft: KeyDraft, now: number, note?: AuditNote): Promise<KeyDetails | undefined>;
  findKeyDetails(keyId: string): Promise<KeyDetails | undefined>;
  /** Oldest first, revoked keys included. */
  listKeys(page: PageRequest & { serverId?: string }): Promise<Page<KeyDetails>>;
  /** Undefined when there is no such key or it is revoked. */
  updateKey(keyId: string, change: KeyChange, note?: AuditNote): Promise<KeyDetails | undefined>;
  /**
   * The old token works until `oldValidUntil`. At most TOKENS_IN_GRACE_MAX old tokens of a key work at a time: of those
   * replaced earlier, the ones whose time is up first are ended. False when there is no such key or it is revoked.
   */
  rotateKey(
    keyId: string,
    tokenHash: string,
    oldValidUntil: number,
    now: number,
    note?: AuditNote,
  ): Promise<boolean>;
  /** Revoking again changes nothing. False when there never was such a key. */
  revokeKey(keyId: string, now: number, note?: AuditNote): Promise<boolean>;

  /** The blocks in force. */
  listBlocks(now: number): Promise<readonly Block[]>;
  /** The key starts over with a fresh window. Without a block nothing changes. */
  liftBlock(keyId: string, now: number, note?: AuditNote): Promise<void>;

  /**
   * Adds to what is known of keys' use; cells of keys that are gone are left out. Resolves with those that could not be
   * added now, while others were: a cluster may have lost a part.
   */
  addUsage(cells: readonly UsageCell[]): Promise<readonly UsageCell[]>;
  /** From the hour that begins at `since` on, oldest first. */
  readUsage(keyId: string, since: number): Promise<readonly UsageCount[]>;

  /** Keeps a note of something that was done elsewhere. */
  noteChange(target: string, note: AuditNote): Promise<void>;
  /** Newest first. */
  listAudit(page: PageRequest): Promise<Page<AuditEntry>>;

  /** Forgets old tokens whose grace is over, and what was used, noted or finished before the times given. */
  tidy(before: TidyTimes): Promise<void>;

  findSetting(name: string): Promise<string | undefined>;
  saveSetting(name: string, value: string): Promise<void>;
  /** Saves a setting unless there is one already; what is kept then. */
  keepSetting(name: string, value: string): Promise<string>;

  /** Throws StoreUnavailable when the store cannot be read or written now. */
  checkHealth(): Promise<void>;
  close(): Promise<void>;
}

/** `validUntil` is null for the token in force, and the end of its grace for one that was rotated away. */
export type KeptToken = { readonly tokenHash: string; readonly validUntil: number | null };

export type WaitingCommand = CommandDraft & { readonly commandId: string; readonly queuedAt: number };

/** What must not be lost when one store takes the place of another. */
export type PortableItem =
  | { readonly kind: "server"; readonly server: GameServer; readonly serverKey: string }
  | { readonly kind: "key"; readonly key: KeyDetails; readonly tokens: readonly KeptToken[] }
  | { readonly kind: "block"; readonly block: Block }
  | { readonly kind: "command"; readonly command: WaitingCommand };

export interface PortableStore extends Store {
  /** Servers first, then their keys, blocks and waiting commands, each oldest first. */
  readItems(): AsyncIterable<PortableItem>;
  /** Writes items as they are, with their ids; a server before what belongs to it. For an empty store. */
  writeItems(items: readonly PortableItem[]): Promise<void>;
  /** How many instances beside this one use the store now. */
  countOtherInstances(): Promise<number>;
}

/** What the game API said about its limit; null for what it did not say. Times are epoch milliseconds. */
export type LimitHint = {
  readonly limit: number | null;
  readonly remaining: number | null;
  readonly resetAt: number | null;
  readonly retryAfterMs: number | null;
};

/**
 * `code` 0 when the game API gave none. The message is safe to show: cleaned, capped and free of secrets.
 * `isRateLimit`: nothing more may be asked for a while, whatever the code.
 */
export type UpstreamFailure = {
  readonly code: number;
  readonly message: string;
  readonly isRateLimit: boolean;
};

/**
 * A checked ServerInfo as JSON text: `base` is the object of required fields without its closing brace, `sections`
 * the value of each section in the order of SECTIONS. `misfits` counts what was dropped for its shape.
 */
export type ServerParts = {
  readonly base: string;
  readonly sections: readonly string[];
  readonly misfits: number;
};

/** `hint` is null when no answer came at all: then nothing was learned about the limit. */
export type UpstreamReading = { readonly hint: LimitHint | null } & (
  | { readonly parts: ServerParts }
  | { readonly failure: UpstreamFailure }
);

/**
 * `done`: the game API took the command. `refused`: it said no, with a code. `unsent`: it surely has not got it.
 * `lost`: it may have got it, and nobody can tell.
 */
export type Delivery = { readonly hint: LimitHint | null } & (
  | { readonly outcome: "done" }
  | { readonly outcome: "refused" | "unsent" | "lost"; readonly failure: UpstreamFailure }
);

/** Asks the game API. Never throws and never hangs: whatever goes wrong within the deadline is a failure. */
export interface Upstream {
  readServer(serverKey: string): Promise<UpstreamReading>;
  /** Sends once, never again by itself. */
  sendCommand(serverKey: string, text: string): Promise<Delivery>;
}

/** What is known about asking for a server: failures that are remembered, the breaker, the last call. */
export type SharedStanding = {
  readonly keyRevision: number;
  /** `forMs` is null for a failure that stays until the server's key is set anew. */
  readonly remembered: {
    readonly failure: UpstreamFailure;
    readonly at: number;
    readonly forMs: number | null;
  } | null;
  readonly breaker: Breaker;
  readonly breakerFailure: UpstreamFailure | null;
  /** For those that waited while it was asked. */
  readonly lastFailure: { readonly failure: UpstreamFailure; readonly at: number } | null;
  readonly lastCallAt: number;
};

export type SharedReading = {
  readonly parts: ServerParts;
  readonly fetchedAt: number;
  readonly keyRevision: number;
};

/**
 * What instances tell each other, so that one asks the game API and all know. Every method throws StoreUnavailable when
 * the others cannot be reached. Times are by the clock that all instances share.
 */
export interface RelayShare {
  /**
   * What is known beyond `knownVersion`; when nothing is, the right to ask for this server, unless somebody has it. The
   * right ends by itself soon after its holder has died.
   */
  consult(serverId: string, knownVersion: number): Promise<Consultation>;
  /** The same, without asking for the right. */
  peek(serverId: string, knownVersion: number): Promise<Consultation["news"]>;
  /** Tells the others, and gives the right back. The new version; 0 when the right was lost: then nothing was told. */
  publish(lease: ShareLease, standing: SharedStanding, reading: SharedReading | null): Promise<number>;
  /** Tells the others what a command has taught. */
  amend(serverId: string, standing: SharedStanding): Promise<void>;
  /** Changes the budget that all share as one indivisible step. `change` returns undefined to leave it as it is. */
  changeBudget(change: (budget: Budget) => Budget | undefined): Promise<Budget>;
}

export type ShareLease = { readonly serverId: string; readonly token: string };

export type Consultation = {
  readonly lease: ShareLease | null;
  readonly news: {
    readonly version: number;
    readonly standing: SharedStanding | null;
    readonly reading: SharedReading | null;
  } | null;
};

/** Structured logging. `fields` never hold a secret; the adapter redacts them all the same. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}
