// The queues of commands in Redis, for all instances at once. Each step is one script. Whoever claims a command has it for
// the length of a lease; after that the command is unknown, and what its claimer has to say about it changes nothing.
import { randomBytes } from "node:crypto";
import { type Command, type CommandEnd, IDEMPOTENCY_KEPT_MS, QUEUE_MAX } from "../../core/command.ts";
import { StoreUnavailable } from "../../core/errors.ts";
import type {
  Acceptance,
  Claim,
  CommandDraft,
  CommandFilter,
  CommandQueue,
  Page,
  PageRequest,
  QueueReport,
  SentCommand,
  WaitingCommand,
} from "../../core/ports.ts";
import { randomBase62 } from "../../core/token.ts";
import { findServerOf, newCommandId } from "../command-id.ts";
import {
  type Listed,
  type Look,
  parseAcceptance,
  parseClaim,
  parseCommand,
  parseList,
  parseLook,
  parseNumber,
  parsePart,
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
  MARK,
  SETTLE,
  UNMARK,
  WITHDRAW,
} from "./command-scripts.ts";
import type { ScriptTimes } from "./directory.ts";
import { NAMES } from "./names.ts";
import { NOT_ASKED, type RedisLink, type Reply } from "./redis-link.ts";
import type { Script } from "./script.ts";

/**
 * A mark that is younger than the first is not renewed, one that is younger than the second not taken back. What lies
 * between must be longer than any script is under way, and any difference between the clocks of a cluster.
 */
const MARK_AGAIN_AFTER_MS = 30_000;
const UNMARK_AFTER_MS = 60_000;

/** No script looks at more commands than this: Redis does nothing else meanwhile. */
const LOOKS_MAX = 500;
const SENT_LISTED_MAX = 1_000;
/** How many servers are asked at the same time. */
const SERVERS_AT_ONCE = 100;
/** How many servers are asked for a whole page at the same time: the first few often have all of it. */
const PAGES_AT_ONCE = 10;
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
  readonly time: ScriptTimes;
};

type Held = { readonly commandId: string; readonly fence: string };
type Times = ReturnType<ScriptTimes>;
type Position = { readonly seq: number; readonly commandId: string };

export class RedisCommandQueue implements CommandQueue {
  readonly #link: RedisLink;
  readonly #leaseMs: number;
  readonly #listServerIds: () => readonly string[];
  readonly #time: ScriptTimes;
  /** What this instance is sending, by server. */
  readonly #held = new Map<string, Held>();
  /** The fences of claims that no answer came to, by server: what they may have got was not sent. */
  readonly #unheard = new Map<string, readonly string[]>();
  /** Submissions that no answer came to, by command: they were refused, so they must not happen. */
  readonly #undecided = new Map<string, CommandDraft>();

  constructor({ link, leaseMs, listServerIds, time }: RedisCommandQueueParts) {
    this.#link = link;
    this.#leaseMs = leaseMs;
    this.#listServerIds = listServerIds;
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
    const entries = [...this.#undecided];
    // Nobody else takes them up meanwhile.
    this.#undecided.clear();
    await Promise.all(
      entries.map(async ([commandId, draft]) => {
        const args = [...this.#time(), NAMES.command(draft.serverId, ""), commandId];
        const withdrawing = this.#link.run(WITHDRAW, namesFor(draft), args);
        await withdrawing.catch(() => this.#undecided.set(commandId, draft));
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

  async giveBack(commandId: string): Promise<void> {
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
  ): Promise<{ command: Command; isCancelled: boolean } | undefined> {
    if (findServerOf(commandId) !== serverId) return undefined;
    const reply = parseList(await this.#run(CANCEL, serverId, this.#time(now), [commandId]));
    const command = parseCommand(reply[1]);
    return command && { command, isCancelled: reply[0] === 1 };
  }

  async find(commandId: string): Promise<Command | undefined> {
    const serverId = findServerOf(commandId);
    if (serverId === undefined) return undefined;
    return parseCommand(await this.#run(FIND, serverId, this.#time(), [commandId]));
  }

  async list({ limit, cursor, serverId, status }: PageRequest & CommandFilter): Promise<Page<Command>> {
    const after = parseCursor(cursor);
    const part = (id: string) => this.#listPart(id, after, status ?? "", limit + 1);
    const found =
      serverId === undefined
        ? await this.#listOverServers(after, status, limit + 1, part)
        : await part(serverId);
    const shown = found.slice(0, limit);
    const last = shown.at(-1);
    return {
      items: shown.map(({ command }) => command),
      next: found.length > limit && last ? toCursor(last) : null,
    };
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
    });
  }

  #run(
    script: Script,
    serverId: string,
    times: Times,
    args: readonly (string | number)[] = [],
  ): Promise<Reply> {
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
  async #endClaim(
    script: Script,
    commandId: string,
    times: Times,
    args: readonly (string | number)[],
  ): Promise<void> {
    const serverId = findServerOf(commandId);
    const held = serverId === undefined ? undefined : this.#held.get(serverId);
    if (serverId === undefined || held?.commandId !== commandId) return;
    await this.#run(script, serverId, times, [commandId, held.fence, ...args]);
    if (this.#held.get(serverId) === held) this.#held.delete(serverId);
  }

  /** The newest of one server that come after that position in the list. */
  async #listPart(serverId: string, after: Position, status: string, limit: number): Promise<Listed[]> {
    const listed: Listed[] = [];
    // With the one at the position itself: another server may have one with the same seq.
    let before: number | undefined = after.seq + 1;
    while (before !== undefined && listed.length < limit) {
      const args = [before, status, limit - listed.length + 1, LOOKS_MAX];
      const part = parsePart(await this.#run(LIST, serverId, this.#time(), args));
      listed.push(...part.found.filter((one) => compareNewestFirst(after, toPosition(one)) < 0));
      before = part.before;
    }
    return listed;
  }

  /** Asks those servers first whose newest command is the newest, and no more of them than can matter. */
  async #listOverServers(
    after: Position,
    status: string | undefined,
    limit: number,
    listPart: (serverId: string) => Promise<Listed[]>,
  ): Promise<Listed[]> {
    const isOpen = status === "queued" || status === "sending";
    const serverIds = isOpen ? await this.#listMarked() : this.#listServerIds();
    const heads = await askInTurns(serverIds, async (serverId) => {
      const [newest] = await this.#listPart(serverId, after, "", 1);
      return newest ? [{ serverId, seq: newest.seq }] : [];
    });
    const sorted = heads.flat().sort((a, b) => b.seq - a.seq);
    let listed: Listed[] = [];
    for (let i = 0; i < sorted.length; i += PAGES_AT_ONCE) {
      const batch = sorted.slice(i, i + PAGES_AT_ONCE);
      const last = listed[limit - 1];
      if (last && batch[0] && last.seq > batch[0].seq) break;
      const parts = await Promise.all(batch.map(({ serverId }) => listPart(serverId)));
      listed = [...listed, ...parts.flat()]
        .sort((a, b) => compareNewestFirst(toPosition(a), toPosition(b)))
        .slice(0, limit);
    }
    return listed;
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
      const look = parseLook(await this.#run(LOOK, serverId, times));
      if (look.waiting === 0 && !look.isSending) {
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

/** Asks some servers at a time. */
async function askInTurns<T>(
  serverIds: readonly string[],
  ask: (serverId: string) => Promise<T>,
): Promise<T[]> {
  const answers: T[] = [];
  for (let i = 0; i < serverIds.length; i += SERVERS_AT_ONCE) {
    answers.push(...(await Promise.all(serverIds.slice(i, i + SERVERS_AT_ONCE).map(ask))));
  }
  return answers;
}

function toPosition({ seq, command }: Listed): Position {
  return { seq, commandId: command.commandId };
}

function compareNewestFirst(a: Position, b: Position): number {
  if (a.seq !== b.seq) return b.seq - a.seq;
  if (a.commandId === b.commandId) return 0;
  return a.commandId > b.commandId ? -1 : 1;
}

function toCursor(last: Listed): string {
  return `${last.seq.toString(36)}.${last.command.commandId}`;
}

/** What is no cursor stands for the end. */
function parseCursor(cursor: string | undefined): Position {
  if (cursor === undefined) return { seq: Number.MAX_SAFE_INTEGER - 1, commandId: "" };
  const [seq = "", commandId = ""] = cursor.split(".");
  return { seq: Number.parseInt(seq, 36) || 0, commandId };
}
