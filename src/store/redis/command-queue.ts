// The command queues in Redis, shared by all instances. Each step is one script. An instance claims a command with a lease
// and a fencing token. When the lease ends first, the command becomes `unknown` and a late result is ignored.
import { randomBytes } from "node:crypto";
import {
  type Command,
  type CommandEnd,
  HISTORY_LIMITS,
  type HistoryLimits,
  IDEMPOTENCY_KEPT_MS,
  QUEUE_MAX,
  SAME_AFTER_SENT_MS,
  SAME_WHILE_UNKNOWN_MS,
  SERVER_DELETED,
} from "../../core/command.ts";
import { StoreUnavailable } from "../../core/errors.ts";
import { type ForgottenPlayer, PlayerEraser } from "../../core/events/forget-player.ts";
import type { AuditNote } from "../../core/ports/audit.ts";
import type {
  Acceptance,
  Cancellation,
  Claim,
  CommandDraft,
  CommandFilter,
  CommandQueue,
  QueueReport,
  SentCommand,
} from "../../core/ports/commands.ts";
import type { Page, PageRequest } from "../../core/ports/pages.ts";
import type { WaitingCommand } from "../../core/ports/portable-store.ts";
import { randomBase62 } from "../../core/token.ts";
import { findServerOf, newCommandId } from "../command-id.ts";
import type { AuditOutbox } from "./audit-outbox.ts";
import { listCommands } from "./command-list.ts";
import {
  parseAcceptance,
  parseClaim,
  parseCommand,
  parseList,
  parseNumber,
  parsePart,
  parseQueueState,
  parseSent,
  parseText,
  type QueueState,
} from "./command-replies.ts";
import {
  ACCEPT,
  CANCEL,
  CHECK,
  CLAIM,
  CONFIRM,
  DROP,
  ERASE,
  EXPIRE,
  FAIL_WAITING,
  FIND,
  FORGET,
  GIVE_BACK,
  HOLD,
  INDEX,
  LIST,
  LIST_SENT,
  MARK,
  SCAN_MAX,
  SETTLE,
  UNMARK,
  WITHDRAW,
} from "./command-scripts.ts";
import { mapInBatches } from "./map-in-batches.ts";
import { NAMES } from "./names.ts";
import type { ScriptTimes } from "./redis-clock.ts";
import { NOT_SENT, type RedisLink, type Reply } from "./redis-link.ts";
import type { Script } from "./script.ts";

/**
 * A mark is renewed when it is older than the first, and removed when it is older than the second and nothing waits. The
 * difference must be longer than any script can be under way plus the clock difference between the nodes of a cluster.
 */
const RENEW_MARK_AFTER_MS = 30_000;
const UNMARK_AFTER_MS = 60_000;

const SENT_LISTED_MAX = 1_000;
const FENCE_LENGTH = 16;
/** How many claims of a server without a reply are remembered. */
const UNANSWERED_CLAIMS_MAX = 4;
/** How many submissions without a reply are remembered, to be withdrawn. */
const UNANSWERED_DRAFTS_MAX = 1_000;

export type RedisCommandQueueParts = {
  readonly link: RedisLink;
  /** How long an instance may take to send a command it has claimed. */
  readonly leaseMs: number;
  /** All servers, including recently deleted ones. */
  readonly listServerIds: () => readonly string[];
  /** Moves the audit entries of cancelled commands to the audit log. */
  readonly outbox: Pick<AuditOutbox, "deliver" | "forgetDelivered">;
  readonly times: ScriptTimes;
  readonly historyLimits?: HistoryLimits;
};

type Held = { readonly commandId: string; readonly fence: string };
type Times = ReturnType<ScriptTimes>;
type Args = readonly (string | number)[];

export class RedisCommandQueue implements CommandQueue {
  readonly #link: RedisLink;
  readonly #leaseMs: number;
  readonly #listServerIds: () => readonly string[];
  readonly #outbox: RedisCommandQueueParts["outbox"];
  readonly #times: ScriptTimes;
  readonly #historyLimits: HistoryLimits;
  /** The commands that this instance is sending, by server. */
  readonly #held = new Map<string, Held>();
  /** The fencing tokens of claims without a reply, by server: a command that such a claim took was not sent. */
  readonly #unansweredClaims = new Map<string, readonly string[]>();
  /** Submissions without a reply, by command id: their callers got a refusal, so they must not be sent. */
  readonly #unansweredDrafts = new Map<string, CommandDraft>();

  constructor(parts: RedisCommandQueueParts) {
    const { link, leaseMs, listServerIds, outbox, times, historyLimits = HISTORY_LIMITS } = parts;
    this.#link = link;
    this.#leaseMs = leaseMs;
    this.#listServerIds = listServerIds;
    this.#outbox = outbox;
    this.#times = times;
    this.#historyLimits = historyLimits;
  }

  async accept(draft: CommandDraft, now: number, waitingMax = QUEUE_MAX): Promise<Acceptance> {
    const { serverId } = draft;
    // One deadline for both scripts: a command is accepted soon after its server was marked, or not at all.
    const times = this.#times(now);
    await this.#link.run(MARK, [NAMES.waitingServers], [...times, serverId, RENEW_MARK_AFTER_MS]);
    const commandId = newCommandId(serverId);
    try {
      return await this.#accept(commandId, draft, times, waitingMax);
    } catch (error) {
      const isSent = !(error instanceof StoreUnavailable) || error.cause !== NOT_SENT;
      if (isSent && this.#unansweredDrafts.size < UNANSWERED_DRAFTS_MAX)
        this.#unansweredDrafts.set(commandId, draft);
      throw error;
    }
  }

  /**
   * Withdraws commands that Redis may have accepted although its reply was lost: their callers got a refusal. What fails is
   * tried again at the next call. Never throws.
   */
  async withdrawUnanswered(): Promise<void> {
    await Promise.all(
      [...this.#unansweredDrafts].map(async ([commandId, draft]) => {
        const args = [...this.#times(), NAMES.command(draft.serverId, ""), commandId];
        const withdrawing = this.#link.run(WITHDRAW, namesFor(draft), args);
        // Removed from the list afterwards, so that a claim or a close meanwhile waits for it too. Twice does no harm.
        await withdrawing.then(() => this.#unansweredDrafts.delete(commandId)).catch(() => {});
      }),
    );
  }

  /** Adds a waiting command of another store with its id and the time it was queued at. */
  async adopt({ commandId, queuedAt, ...draft }: WaitingCommand): Promise<void> {
    await this.#link.run(
      MARK,
      [NAMES.waitingServers],
      [...this.#times(), draft.serverId, RENEW_MARK_AFTER_MS],
    );
    await this.#accept(commandId, draft, [String(queuedAt), ""]);
  }

  /** The waiting commands of the server, the next one first. */
  async listWaiting(serverId: string): Promise<WaitingCommand[]> {
    const queue = NAMES.queue(serverId);
    const ids = (await this.#link.send(queue, "LRANGE", queue, 0, -1)) as string[];
    const waiting = ids.map(async (commandId) => {
      const name = NAMES.command(serverId, commandId);
      const fields = ["key_id", "text", "queued_at", "idempotency_key"];
      const reply = await this.#link.send(name, "HMGET", name, ...fields);
      const [keyId, text, queuedAt, idempotencyKey] = reply as (string | null)[];
      return {
        commandId,
        serverId,
        keyId: keyId ?? "",
        text: text ?? "",
        idempotencyKey: idempotencyKey ?? undefined,
        queuedAt: Number(queuedAt),
      };
    });
    return Promise.all(waiting);
  }

  async claim(serverId: string, now: number, holdMs: number): Promise<Claim> {
    if (this.#unansweredDrafts.size > 0) await this.withdrawUnanswered();
    const fence = randomBase62(FENCE_LENGTH, randomBytes);
    const unanswered = this.#unansweredClaims.get(serverId) ?? [];
    let claim: Claim;
    try {
      const args = [fence, this.#leaseMs, holdMs, ...unanswered];
      claim = parseClaim(await this.#run(CLAIM, serverId, this.#times(now), args));
    } catch (error) {
      this.#unansweredClaims.set(serverId, [...unanswered, fence].slice(-UNANSWERED_CLAIMS_MAX));
      throw error;
    }
    if (claim.kind === "claimed") this.#held.set(serverId, { commandId: claim.command.commandId, fence });
    return claim;
  }

  async hold(serverId: string, now: number, holdMs: number): Promise<void> {
    await this.#run(HOLD, serverId, this.#times(now), [holdMs]);
  }

  async requeue(commandId: string): Promise<void> {
    await this.#endClaim(GIVE_BACK, commandId, this.#times(), []);
  }

  async settle(
    commandId: string,
    { status, isUnsent, upstreamCode, upstreamMessage }: CommandEnd,
    now: number,
  ): Promise<void> {
    const fields: (string | number)[] = [isUnsent ? 0 : 1, ...this.#dropArgs(), "status", status];
    if (upstreamCode !== null) fields.push("upstream_code", upstreamCode);
    if (upstreamMessage !== null) fields.push("upstream_message", upstreamMessage);
    await this.#endClaim(SETTLE, commandId, this.#times(now), fields);
  }

  async expire(serverId: string, cutoff: number, now: number): Promise<number> {
    return parseNumber(
      await this.#run(EXPIRE, serverId, this.#times(now), [now - cutoff, ...this.#dropArgs()]),
    );
  }

  async cancel(
    serverId: string,
    commandId: string,
    now: number,
    note?: AuditNote,
  ): Promise<Cancellation | undefined> {
    if (findServerOf(commandId) !== serverId) return undefined;
    const names = [...NAMES.queueKeys(serverId), NAMES.outbox(serverId)];
    const own = [NAMES.command(serverId, ""), commandId, note ? JSON.stringify(note) : ""];
    const args = [...this.#times(now), ...own, ...this.#dropArgs()];
    const reply = parseList(await this.#link.run(CANCEL, names, args));
    const command = parseCommand(reply[1]);
    const isCancelled = reply[0] === 1;
    // The note is safe in the outbox: when this fails, any instance delivers it later.
    if (isCancelled && note) await this.#outbox.deliver(serverId).catch(() => {});
    return command && { command, isCancelled };
  }

  async find(commandId: string): Promise<Command | undefined> {
    const serverId = findServerOf(commandId);
    if (serverId === undefined) return undefined;
    return parseCommand(await this.#run(FIND, serverId, this.#times(), [commandId]));
  }

  list(page: PageRequest & CommandFilter): Promise<Page<Command>> {
    const histories = {
      runList: (serverId: string, args: Args) => this.#run(LIST, serverId, this.#times(), args),
      listServerIds: this.#listServerIds,
      listMarked: () => this.#listMarked(),
    };
    return listCommands(histories, page);
  }

  async listWaitingServers(): Promise<readonly string[]> {
    const checked = await this.#checkMarked();
    return checked.filter(({ state }) => state.waiting > 0).map(({ serverId }) => serverId);
  }

  async listSent(serverId: string, since: number): Promise<readonly SentCommand[]> {
    return parseSent(await this.#run(LIST_SENT, serverId, this.#times(), [since, SENT_LISTED_MAX]));
  }

  async confirm(commandId: string, loggedAt: number, now: number): Promise<void> {
    const serverId = findServerOf(commandId);
    if (serverId === undefined) return;
    await this.#run(CONFIRM, serverId, this.#times(now), [commandId, loggedAt]);
  }

  async report(): Promise<QueueReport> {
    let waiting = 0;
    let oldestQueuedAt: number | null = null;
    for (const { state } of await this.#checkMarked()) {
      waiting += state.waiting;
      if (state.headQueuedAt === null) continue;
      oldestQueuedAt = Math.min(oldestQueuedAt ?? state.headQueuedAt, state.headQueuedAt);
    }
    return { waiting, oldestQueuedAt };
  }

  async forgetPlayer(player: ForgottenPlayer, now: number): Promise<boolean> {
    const eraser = new PlayerEraser(player);
    let hasOpen = false;
    for (const serverId of this.#listServerIds()) {
      for (let before: number | undefined = Number.MAX_SAFE_INTEGER; before !== undefined; ) {
        const args: Args = [before, "", SCAN_MAX, SCAN_MAX, ""];
        const part = parsePart(await this.#run(LIST, serverId, this.#times(now), args));
        for (const { command } of part.found) {
          const { commandId, text, upstreamMessage, finishedAt } = command;
          const erased = [eraser.eraseCommand(text), eraser.eraseText(upstreamMessage ?? "")] as const;
          if (erased[0] === text && erased[1] === (upstreamMessage ?? "")) continue;
          if (finishedAt === null) hasOpen = true;
          else await this.#run(ERASE, serverId, this.#times(now), [commandId, ...erased]);
        }
        before = part.before;
      }
    }
    return !hasOpen;
  }

  async failWaiting(serverId: string, now: number, reason = SERVER_DELETED): Promise<number> {
    const args = [reason, ...this.#dropArgs()];
    return parseNumber(await this.#run(FAIL_WAITING, serverId, this.#times(now), args));
  }

  /**
   * Deletes commands that finished before that time or are too many, and delivers audit entries that were left behind. What
   * an older version has left is brought into order: a history without its sets, or one that is too long.
   */
  async forgetBefore(time: number, now: number): Promise<void> {
    await mapInBatches(this.#listServerIds(), async (serverId) => {
      await this.#runInParts(FORGET, serverId, now, [now - time]);
      await this.#runInParts(INDEX, serverId, now, []);
      const args = this.#dropArgs(SCAN_MAX);
      while (parseNumber(await this.#run(DROP, serverId, this.#times(now), args)) === SCAN_MAX);
      await this.#outbox.deliver(serverId);
    });
    await this.#outbox.forgetDelivered(now);
  }

  /** Runs a script that reads a part of the history and returns where the next part begins. */
  async #runInParts(script: Script, serverId: string, now: number, args: Args): Promise<void> {
    let after: number | undefined = 0;
    while (after !== undefined) {
      const next = await this.#run(script, serverId, this.#times(now), [...args, after, SCAN_MAX]);
      after = next === "" ? undefined : parseNumber(next);
    }
  }

  /** What command-history.lua needs to drop the oldest commands. */
  #dropArgs(max = QUEUE_MAX): number[] {
    const { finishedMax, cancelledMax } = this.#historyLimits;
    return [finishedMax, cancelledMax, max];
  }

  #run(script: Script, serverId: string, times: Times, args: Args = []): Promise<Reply> {
    const names = NAMES.queueKeys(serverId);
    return this.#link.run(script, names, [...times, NAMES.command(serverId, ""), ...args]);
  }

  async #accept(
    commandId: string,
    draft: CommandDraft,
    times: Times,
    waitingMax = QUEUE_MAX,
  ): Promise<Acceptance> {
    const { serverId, keyId, text, idempotencyKey, joinsSame } = draft;
    const { receiptsMax } = this.#historyLimits;
    const own = [commandId, keyId, text, waitingMax, IDEMPOTENCY_KEPT_MS, idempotencyKey ?? "", receiptsMax];
    const same = [joinsSame ? 1 : 0, SAME_AFTER_SENT_MS, SAME_WHILE_UNKNOWN_MS];
    return parseAcceptance(
      await this.#link.run(ACCEPT, namesFor(draft), [...times, NAMES.command(serverId, ""), ...own, ...same]),
    );
  }

  /** Does nothing for a command whose claim this instance does not hold. */
  async #endClaim(script: Script, commandId: string, times: Times, args: Args): Promise<void> {
    const serverId = findServerOf(commandId);
    const held = serverId === undefined ? undefined : this.#held.get(serverId);
    if (serverId === undefined || held?.commandId !== commandId) return;
    await this.#run(script, serverId, times, [commandId, held.fence, ...args]);
    if (this.#held.get(serverId) === held) this.#held.delete(serverId);
  }

  async #listMarked(): Promise<string[]> {
    return parseList(await this.#link.send(NAMES.waitingServers, "ZRANGE", NAMES.waitingServers, 0, -1)).map(
      parseText,
    );
  }

  /** Checks every marked server. This also ends stale claims on servers that nobody else claims for. */
  async #checkMarked(): Promise<{ serverId: string; state: QueueState }[]> {
    return mapInBatches(await this.#listMarked(), async (serverId) => {
      // One deadline for both scripts: what the first has seen is still true when the second removes the mark.
      const times = this.#times();
      const names = [...NAMES.queueKeys(serverId), NAMES.outbox(serverId)];
      const reply = await this.#link.run(CHECK, names, [...times, NAMES.command(serverId, "")]);
      const state = parseQueueState(reply);
      // An entry that cannot be delivered now stays in the outbox, and its server stays marked.
      if (state.notes > 0) await this.#outbox.deliver(serverId).catch(() => {});
      else if (state.waiting === 0 && !state.isSending) {
        const unmarking = this.#link.run(
          UNMARK,
          [NAMES.waitingServers],
          [...times, UNMARK_AFTER_MS, serverId],
        );
        // A mark too many does no harm, and the next check tries again.
        await unmarking.catch(() => {});
      }
      return { serverId, state };
    });
  }
}

function namesFor({ serverId, keyId, idempotencyKey }: CommandDraft): string[] {
  const names = NAMES.queueKeys(serverId);
  return idempotencyKey === undefined
    ? names
    : [...names, NAMES.idempotency(serverId, keyId, idempotencyKey), NAMES.receipts(serverId, keyId)];
}
