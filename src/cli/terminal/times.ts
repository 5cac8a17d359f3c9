// Parses and formats times for an operator: durations, dates in local time, and relative times.
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../core/durations.ts";

const UNITS_MS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: MINUTE_MS,
  h: HOUR_MS,
  d: DAY_MS,
  w: 7 * DAY_MS,
};

const MOMENT_MAX = 8_640_000_000_000_000;

/** "30d", "12h", "90m", "45s" or "2w" in milliseconds; undefined when it is not a duration. */
export function parseDuration(text: string): number | undefined {
  const [, count, unit = ""] = /^(\d{1,9})([smhdw])$/.exec(text.trim()) ?? [];
  return count === undefined ? undefined : Number(count) * (UNITS_MS[unit] ?? Number.NaN);
}

/**
 * A time in epoch milliseconds, from a duration from now, epoch milliseconds, or an ISO date with or without a time. A date
 * without a time zone is local. Undefined for any other text, and for a day that does not exist.
 */
export function parseMoment(input: string, now: number): number | undefined {
  const text = input.trim();
  const durationMs = parseDuration(text);
  if (durationMs !== undefined) return now + durationMs;
  if (/^\d{5,16}$/.test(text)) return Number(text) <= MOMENT_MAX ? Number(text) : undefined;
  const iso = /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?)(Z|[+-]\d{2}:?\d{2})?)?$/i.exec(
    text,
  );
  if (!iso) return undefined;
  const [, year, month, day, time = "00:00", zone = ""] = iso;
  // The 31st of a shorter month would roll over into the next.
  if (new Date(Date.UTC(Number(year), Number(month) - 1, Number(day))).getUTCDate() !== Number(day)) {
    return undefined;
  }
  const zoneWithColon = zone.toUpperCase().replace(/^([+-]\d{2})(\d{2})$/, "$1:$2");
  const moment = Date.parse(`${year}-${month}-${day}T${time}${zoneWithColon}`);
  return Number.isNaN(moment) ? undefined : moment;
}

/** The same for a time in the past: a duration is before now. */
export function parsePastMoment(input: string, now: number): number | undefined {
  if (input.trim() === "now") return now;
  const durationMs = parseDuration(input);
  return durationMs === undefined ? parseMoment(input, now) : now - durationMs;
}

/** "2026-11-15 05:39:50+01:00", in the local time zone; "2026-11-15 04:39:50Z" where that is UTC. "-" for none. */
export function formatMoment(moment: number | null): string {
  if (moment === null) return "-";
  const date = new Date(moment);
  if (Number.isNaN(date.getTime())) return String(moment);
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  const time = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
  return `${day} ${time}${formatZone(date.getTimezoneOffset())}`;
}

function formatZone(minutesBehindUtc: number): string {
  if (minutesBehindUtc === 0) return "Z";
  const minutes = Math.abs(minutesBehindUtc);
  return `${minutesBehindUtc < 0 ? "+" : "-"}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}

function two(part: number): string {
  return String(part).padStart(2, "0");
}

/** "in 3 days", "5 minutes ago", "now". */
export function formatRelativeTime(moment: number, now: number): string {
  const distanceMs = Math.abs(moment - now);
  if (distanceMs < 1_000) return "now";
  const [unit, unitMs] = largestUnitOf(distanceMs);
  const count = Math.round(distanceMs / unitMs);
  const words = `${count} ${unit}${count === 1 ? "" : "s"}`;
  return moment > now ? `in ${words}` : `${words} ago`;
}

/** "in 3d", "5m ago", "now": for tables. */
export function formatShortTime(moment: number, now: number): string {
  return formatRelativeTime(moment, now).replace(/ (\w)\w*?(?= ago$|$)/, "$1");
}

function largestUnitOf(durationMs: number): readonly [string, number] {
  if (durationMs >= 2 * DAY_MS) return ["day", DAY_MS];
  if (durationMs >= HOUR_MS) return ["hour", HOUR_MS];
  if (durationMs >= MINUTE_MS) return ["minute", MINUTE_MS];
  return ["second", 1_000];
}
