// Commands for the game server: valid texts, the right to send them, and their statuses.
import { DAY_MS } from "../durations.ts";
import { ERRORS, type Refusal, refuse } from "../errors.ts";
import type { Who } from "../people/who.ts";

export const COMMAND_CHARACTERS_MAX = 1_000;
export const QUEUE_MAX = 100;
/** The message of a command that waited for a deleted server. */
export const SERVER_DELETED = "The game server was deleted while this waited.";
export const IDEMPOTENCY_KEPT_MS = DAY_MS;

/** How long the same text from the same key means a command that was sent, and one of which nobody knows whether it was. */
export const SAME_AFTER_SENT_MS = 10_000;
export const SAME_WHILE_UNKNOWN_MS = 10 * 60_000;

/** How much of the past is kept at most, however young it is. */
export type HistoryLimits = {
  /** Finished commands of a server. */
  readonly finishedMax: number;
  /** Cancelled ones among them: they did nothing in the game, so they are dropped sooner. */
  readonly cancelledMax: number;
  /** Receipts of an API key for dropped commands whose idempotency keys are still remembered. */
  readonly receiptsMax: number;
};

export const HISTORY_LIMITS: HistoryLimits = { finishedMax: 10_000, cancelledMax: 1_000, receiptsMax: 20_000 };

/**
 * queued -> sending -> sent | failed | unknown, queued -> expired | cancelled, and sending -> queued when the game API
 * certainly did not get the command. The other five statuses are final.
 */
export const COMMAND_STATUSES = ["queued", "sending", "sent", "failed", "unknown", "expired", "cancelled"] as const;
export type CommandStatus = (typeof COMMAND_STATUSES)[number];

/** `playerId`: who the sender is in the game, if it is known. */
export type Sender = Who & { readonly kind: "person" | "key"; readonly playerId?: string };

export type Command = {
  readonly commandId: string;
  readonly serverId: string;
  readonly keyId: string;
  /** The name is empty for commands of before people had names. */
  readonly sentBy: Sender;
  readonly text: string;
  readonly status: CommandStatus;
  /** 1 for the next to be sent; null when the command is not queued. */
  readonly position: number | null;
  readonly queuedAt: number;
  /** When it was sent to the game API; null while it is queued. */
  readonly sentAt: number | null;
  readonly finishedAt: number | null;
  /** When it was found in the game's own log. */
  readonly confirmedAt: number | null;
  readonly upstreamCode: number | null;
  readonly upstreamMessage: string | null;
};

/** The result of sending. `failed`: the game API refused it. `unknown`: the game may or may not have run it. */
export type CommandEnd = {
  readonly status: "sent" | "failed" | "unknown";
  /** Set when the command failed without being sent. */
  readonly isUnsent?: true;
  readonly upstreamCode: number | null;
  readonly upstreamMessage: string | null;
};

/**
 * Whether a request with the same text and key means this command: it is sent again by a client that has not heard of the end.
 * A time ahead of `now` was written before the clock was set back.
 */
export function isSameCommand({ status, finishedAt }: Pick<Command, "status" | "finishedAt">, now: number): boolean {
  if (status === "queued" || status === "sending") return true;
  if (finishedAt === null) return false;
  const ageMs = Math.abs(now - finishedAt);
  if (status === "sent") return ageMs < SAME_AFTER_SENT_MS;
  return status === "unknown" && ageMs < SAME_WHILE_UNKNOWN_MS;
}

/** What is kept of a text out of which a player was taken. */
export function hashText(text: string): string {
  return Bun.SHA256.hash(text, "hex");
}

const MISSING = refuse(ERRORS.missingCommand);
/** Control characters, line and paragraph separators, lone surrogates. */
const UNSENDABLE = /[\p{Cc}\p{Cs}\u2028\u2029]/u;
const IDEMPOTENCY_KEY_SHAPE = /^[\x21-\x7e]{1,255}$/;

/** `json` is the body of the request. */
export function parseCommand(json: unknown): { readonly text: string } | Refusal {
  if (typeof json !== "object" || json === null || Array.isArray(json)) return MISSING;
  const command = Object.hasOwn(json, "command") ? (json as { command: unknown }).command : undefined;
  if (typeof command !== "string") return MISSING;
  const text = command.trim();
  if (text === "") return MISSING;
  if (UNSENDABLE.test(text)) return refuseCommand("must be one line without control characters or lone surrogates");
  // `length` counts code units, which are never fewer than code points. Counting code points needs a pass over the text.
  const isLong = text.length > COMMAND_CHARACTERS_MAX && Array.from(text).length > COMMAND_CHARACTERS_MAX;
  return isLong ? refuseCommand(`must have at most ${COMMAND_CHARACTERS_MAX} characters`) : { text };
}

/** Undefined when there is no header. */
export function parseIdempotencyKey(header: string | null): string | undefined | Refusal {
  if (header === null) return undefined;
  if (IDEMPOTENCY_KEY_SHAPE.test(header)) return header;
  const details = { "Idempotency-Key": "must be 1 to 255 visible characters" };
  return refuse(ERRORS.invalidRequest, { details });
}

/** `allowed` are the names of commands that the key may run, or "*" for all. */
export function mayRun(allowed: readonly string[], text: string): boolean {
  const name = (text.split(/\s/, 1)[0] ?? "").toLowerCase();
  return allowed.some((entry) => {
    return entry === "*" || entry.toLowerCase() === name || toCommandName(entry).toLowerCase() === name;
  });
}

/** The name of a command as the game writes it: "h" means ":h". "*" and names with another first character stay. */
export function toCommandName(name: string): string {
  return /^[\p{L}\p{N}]/u.test(name) ? `:${name}` : name;
}

/** Whether a key with these command rights sees the commands of the server's other keys too. */
export function seesAllCommands(allowed: readonly string[]): boolean {
  return allowed.includes("*");
}

function refuseCommand(reason: string): Refusal {
  return refuse(ERRORS.invalidRequest, { details: { command: reason } });
}
