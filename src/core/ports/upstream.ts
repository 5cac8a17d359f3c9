// The game API as the rules see it.

/** What the game API said about its limit; null for what it did not say. Times are epoch milliseconds. */
export type LimitHint = {
  readonly limit: number | null;
  readonly remaining: number | null;
  readonly resetAt: number | null;
  readonly retryAfterMs: number | null;
};

/**
 * `code` is 0 when the game API gave none. The message is safe to show: cleaned, capped and free of secrets.
 * `isRateLimit`: no call may be made for a while, whatever the code.
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
 * `done`: the game API accepted the command. `refused`: it answered no, with a code. `unsent`: it certainly did not get
 * the command. `lost`: it may have got it, and nobody can tell.
 */
export type Delivery = { readonly hint: LimitHint | null } & (
  | { readonly outcome: "done" }
  | { readonly outcome: "refused" | "unsent" | "lost"; readonly failure: UpstreamFailure }
);

/** Calls the game API. Never throws and never hangs: whatever goes wrong within the deadline is a failure. */
export interface Upstream {
  readServer(serverKey: string): Promise<UpstreamReading>;
  /** Sends once and never retries. */
  sendCommand(serverKey: string, text: string): Promise<Delivery>;
}
