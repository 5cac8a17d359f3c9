// The periods that the user can choose for questions about the past. Days are those of the browser's time zone.
import { DAY_MS, MINUTE_MS } from "../../../core/durations.ts";
import { HISTORY_RANGE_MAX_MS } from "../../../core/history/history.ts";

export type Period = { readonly from: number; readonly to: number };

/** `day` is the last 24 hours, `today` begins at midnight. */
export const PERIOD_NAMES = ["today", "day", "week", "month", "year"] as const;
export type PeriodName = (typeof PERIOD_NAMES)[number];

/** `dates` are two days as `2026-11-16`, both inclusive; empty until the user has chosen them. `part`: dragged in a plot. */
export type PeriodChoice =
  | { readonly name: PeriodName }
  | ({ readonly name: "part" } & Period)
  | { readonly name: "dates"; readonly first: string; readonly last: string };

export type PeriodProblem = "missing" | "order" | "future" | "tooLong";

const LENGTH_DAYS = { day: 1, week: 7, month: 30, year: 365 } as const;

/** The period that a choice means at this time. */
export function resolvePeriod(choice: PeriodChoice, now: number): Period | PeriodProblem {
  if (choice.name === "today") return { from: startOfDay(now), to: now };
  if (choice.name === "part") return { from: choice.from, to: choice.to };
  if (choice.name !== "dates") return { from: now - LENGTH_DAYS[choice.name] * DAY_MS, to: now };
  const from = parseDay(choice.first);
  const last = parseDay(choice.last);
  if (from === undefined || last === undefined) return "missing";
  if (from > last) return "order";
  if (from >= now) return "future";
  const to = Math.min(startOfNextDay(last), now);
  return to - from > HISTORY_RANGE_MAX_MS ? "tooLong" : { from, to };
}

/** So long after it is over, the last minute of a period has been recorded. */
const RECORDED_AFTER_MS = 2 * MINUTE_MS;

/** Whether all of the period has been recorded at this time, so that asking again brings nothing new. */
export function isOver({ to }: Period, now: number): boolean {
  return to < now - RECORDED_AFTER_MS;
}

/** Names the choice for a cache: two choices with the same name mean the same. */
export function nameChoice(choice: PeriodChoice): string {
  if (choice.name === "part") return `${choice.from} ${choice.to}`;
  return choice.name === "dates" ? `${choice.first} ${choice.last}` : choice.name;
}

/** The day of a moment as `2026-11-16`. */
export function writeDay(ms: number): string {
  const date = new Date(ms);
  const pad = (value: number, length: number) => String(value).padStart(length, "0");
  return `${pad(date.getFullYear(), 4)}-${pad(date.getMonth() + 1, 2)}-${pad(date.getDate(), 2)}`;
}

function startOfDay(ms: number): number {
  return new Date(ms).setHours(0, 0, 0, 0);
}

/** By the calendar, because a day has 23 or 25 hours when the clocks change. */
function startOfNextDay(ms: number): number {
  const date = new Date(ms);
  return new Date(date.getFullYear(), date.getMonth(), date.getDate() + 1).getTime();
}

/** The beginning of a day; undefined for what is no date. */
function parseDay(text: string): number | undefined {
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text) ?? [];
  if (year === undefined) return undefined;
  const at = new Date(Number(year), Number(month) - 1, Number(day)).getTime();
  return Number.isNaN(at) || writeDay(at) !== text ? undefined : at;
}

/** A plot of less has nothing more to show: most points stand for a minute. */
const PART_MIN_MS = 5 * MINUTE_MS;

/** The period that was dragged in a plot, at whole minutes and never later than now; undefined when that is too short. */
export function toPart(from: number, to: number, now: number): Period | undefined {
  const part = {
    from: Math.floor(from / MINUTE_MS) * MINUTE_MS,
    to: Math.min(Math.ceil(to / MINUTE_MS) * MINUTE_MS, now),
  };
  return part.to - part.from < PART_MIN_MS ? undefined : part;
}

/** The minute of a moment as `2026-11-16T21:00`, as fields for date and time have it. */
export function writeMinute(ms: number): string {
  const date = new Date(ms);
  const pad = (value: number) => String(value).padStart(2, "0");
  return `${writeDay(ms)}T${pad(date.getHours())}:${pad(date.getMinutes())}`;
}

/** The beginning of a minute; undefined for what is none, or is still to come. */
export function parseMinute(text: string, now: number): number | undefined {
  const [, day = "", hours, minutes] = /^(\d{4}-\d{2}-\d{2})T(\d{2}):(\d{2})/.exec(text) ?? [];
  const midnight = parseDay(day);
  if (midnight === undefined) return undefined;
  const at = new Date(midnight).setHours(Number(hours), Number(minutes));
  return at > now ? undefined : at;
}
