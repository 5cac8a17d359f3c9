// Parses the replies of the scripts on commands.
import { COMMAND_STATUSES, type Command, type CommandStatus } from "../../core/command.ts";
import { StoreUnavailable } from "../../core/errors.ts";
import type { Acceptance, Claim, SentCommand } from "../../core/ports/commands.ts";
import { findServerOf } from "../command-id.ts";
import type { Reply } from "./redis-link.ts";

/** A command with its position in the history. */
export type Listed = { readonly seq: number; readonly command: Command };

/** The work that waits for a server. */
export type QueueState = {
  readonly waiting: number;
  readonly headQueuedAt: number | null;
  readonly isSending: boolean;
  /** Audit entries in the outbox. */
  readonly notes: number;
};

export function parseAcceptance(reply: Reply): Acceptance {
  const [kind, commandId, position, queuedAt] = parseList(reply);
  if (kind === "full" || kind === "mismatch") return { declined: kind };
  return {
    receipt: {
      commandId: parseText(commandId),
      position: parseNumber(position),
      queuedAt: parseNumber(queuedAt),
    },
  };
}

export function parseClaim(reply: Reply): Claim {
  const [kind, first, second] = parseList(reply);
  if (kind === "empty" || kind === "busy") return { kind };
  if (kind === "wait") return { kind, until: parseNumber(first), headQueuedAt: parseNumber(second) };
  return { kind: "claimed", command: parseListed(first).command };
}

/** Undefined when there is no such command. */
export function parseCommand(reply: Reply | undefined): Command | undefined {
  return reply === null ? undefined : parseListed(reply).command;
}

/** `before`: where the next part begins; undefined after the last part. */
export function parsePart(reply: Reply): { found: Listed[]; before: number | undefined } {
  const [before, commands] = parseList(reply);
  return {
    found: parseList(commands).map(parseListed),
    before: before === "" ? undefined : parseNumber(before),
  };
}

export function parseSent(reply: Reply): SentCommand[] {
  return parseList(reply).map((entry) => {
    const [commandId, text, sentAt, loggedAt] = parseList(entry);
    return {
      commandId: parseText(commandId),
      text: parseText(text),
      sentAt: parseNumber(sentAt),
      loggedAt: loggedAt === null ? null : parseNumber(loggedAt),
    };
  });
}

export function parseQueueState(reply: Reply): QueueState {
  const [waiting, headQueuedAt, isSending, notes] = parseList(reply);
  return {
    waiting: parseNumber(waiting),
    headQueuedAt: headQueuedAt === null ? null : parseNumber(headQueuedAt),
    isSending: isSending === 1,
    notes: parseNumber(notes),
  };
}

export function parseList(reply: Reply | undefined): Reply[] {
  return Array.isArray(reply) ? reply : refuse(reply);
}

export function parseText(reply: Reply | undefined): string {
  return typeof reply === "string" ? reply : refuse(reply);
}

/** Redis returns stored numbers as text. */
export function parseNumber(reply: Reply | undefined): number {
  const number = typeof reply === "string" && reply !== "" ? Number(reply) : reply;
  return Number.isFinite(number) ? Number(number) : refuse(reply);
}

function parseListed(reply: Reply | undefined): Listed {
  const [id, position, ...pairs] = parseList(reply);
  const fields = new Map<string, Reply>();
  for (let i = 0; i + 1 < pairs.length; i += 2) fields.set(parseText(pairs[i]), pairs[i + 1] ?? null);
  const findNumber = (name: string) => (fields.has(name) ? parseNumber(fields.get(name)) : null);
  const commandId = parseText(id);
  const command: Command = {
    commandId,
    serverId: findServerOf(commandId) ?? refuse(id),
    keyId: parseText(fields.get("key_id")),
    text: parseText(fields.get("text")),
    status: parseStatus(fields.get("status")),
    position: position === "" ? null : parseNumber(position),
    queuedAt: parseNumber(fields.get("queued_at")),
    sentAt: findNumber("sent_at"),
    finishedAt: findNumber("finished_at"),
    confirmedAt: findNumber("confirmed_at"),
    upstreamCode: findNumber("upstream_code"),
    upstreamMessage: fields.has("upstream_message") ? parseText(fields.get("upstream_message")) : null,
  };
  return { seq: parseNumber(fields.get("seq")), command };
}

function parseStatus(reply: Reply | undefined): CommandStatus {
  return COMMAND_STATUSES.find((status) => status === reply) ?? refuse(reply);
}

function refuse(reply: Reply | undefined): never {
  throw new StoreUnavailable(`Redis sent an unexpected reply: ${JSON.stringify(reply)}`);
}
