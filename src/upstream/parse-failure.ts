// Parses a refusal of the game API: its code, its message, and its rate limit headers.
import type { LimitHint, UpstreamFailure } from "../core/ports/upstream.ts";
import { RATE_LIMITED } from "../core/readings/upstream-codes.ts";
import { isJsonObject } from "./fit-shape.ts";

const CODE_MAX = 99_999;

/** Known forms are {code, message}, {error, code} and {message, commandId}. The message is not cleaned yet. */
export function parseFailure(status: number, text: string): UpstreamFailure {
  const body = parseObject(text);
  const given = findInteger(body?.code) ?? 0;
  const code = status === 429 && given === 0 ? RATE_LIMITED : given;
  const found = [body?.message, body?.error].find((part) => typeof part === "string" && part !== "");
  const message = typeof found === "string" ? found : describeStatus(status);
  return { code, message, isRateLimit: status === 429 || code === RATE_LIMITED };
}

/** A smaller difference between the clocks is ignored, because the Date header has whole seconds only. */
const SKEW_MIN_MS = 5_000;

export function describeStatus(status: number): string {
  return `The game API answered with HTTP ${status}.`;
}

export function parseLimitHint(headers: Headers, text: string, now: number): LimitHint {
  const resetSeconds = findNumber(headers.get("x-ratelimit-reset"));
  const skewMs = findSkewMs(headers.get("date"), now);
  const retryHeaderMs = parseRetryAfter(headers.get("retry-after"), now + skewMs);
  const body = retryHeaderMs === null ? parseObject(text) : undefined;
  const retryBody = findNumber(body?.retry_after);
  return {
    limit: findNumber(headers.get("x-ratelimit-limit")),
    remaining: findNumber(headers.get("x-ratelimit-remaining")),
    resetAt: resetSeconds === null ? null : resetSeconds * 1000 - skewMs,
    retryAfterMs: retryHeaderMs ?? (retryBody ? Math.ceil(retryBody * 1000) : null),
  };
}

/** How far the game API's clock is ahead of ours. Its times are converted by this. */
function findSkewMs(date: string | null, now: number): number {
  const skewMs = date === null ? Number.NaN : Date.parse(date) - now;
  return Math.abs(skewMs) >= SKEW_MIN_MS ? skewMs : 0;
}

/** Seconds or an HTTP date; null when it is absent or not in the future. Of several values the longest counts. */
function parseRetryAfter(value: string | null, now: number): number | null {
  const numbers = value?.split(",").map(findNumber) ?? [];
  const seconds = numbers.reduce((longest, one) => {
    return longest === null || one === null ? null : Math.max(longest, one);
  }, numbers[0] ?? null);
  const date = value !== null && /^[A-Za-z]/.test(value) ? Date.parse(value) : Number.NaN;
  const ms = seconds === null ? date - now : Math.ceil(seconds * 1000);
  return ms > 0 ? ms : null;
}

function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const body: unknown = JSON.parse(text);
    return isJsonObject(body) ? body : undefined;
  } catch {
    return undefined;
  }
}

function findInteger(value: unknown): number | undefined {
  const isCode = typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= CODE_MAX;
  return isCode ? value : undefined;
}

/** A finite, non-negative number, given as a number or as text. */
function findNumber(value: unknown): number | null {
  if (typeof value !== "number" && typeof value !== "string") return null;
  if (typeof value === "string" && !/^\s*\d+(?:\.\d+)?\s*$/.test(value)) return null;
  const number = Number(value);
  return Number.isFinite(number) && number >= 0 ? number : null;
}
