// Decides what follows the end of a stream: when to open it again, or that there is none to be had.
import { ERRORS } from "../../core/errors.ts";
import type { ApiError } from "../api/request.ts";

/** The wait after the first failure; Gatehouse sends the same time as `retry`. */
const FIRST_MS = 2_000;
const MAX_MS = 30_000;
/** For refusals that rarely change while the page is open. */
const SELDOM_MS = 60_000;
/** A stream that lived for this long was a good one, so the next failure is the first again. */
export const GOOD_STREAM_MS = 10_000;

/** `random` gives 0 to 1. Half of each wait is jitter, so that all pages do not come back at the same moment. */
export function backoffMs(failures: number, random: () => number): number {
  const longest = Math.min(FIRST_MS * 2 ** Math.max(0, failures - 1), MAX_MS);
  return addJitter(longest, random);
}

/** The wait after a refusal; undefined when another try is of no use. */
export function refusalBackoffMs(
  error: ApiError,
  failures: number,
  random: () => number,
): number | undefined {
  const { code, status, retryAfter } = error;
  // There is no archive, or the key does not work any more.
  if (code === ERRORS.notConfigured.code || status === 401) return undefined;
  const isTemporary = status === 0 || status >= 500;
  const wait = isTemporary ? backoffMs(failures, random) : addJitter(SELDOM_MS, random);
  return Math.max(wait, (retryAfter ?? 0) * 1000);
}

function addJitter(longestMs: number, random: () => number): number {
  return Math.round(longestMs * (0.5 + random() / 2));
}
