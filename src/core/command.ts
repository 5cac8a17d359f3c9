// A command for the game server: what makes a text one, who may send it, and the states it goes through.
import { ERRORS, type Refusal, refuse } from "./errors.ts";

export const COMMAND_CHARACTERS_MAX = 1_000;
export const QUEUE_MAX = 100;
export const IDEMPOTENCY_KEPT_MS = 24 * 3_600_000;

/**
 * queued -> sending -> sent | failed | unknown, queued -> expired | cancelled, and sending -> queued when the game API
 * has surely not taken it. What is no longer queued or sending stays as it is.
 */
export const COMMAND_STATUSES = [
  "queued",
  "sending",
  "sent",
  "failed",
  "unknown",
  "expired",
  "cancelled",
] as const;
export type CommandStatus = (typeof COMMAND_STATUSES)[number];

export type Command = {
  readonly commandId: string;
  readonly serverId: string;
  readonly keyId: string;
  readonly text: string;
  readonly status: CommandStatus;
  /** 1 for the next to be sent; null when it does not wait. */
  readonly position: number | null;
  readonly queuedAt: number;
  /** When it was handed to the game API; null while it waits. */
  readonly sentAt: number | null;
  readonly finishedAt: number | null;
  /** When it was seen in the game's own log. */
  readonly confirmedAt: number | null;
  readonly upstreamCode: number | null;
  readonly upstreamMessage: string | null;
};

/** How sending ended. `failed` carries the game API's code; `unknown`: nobody can tell whether the game ran it. */
export type CommandEnd = {
  readonly status: "sent" | "failed" | "unknown";
  /** Set for one that failed without being handed over. */
  readonly isUnsent?: true;
  readonly upstreamCode: number | null;
  readonly upstreamMessage: string | null;
};

const MISSING = refuse(ERRORS.missingCommand);
/** Control characters, line and paragraph separators, halves of surrogate pairs. */
const UNSENDABLE = /[\p{Cc}\p{Cs}\u2028\u2029]/u;
const IDEMPOTENCY_KEY_SHAPE = /^[\x21-\x7e]{1,255}$/;

/** The text to send, from a JSON body. */
export function parseCommand(json: unknown): { readonly text: string } | Refusal {
  if (typeof json !== "object" || json === null || Array.isArray(json)) return MISSING;
  const command = Object.hasOwn(json, "command") ? (json as { command: unknown }).command : undefined;
  if (typeof command !== "string") return MISSING;
  const text = command.trim();
  if (text === "") return MISSING;
  if (UNSENDABLE.test(text)) {
    return refuseCommand("must be one line without control characters or lone surrogates");
  }
  // No text has more code points than code units; counting the former costs a pass over it.
  const isLong = text.length > COMMAND_CHARACTERS_MAX && Array.from(text).length > COMMAND_CHARACTERS_MAX;
  return isLong ? refuseCommand(`must have at most ${COMMAND_CHARACTERS_MAX} characters`) : { text };
}

/** The Idempotency-Key header; undefined when there is none. */
export function parseIdempotencyKey(header: string | null): string | undefined | Refusal {
  if (header === null) return undefined;
  if (IDEMPOTENCY_KEY_SHAPE.test(header)) return header;
  const details = { "Idempotency-Key": "must be 1 to 255 visible characters" };
  return refuse(ERRORS.invalidRequest, { details });
}

/** `allowed` is what a key may run: names, or "*" for everything. */
export function mayRun(allowed: readonly string[], text: string): boolean {
  const name = (text.split(/\s/, 1)[0] ?? "").toLowerCase();
  return allowed.some((entry) => entry === "*" || entry.toLowerCase() === name);
}

function refuseCommand(reason: string): Refusal {
  return refuse(ERRORS.invalidRequest, { details: { command: reason } });
}
