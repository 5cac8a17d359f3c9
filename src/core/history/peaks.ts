// Answers when the server is full: players on average for each hour of the week, in any time zone.
import type { Period } from "../ports/history.ts";
import type { PeaksResource } from "../wire/history.ts";
import { alignPeriod, isKept } from "./answer-players.ts";
import { type Counts, RESOLUTION_MS, type Resolution } from "./counts.ts";
import { toAverage } from "./rounding.ts";
import type { TimeZone } from "./time-zone.ts";

const HOURS = 24;
const WEEK_HOURS = 7 * HOURS;
const HOUR_MS = RESOLUTION_MS["1h"];
const QUARTER_MS = 15 * 60_000;

/** Counts to be read, and their resolution. */
export type CountsPlan = { readonly resolution: Resolution; readonly period: Period };

/**
 * What is to be read for the table: hours where an hour is one of the zone's hours too, and five minutes elsewhere, as far as
 * they are kept. The period is cut to hours or five minutes.
 */
export function planPeaks(period: Period, zone: TimeZone, now: number): CountsPlan[] {
  const plans: { resolution: Resolution; from: number; to: number }[] = [];
  const { from, to } = alignPeriod(period, "5m");
  for (let at = from; at < to; ) {
    const hour = Math.floor(at / HOUR_MS) * HOUR_MS;
    const end = Math.min(to, hour + HOUR_MS);
    const isWhole = at === hour && end === hour + HOUR_MS;
    const isFine = (!isWhole || !isOneHour(hour, zone)) && isKept("5m", at, now);
    const resolution = isFine ? "5m" : "1h";
    const last = plans.at(-1);
    if (last?.resolution === resolution) last.to = end;
    else plans.push({ resolution, from: isFine ? at : hour, to: end });
    at = end;
  }
  return plans.map(({ resolution, from, to }) => ({ resolution, period: { from, to } }));
}

/** Whether an hour of UTC is a single hour in the zone. */
function isOneHour(at: number, zone: TimeZone): boolean {
  return zone.hourOfWeek(at) === zone.hourOfWeek(at + HOUR_MS - QUARTER_MS);
}

/** `counts` together with how long each is. */
export function answerPeaks(
  zone: TimeZone,
  counts: Iterable<{ readonly counts: Counts; readonly lengthMs: number }>,
): PeaksResource {
  const knownMs = new Float64Array(WEEK_HOURS);
  const playerMs = new Float64Array(WEEK_HOURS);
  for (const { counts: one, lengthMs } of counts) {
    const last = zone.hourOfWeek(one.at + Math.max(0, lengthMs - QUARTER_MS));
    const isOne = zone.hourOfWeek(one.at) === last;
    // What is in several hours counts for each of them by its share.
    const pieces = isOne ? 1 : Math.ceil(lengthMs / QUARTER_MS);
    for (let piece = 0; piece < pieces; piece++) {
      const hour = zone.hourOfWeek(one.at + piece * QUARTER_MS);
      knownMs[hour] = (knownMs[hour] ?? 0) + one.knownMs / pieces;
      playerMs[hour] = (playerMs[hour] ?? 0) + one.playerMs / pieces;
    }
  }
  const averages = Array.from(knownMs, (known, hour) => (known > 0 ? toAverage(playerMs[hour] ?? 0, known) : null));
  const table = Array.from({ length: 7 }, (_, day) => averages.slice(day * HOURS, (day + 1) * HOURS));
  return { tz: zone.name, table };
}
