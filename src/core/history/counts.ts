// How many players there were: what is kept of each minute, and of the longer times that are made of minutes.
import { DAY_MS, MINUTE_MS } from "../durations.ts";

/** The resolutions that are kept, finest first. */
export const RESOLUTIONS = ["1m", "5m", "1h", "1d"] as const;
export type Resolution = (typeof RESOLUTIONS)[number];

export const RESOLUTION_MS: Readonly<Record<Resolution, number>> = {
  "1m": MINUTE_MS,
  "5m": 5 * MINUTE_MS,
  "1h": 60 * MINUTE_MS,
  "1d": DAY_MS,
};

/** How long each is kept; null for ever. */
export const RESOLUTION_KEPT_MS: Readonly<Record<Resolution, number | null>> = {
  "1m": 7 * DAY_MS,
  "5m": 60 * DAY_MS,
  "1h": 730 * DAY_MS,
  "1d": null,
};

/** What is known of the time from `at` on. Sums are over the known time only, so that two of them can be added. */
export type Counts = {
  readonly at: number;
  /** For how much of the time readings are valid. */
  readonly knownMs: number;
  /** Players times milliseconds. */
  readonly playerMs: number;
  readonly min: number;
  readonly max: number;
  /** Null when no reading told it. */
  readonly queueMax: number | null;
  /** The players with a permission above Normal; null when no reading told it. */
  readonly staffMax: number | null;
  /** For how much of the known time readings told the teams. */
  readonly teamKnownMs: number;
  /** Players of each team times milliseconds, over that part of the time. */
  readonly teamMs: Readonly<Record<string, number>>;
};

/** What the newest reading showed. */
export type CountNow = {
  readonly players: number;
  readonly queue: number | null;
  readonly staff: number | null;
  readonly teams: Readonly<Record<string, number>> | null;
};

/** The part of a server's memory about counts. */
export type CountMemory = {
  /** The minute that is not over; null when nothing of it is known yet. */
  readonly minute: Counts | null;
  /** The last reading that had a count: it is valid from `at` until `until` at most. Null before the first. */
  readonly last: { readonly at: number; readonly until: number; readonly now: CountNow } | null;
};

export const NOTHING_COUNTED: CountMemory = { minute: null, last: null };
