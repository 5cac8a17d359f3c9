// Local time in a time zone: which hour of which day of the week a moment is in. Offsets come from the runtime's own tables.
import { DAY_MS, HOUR_MS } from "../durations.ts";

const QUARTER_MS = 15 * 60_000;
/** No name of a zone is longer, and none has another character. */
const ZONE = /^[A-Za-z0-9_+:/-]{1,64}$/;
/** 1970-01-01 was a Thursday; Monday is 0. */
const FIRST_WEEKDAY = 3;

/** Undefined for a zone that nobody knows. */
export function openTimeZone(name: string): TimeZone | undefined {
  if (!ZONE.test(name)) return undefined;
  try {
    return new TimeZone(name);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Holds the offset of each day that it was asked about. */
export class TimeZone {
  readonly #format: Intl.DateTimeFormat;
  /** By day since the epoch; null for a day in which the offset changes. */
  readonly #offsets = new Map<number, number | null>();

  constructor(readonly name: string) {
    this.#format = new Intl.DateTimeFormat("en-US", {
      timeZone: name,
      calendar: "iso8601",
      numberingSystem: "latn",
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
  }

  /** The hour of the week, from 0 to 167; Monday's first is 0. */
  hourOfWeek(at: number): number {
    const local = at + this.offsetAt(at);
    const day = Math.floor(local / DAY_MS);
    const weekday = (((day + FIRST_WEEKDAY) % 7) + 7) % 7;
    return weekday * 24 + Math.floor((local - day * DAY_MS) / HOUR_MS);
  }

  /** How much local time is ahead of UTC, in milliseconds. */
  offsetAt(at: number): number {
    const day = Math.floor(at / DAY_MS);
    let offset = this.#offsets.get(day);
    if (offset === undefined) {
      offset = this.#findOffset(day * DAY_MS);
      if (offset !== this.#findOffset((day + 1) * DAY_MS)) offset = null;
      this.#offsets.set(day, offset);
    }
    // Clocks change at a quarter of an hour.
    return offset ?? this.#findOffset(Math.floor(at / QUARTER_MS) * QUARTER_MS);
  }

  #findOffset(at: number): number {
    const parts = new Map(this.#format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
    const part = (name: Intl.DateTimeFormatPartTypes) => parts.get(name) ?? 0;
    const local = Date.UTC(part("year"), part("month") - 1, part("day"), part("hour"), part("minute"), part("second"));
    // The parts have no milliseconds.
    return local - Math.floor(at / 1000) * 1000;
  }
}
