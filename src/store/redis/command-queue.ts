// The queues of commands in Redis, for all instances at once. Each step is one script. Whoever claims a command has it for
// the length of a lease; after that the command is unknown, and what its claimer has to say about it changes nothing.
import { randomBytes } from "node:crypto";
import { type Command, type CommandEnd, IDEMPOTENCY_KEPT_MS, QUEUE_MAX } from "../../core/command.ts";
import { StoreUnavailable } from "../../core/errors.ts";
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
import { askInTurns } from "./ask-in-turns.ts";
import type { AuditOutbox } from "./audit-outbox.ts";
import { listCommands } from "./command-list.ts";
import {
  type Look,
  parseAcceptance,
  parseClaim,
  parseCommand,
  parseList,
  parseLook,
  parseNumber,
  parseSent,
  parseText,
} from "./command-replies.ts";
import {
  ACCEPT,
  CANCEL,
  CLAIM,
  CONFIRM,
  EXPIRE,
  FAIL_WAITING,
  FIND,
  FORGET,
  GIVE_BACK,
  HOLD,
  LIST,
  LIST_SENT,
  LOOK,
  LOOKS_MAX,
  MARK,
  SETTLE,
  UNMARK,
  WITHDRAW,
} from "./command-scripts.ts";
import { NAMES } from "./names.ts";
import type { ScriptTimes } from "./redis-clock.ts";
import { NOT_ASKED, type RedisLink, type Reply } from "./redis-link.ts";
import type { Script } from "./script.ts";

/**
 * A mark that is younger than the first is not renewed, one that is younger than the second not taken back. What lies
 * between must be longer than any script is under way, and any difference between the clocks of a cluster.
 */
const MARK_AGAIN_AFTER_MS = 30_000;
const UNMARK_AFTER_MS = 60_000;

const SENT_LISTED_MAX = 1_000;
const FENCE_LENGTH = 16;
/** More claims of a server without an answer are not remembered. */
const UNHEARD_MAX = 4;
/** More submissions without an answer are not taken back. */
const UNDECIDED_MAX = 1_000;
const SERVER_DELETED = "The game server was deleted while this waited.";

export type RedisCommandQueueParts = {
  readonly link: RedisLink;
  /** How long a claimed command belongs to its claimer. */
  readonly leaseMs: number;
  /** All servers, those that were deleted not long ago too. */
  readonly listServerIds: () => readonly string[];
  /** Takes the audit entries of cancelled commands on. */
  readonly outbox: Pick<AuditOutbox, "deliver" | "forgetDelivered">;
  readonly time: ScriptTimes;
};

type Held = { readonly commandId: string; readonly fence: string };
type Times = ReturnType<ScriptTimes>;
type Args = readonly (string | number)[];

export class RedisCommandQueue implements CommandQueue {
  readonly #link: RedisLink;
  readonly #leaseMs: number;
  readonly #listServerIds: () => readonly string[];
  readonly #outbox: RedisCommandQueueParts["outbox"];
  readonly #time: ScriptTimes;
  /** What this instance is sending, by server. */
  readonly #held = new Map<string, Held>();
  /** The fences of claims that no answer came to, by server: what they may have got was not sent. */
  readonly #unheard = new Map<string, readonly string[]>();
  /** Submissions that no answer came to, by command: they were refused, so they must not happen. */
  readonly #undecided = new Map<string, CommandDraft>();

  constructor({ link, leaseMs, listServerIds, outbox, time }: RedisCommandQueueParts) {
    this.#link = link;
    this.#leaseMs = leaseMs;
    this.#listServerIds = listServerIds;
    this.#outbox = outbox;
    this.#time = time;
  }

  async accept(draft: CommandDraft, now: number): Promise<Acceptance> {
    const { serverId } = draft;
    // One deadline for both: what is accepted is accepted soon after the mark.
    const times = this.#time(now);
    await this.#link.run(MARK, [NAMES.waitingServers], [...times, serverId, MARK_AGAIN_AFTER_MS]);
    const commandId = newCommandId(serverId);
    try {
      return await this.#accept(commandId, draft, times);
    } catch (error) {
      const isAsked = !(error instanceof StoreUnavailable) || error.cause !== NOT_ASKED;
      if (isAsked && this.#undecided.size < UNDECIDED_MAX) this.#undecided.set(commandId, draft);
      throw error;
    }
  }

  /**
   * Takes back what Redis may have accepted though its answer was lost: the caller was told that it had not. What cannot be
   * reached now is left for the next time. Never throws.
   */
  async withdrawUndecided(): Promise<void> {
    await Promise.all(
      [...this.#undecided].map(async ([commandId, draft]) => {
        const args = [...this.#time(), NAMES.command(draft.serverId, ""), commandId];
        const withdrawing = this.#link.run(WITHDRAW, namesFor(draft), args);
        // Not forgotten before: whoever claims or closes meanwhile must wait for it too. Twice does no harm.
        await withdrawing.then(() => this.#undecided.delete(commandId)).catch(() => {});
      }),
    );
  }

  /** Lets a command of another store wait here, under its own id and since its own time. */
  async adopt({ commandId, queuedAt, ...draft }: WaitingCommand): Promise<void> {
    await this.#link.run(
      MARK,
      [NAMES.waitingServers],
      [...this.#time(), draft.serverId, MARK_AGAIN_AFTER_MS],
    );
    await this.#accept(commandId, draft, [String(queuedAt), ""]);
  }

  /** What waits for the server, the next one first. */
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
    if (this.#undecided.size > 0) await this.withdrawUndecided();
    const fence = randomBase62(FENCE_LENGTH, randomBytes);
    const unheard = this.#unheard.get(serverId) ?? [];
    let claim: Claim;
    try {
      const args = [fence, this.#leaseMs, holdMs, ...unheard];
      claim = parseClaim(await this.#run(CLAIM, serverId, this.#time(now), args));
    } catch (error) {
      this.#unheard.set(serverId, [...unheard, fence].slice(-UNHEARD_MAX));
      throw error;
    }
    if (claim.kind === "claimed") this.#held.set(serverId, { commandId: claim.command.commandId, fence });
    return claim;
  }

  async hold(serverId: string, now: number, holdMs: number): Promise<void> {
    await this.#run(HOLD, serverId, this.#time(now), [holdMs]);
  }

  async requeue(commandId: string): Promise<void> {
    await this.#endClaim(GIVE_BACK, commandId, this.#time(), []);
  }

  async settle(
    commandId: string,
    { status, isUnsent, upstreamCode, upstreamMessage }: CommandEnd,
    now: number,
  ): Promise<void> {
    const fields: (string | number)[] = [isUnsent ? 0 : 1, "status", status];
    if (upstreamCode !== null) fields.push("upstream_code", upstreamCode);
    if (upstreamMessage !== null) fields.push("upstream_message", upstreamMessage);
    await this.#endClaim(SETTLE, commandId, this.#time(now), fields);
  }

  async expire(serverId: string, cutoff: number, now: number): Promise<number> {
    return parseNumber(await this.#run(EXPIRE, serverId, this.#time(now), [now - cutoff]));
  }

  async cancel(
    serverId: string,
    commandId: string,
    now: number,
    note?: AuditNote,
  ): Promise<Cancellation | undefined> {
    if (findServerOf(commandId) !== serverId) return undefined;
    const names = [...NAMES.queueAndMore(serverId), NAMES.outbox(serverId)];
    const own = [NAMES.command(serverId, ""), commandId, note ? JSON.stringify(note) : ""];
    const reply = parseList(await this.#link.run(CANCEL, names, [...this.#time(now), ...own]));
    const command = parseCommand(reply[1]);
    const isCancelled = reply[0] === 1;
    // The note is safe in the outbox. Should it not be delivered now, any instance that looks at the server does it.
    if (isCancelled && note) await this.#outbox.deliver(serverId).catch(() => {});
    return command && { command, isCancelled };
  }

  async find(commandId: string): Promise<Command | undefined> {
    const serverId = findServerOf(commandId);
    if (serverId === undefined) return undefined;
    return parseCommand(await this.#run(FIND, serverId, this.#time(), [commandId]));
  }

  list(page: PageRequest & CommandFilter): Promise<Page<Command>> {
    const histories = {
      runList: (serverId: string, args: Args) => this.#run(LIST, serverId, this.#time(), args),
      listServerIds: this.#listServerIds,
      listMarked: () => this.#listMarked(),
    };
    return listCommands(histories, page);
  }

  async listWaitingServers(): Promise<readonly string[]> {
    const looks = await this.#lookAtAll();
    return looks.filter(({ look }) => look.waiting > 0).map(({ serverId }) => serverId);
  }

  async listSent(serverId: string, since: number): Promise<readonly SentCommand[]> {
    return parseSent(await this.#run(LIST_SENT, serverId, this.#time(), [since, SENT_LISTED_MAX]));
  }

  async confirm(commandId: string, loggedAt: number, now: number): Promise<void> {
    const serverId = findServerOf(commandId);
    if (serverId === undefined) return;
    await this.#run(CONFIRM, serverId, this.#time(now), [commandId, loggedAt]);
  }

  async report(): Promise<QueueReport> {
    let waiting = 0;
    let oldestQueuedAt: number | null = null;
    for (const { look } of await this.#lookAtAll()) {
      waiting += look.waiting;
      if (look.headQueuedAt === null) continue;
      oldestQueuedAt = Math.min(oldestQueuedAt ?? look.headQueuedAt, look.headQueuedAt);
    }
    return { waiting, oldestQueuedAt };
  }

  /** For a server that is going; how many. */
  async failWaiting(serverId: string, now: number): Promise<number> {
    return parseNumber(await this.#run(FAIL_WAITING, serverId, this.#time(now), [SERVER_DELETED]));
  }

  /** Forgets what finished before that time. */
  async forgetBefore(time: number, now: number): Promise<void> {
    await askInTurns(this.#listServerIds(), async (serverId) => {
      let after: number | undefined = 0;
      while (after !== undefined) {
        const args = [now - time, after, LOOKS_MAX];
        const next = await this.#run(FORGET, serverId, this.#time(now), args);
        after = next === "" ? undefined : parseNumber(next);
      }
      await this.#outbox.deliver(serverId);
    });
    await this.#outbox.forgetDelivered(now);
  }

  #run(script: Script, serverId: string, times: Times, args: Args = []): Promise<Reply> {
    const names = NAMES.queueAndMore(serverId);
    return this.#link.run(script, names, [...times, NAMES.command(serverId, ""), ...args]);
  }

  async #accept(commandId: string, draft: CommandDraft, times: Times): Promise<Acceptance> {
    const { serverId, keyId, text, idempotencyKey } = draft;
    const own = [commandId, keyId, text, QUEUE_MAX, IDEMPOTENCY_KEPT_MS, idempotencyKey ?? ""];
    return parseAcceptance(
      await this.#link.run(ACCEPT, namesFor(draft), [...times, NAMES.command(serverId, ""), ...own]),
    );
  }

  /** Does nothing for a command that this instance is not sending, or not any more. */
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

  /** Looks at every server that is marked; this is also what ends the stale sends of servers that nobody claims for. */
  async #lookAtAll(): Promise<{ serverId: string; look: Look }[]> {
    return askInTurns(await this.#listMarked(), async (serverId) => {
      // One deadline for both: what was seen is still so when the mark is taken back.
      const times = this.#time();
      const names = [...NAMES.queueAndMore(serverId), NAMES.outbox(serverId)];
      const look = parseLook(await this.#link.run(LOOK, names, [...times, NAMES.command(serverId, "")]));
      // What cannot be delivered now stays, and keeps the mark.
      if (look.notes > 0) await this.#outbox.deliver(serverId).catch(() => {});
      else if (look.waiting === 0 && !look.isSending) {
        const unmarking = this.#link.run(
          UNMARK,
          [NAMES.waitingServers],
          [...times, UNMARK_AFTER_MS, serverId],
        );
        // A mark too many does no harm, and the next look tries again.
        await unmarking.catch(() => {});
      }
      return { serverId, look };
    });
  }
}

function namesFor({ serverId, keyId, idempotencyKey }: CommandDraft): string[] {
  const names = NAMES.queueAndMore(serverId);
  return idempotencyKey === undefined
    ? names
    : [...names, NAMES.idempotency(serverId, keyId, idempotencyKey)];
}
