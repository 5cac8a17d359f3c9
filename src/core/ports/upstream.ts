// The game API.
import type { Section } from "../sections.ts";

/** The rate-limit headers of an answer; null for those that are missing. Times are epoch milliseconds. */
export type LimitHint = {
  readonly limit: number | null;
  readonly remaining: number | null;
  readonly resetAt: number | null;
  readonly retryAfterMs: number | null;
  /** How far this machine's clock is ahead of the game API's, see findClockOffset. */
  readonly clockOffsetMs?: number | undefined;
};

/**
 * `code` is 0 when the game API sent none. The message is safe to show: cleaned, shortened and without secrets.
 * `isRateLimit`: the call was refused because of a rate limit, whatever the code.
 */
export type UpstreamFailure = { readonly code: number; readonly message: string; readonly isRateLimit: boolean };

/**
 * A checked ServerInfo as JSON text: `base` is the object of required fields without its closing brace, `sections`
 * the value of each section in the order of SECTIONS. `misfits` counts the values that were dropped because they do not
 * match the schema.
 */
export type ServerParts = { readonly base: string; readonly sections: readonly string[]; readonly misfits: number };

/**
 * The same ServerInfo as values, for comparing readings. `sections` has only those that the answer had in their right JSON
 * type: a missing section is not an empty one. Nor is a map of Staff that was null or of another type. Numbers that a double would change
 * are exact JSON.
 */
export type ServerContent = {
  readonly settings: Readonly<Record<string, unknown>>;
  readonly sections: Readonly<Partial<Record<Section, unknown>>>;
};

/** Stands for content that stayed in the thread that read it. */
export type KeptContent = { readonly kept: number };

/** `hint` is null when no answer came. */
export type UpstreamReading = { readonly hint: LimitHint | null } & (
  | { readonly parts: ServerParts; readonly content: ServerContent | KeptContent }
  | { readonly failure: UpstreamFailure }
);

/**
 * `done`: the game API accepted the command. `refused`: it answered with an error. `unsent`: it certainly did not get the
 * command. `lost`: it may have got the command, because no valid answer came.
 */
export type Delivery = { readonly hint: LimitHint | null } & (
  | { readonly outcome: "done" }
  | { readonly outcome: "refused" | "unsent" | "lost"; readonly failure: UpstreamFailure }
);

/** Calls the game API. Never throws; a call that is not answered before its deadline is a failure. */
export interface Upstream {
  readServer(serverKey: string): Promise<UpstreamReading>;
  /** Sends once and never retries. */
  sendCommand(serverKey: string, text: string): Promise<Delivery>;
}
