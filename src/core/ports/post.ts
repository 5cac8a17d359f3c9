// One request to the receiver of a webhook.

/** The whole attempt, from resolving the name to the end of the answer, takes at most this long. */
export const POST_DEADLINE_MS = 15_000;
/** More of an answer is not read, from its first byte on: interim (1xx) answers and headers count. */
export const ANSWER_BYTES_MAX = 16 * 1024;
/** A receiver that sends more interim (1xx) answers before the final one fails. */
export const INTERIM_ANSWERS_MAX = 10;

/** Why no answer came. `protocol`: not HTTP, or too much before the final status. `stopped`: this instance ended the attempt. */
export type PostError =
  | "private_address"
  | "not_https"
  | "dns"
  | "connection"
  | "tls"
  | "timeout"
  | "protocol"
  | "stopped";

export type PostRequest = {
  readonly method: "POST" | "PATCH";
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** Sent as exactly this text in UTF-8. */
  readonly body: string;
};

/**
 * `status` and `error`: exactly one of them is null. `headers` has those that say when to send again, with names in lower
 * case. `body` is the beginning of the answer, as the receiver wrote it: it may hold anything.
 */
export type PostOutcome = {
  readonly status: number | null;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
  readonly error: PostError | null;
  readonly durationMs: number;
};

/**
 * Sends once, to an address that is public, and follows no redirect. The name in the url is resolved at every call. Never
 * throws. `stop` ends the attempt.
 */
export type Post = (request: PostRequest, stop?: AbortSignal) => Promise<PostOutcome>;
