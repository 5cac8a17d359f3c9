// Reads an answer of the game API that is no success: its code, its message, and what it says about its limit.
import type { LimitHint, UpstreamFailure } from "../core/ports/upstream.ts";
import { RATE_LIMITED } from "../core/upstream-codes.ts";
import { isJsonObject } from "./fit-shape.ts";

const CODE_MAX = 99_999;

/** The three forms seen: {code, message}, {error, code}, {message, commandId}. The message is not cleaned yet. */
export function parseFailure(status: number, text: string): UpstreamFailure {
  const body = parseObject(text);
  const given = findInteger(body?.code) ?? 0;
  const code = status === 429 && given === 0 ? RATE_LIMITED : given;
  const said = [body?.message, body?.error].find((part) => typeof part === "string" && part !== "");
  const message = typeof said === "string" ? said : describeStatus(status);
  return { code, message, isRateLimit: status === 429 || code === RATE_LIMITED };
}

/** Clocks that differ by less than this are taken to agree; the Date header has whole seconds only. */
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

/** How far the game API's clock is ahead of ours: its times must be read by its clock, not by ours. */
function findSkewMs(date: string | null, now: number): number {
  const skewMs = date === null ? Number.NaN : Date.parse(date) - now;
  return Math.abs(skewMs) >= SKEW_MIN_MS ? skewMs : 0;
}

/** Seconds or an HTTP date; null for none, and for one that names no time ahead. Of several, joined by a comma, the longest. */
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

/** A finite number that is not negative, written as a number or as text. */
function findNumber(value: unknown): number | null {
  if (typeof value !== "number" && typeof value !== "string") return null;
  if (typeof value === "string" && !/^\s*\d+(?:\.\d+)?\s*$/.test(value)) return null;
  const number = Number(value);
  return Number.isFinite(number) && number >= 0 ? number : null;
}
