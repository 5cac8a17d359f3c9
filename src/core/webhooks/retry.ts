// What an attempt to deliver means: done, try again later, set the event aside, or disable the webhook.
import { DAY_MS, MINUTE_MS } from "../durations.ts";
import type { DisabledCode, WebhookFormat, WebhookProgress } from "./webhook.ts";

/** A webhook without a success for this long since its first failure is disabled. */
export const FAILING_MAX_MS = 5 * DAY_MS;
/** An event that was refused this often is set aside. */
export const REFUSALS_MAX = 5;
/** A receiver cannot put us off for longer than this. */
export const RETRY_AFTER_MAX_MS = DAY_MS;
/** Nor can Discord, which tells waits of seconds, and of minutes at most. */
export const DISCORD_WAIT_MAX_MS = 10 * MINUTE_MS;
/** Nor can it have us send again at once, over and over. */
export const TOLD_WAIT_MIN_MS = 250;
/** The wait before a retry is longer than scheduled by at most this part. */
const JITTER = 0.1;
/** 4xx answers that are about the moment and not about the event. */
const TEMPORARY_REFUSALS: ReadonlySet<number> = new Set([408, 425, 429]);

/** Who may speak for all of Discord. The clients for testers, Canary and PTB, give addresses of these subdomains. */
const DISCORD_URL = /^https:\/\/(?:(?:canary|ptb)\.)?discord(?:app)?\.com\.?(?:\/|$)/;

/** Discord's codes in the body of an error. */
const UNKNOWN_MESSAGE = 10_008;
const UNKNOWN_WEBHOOK = 10_015;
const INVALID_TOKEN = 50_027;

/** `status` is null when no answer came. The names of `headers` are in lower case. */
export type AttemptOutcome = {
  readonly status: number | null;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
};

/** What the attempt changes of the webhook, besides its place. */
export type ProgressChange = Omit<WebhookProgress, "place" | "message">;

/**
 * `done`: go on after the events that were sent. `retry`: send them again at `nextAttemptAt`. `set-aside`: go on after the
 * first of them, which the receiver refuses. `disable`: send nothing more until the operator enables the webhook.
 * `globalPauseUntil`: until then no Discord webhook of this instance may send.
 */
export type AttemptVerdict = {
  readonly kind: "done" | "retry" | "set-aside" | "disable";
  readonly progress: ProgressChange;
  readonly globalPauseUntil: number | null;
};

export type Attempt = {
  readonly format: WebhookFormat;
  /** Where it went, up to the host at least. */
  readonly url: string;
  readonly before: ProgressChange;
  readonly outcome: AttemptOutcome;
  /** GATEHOUSE_WEBHOOKS_RETRY_MS: the waits in turn; the last one repeats. */
  readonly scheduleMs: readonly number[];
  readonly now: number;
  /** From 0 to 1. */
  readonly random: number;
};

export function judgeDelivery(attempt: Attempt): AttemptVerdict {
  const { format, url, before, outcome, now } = attempt;
  const { status } = outcome;
  if (status !== null && status >= 200 && status <= 299) return judgeSuccess(attempt);
  const isRefusal = status !== null && status >= 400 && status <= 499 && !TEMPORARY_REFUSALS.has(status);
  // A time ahead was noted before the clock was set back.
  const firstFailureAt = Math.min(before.firstFailureAt ?? now, now);
  const failed: ProgressChange = {
    ...before,
    lastFailureAt: now,
    firstFailureAt,
    failures: before.failures + 1,
    refusals: before.refusals + Number(isRefusal),
    nextAttemptAt: null,
  };
  const reason = findEnd(format, outcome) ?? (now - firstFailureAt >= FAILING_MAX_MS ? "exhausted" : undefined);
  if (reason !== undefined)
    return { kind: "disable", progress: { ...failed, disabledReason: reason }, globalPauseUntil: null };
  if (failed.refusals >= REFUSALS_MAX)
    return { kind: "set-aside", progress: { ...failed, failures: 0, refusals: 0 }, globalPauseUntil: null };
  const nextAttemptAt = findNextAttempt(attempt, firstFailureAt);
  const isLimited = isDiscord(format) && status === 429 && DISCORD_URL.test(url);
  const isGlobal = isLimited && parseBody(outcome.body).global === true;
  return {
    kind: "retry",
    progress: { ...failed, nextAttemptAt },
    globalPauseUntil: isGlobal ? Math.min(nextAttemptAt, now + DISCORD_WAIT_MAX_MS) : null,
  };
}

/** Whether Discord says that the message to be edited does not exist any more. */
export function isUnknownMessage({ status, body }: AttemptOutcome): boolean {
  return status === 404 && parseBody(body).code === UNKNOWN_MESSAGE;
}

function judgeSuccess({ format, before, outcome, now }: Attempt): AttemptVerdict {
  const { headers } = outcome;
  // The next call would be refused, and refused calls count toward a ban of the address.
  const isUsedUp = isDiscord(format) && headers["x-ratelimit-remaining"] === "0";
  const resetMs = isUsedUp ? parseResetAfter(headers) : undefined;
  const progress: ProgressChange = {
    ...before,
    lastSuccessAt: now,
    firstFailureAt: null,
    failures: 0,
    refusals: 0,
    nextAttemptAt: resetMs === undefined ? null : now + resetMs,
    disabledReason: null,
  };
  return { kind: "done", progress, globalPauseUntil: null };
}

/** Why the receiver will never take anything again. */
function findEnd(format: WebhookFormat, { status, body }: AttemptOutcome): DisabledCode | undefined {
  if (status === 410) return "gone";
  if (!isDiscord(format) || (status !== 404 && status !== 401)) return undefined;
  const { code } = parseBody(body);
  if (status === 404 && code === UNKNOWN_WEBHOOK) return "unknown_webhook";
  if (status === 401 && code === INVALID_TOKEN) return "invalid_token";
  return undefined;
}

function findNextAttempt(
  { format, before, outcome, scheduleMs, now, random }: Attempt,
  firstFailureAt: number,
): number {
  const { status, headers, body } = outcome;
  const retryAfterMs = status === null ? undefined : parseRetryAfter(headers["retry-after"], now);
  if (isDiscord(format) && status === 429) {
    const told = toMs(parseBody(body).retry_after) ?? parseResetAfter(headers) ?? retryAfterMs;
    if (told !== undefined) return now + Math.min(Math.max(told, TOLD_WAIT_MIN_MS), DISCORD_WAIT_MAX_MS);
  }
  const scheduled = scheduleMs[Math.min(before.failures, scheduleMs.length - 1)] ?? 0;
  const waitMs = Math.ceil(scheduled * (1 + JITTER * random));
  // The last attempt is made when the five days are over, so that the webhook is disabled in time.
  const at = Math.min(now + waitMs, firstFailureAt + FAILING_MAX_MS);
  return Math.max(at, now + (retryAfterMs ?? 0));
}

function parseResetAfter(headers: AttemptOutcome["headers"]): number | undefined {
  const ms = parseSeconds(headers["x-ratelimit-reset-after"]);
  return ms === undefined ? undefined : Math.min(ms, DISCORD_WAIT_MAX_MS);
}

const HTTP_DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** Seconds or an HTTP date, as milliseconds from now up to RETRY_AFTER_MAX_MS; undefined when it is neither. */
export function parseRetryAfter(text: string | undefined, now: number): number | undefined {
  const trimmed = text?.trim() ?? "";
  if (!HTTP_DATE.test(trimmed)) return parseSeconds(trimmed);
  const at = Date.parse(trimmed);
  return Number.isNaN(at) ? undefined : Math.min(Math.max(0, at - now), RETRY_AFTER_MAX_MS);
}

function parseSeconds(text: string | undefined): number | undefined {
  return text !== undefined && /^\d+(?:\.\d+)?$/.test(text) ? toMs(Number(text)) : undefined;
}

function toMs(seconds: unknown): number | undefined {
  if (typeof seconds !== "number" || !(seconds >= 0)) return undefined;
  return Math.min(Math.ceil(seconds * 1000), RETRY_AFTER_MAX_MS);
}

function isDiscord(format: WebhookFormat): boolean {
  return format !== "standard";
}

function parseBody(body: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}
