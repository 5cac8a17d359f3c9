// The clock: blocks, expiries and the game API's limits all depend on it.
import { type Finding, fail, ok, warn } from "./finding.ts";

const NAME = "clock";
const YEAR_MIN = 2025;
const YEAR_MAX = 2100;
const SKEW_MAX_MS = 5_000;
const REMEDY = "Let NTP set the clock: timedatectl set-ntp true, or chrony.";

/** `skewMs`: how far our clock is ahead of the game API's; undefined when the game API has not answered. */
export function judgeClock(now: number, skewMs: number | undefined): Finding[] {
  const year = new Date(now).getUTCFullYear();
  const shown = new Date(now).toISOString().slice(0, 19);
  if (year < YEAR_MIN || year > YEAR_MAX) return [fail(NAME, `The clock shows ${shown} UTC.`, REMEDY)];
  if (skewMs === undefined) {
    return [ok(NAME, `The clock shows ${shown} UTC; no game API has answered to compare it with.`)];
  }
  const seconds = Math.round(Math.abs(skewMs) / 1_000);
  if (Math.abs(skewMs) <= SKEW_MAX_MS) {
    return [ok(NAME, `The clock agrees with the game API's within ${SKEW_MAX_MS / 1_000} s.`)];
  }
  const direction = skewMs > 0 ? "ahead of" : "behind";
  return [warn(NAME, `The clock is ${seconds} s ${direction} the game API's.`, REMEDY)];
}

/** The Date header has whole seconds, so the middle of that second is the best guess. A cache on the way adds its Age. */
export function findSkewMs(date: string | null, age: string | null, now: number): number | undefined {
  const sentAt = date === null ? Number.NaN : Date.parse(date);
  if (Number.isNaN(sentAt)) return undefined;
  const ageMs = age !== null && /^\d{1,9}$/.test(age) ? Number(age) * 1_000 : 0;
  return now - (sentAt + 500 + ageMs);
}
