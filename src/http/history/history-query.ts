// The queries about the past: their fields, and what follows from several of them together.
import Type from "typebox";
import { DAY_MS } from "../../core/durations.ts";
import type { Refusal } from "../../core/errors.ts";
import { chooseResolution, countPoints } from "../../core/history/answer-players.ts";
import type { SessionPosition } from "../../core/history/answer-sessions.ts";
import { RESOLUTIONS, type Resolution } from "../../core/history/counts.ts";
import { HISTORY_RANGE_MAX_MS } from "../../core/history/history.ts";
import { openTimeZone, type TimeZone } from "../../core/history/time-zone.ts";
import type { Period } from "../../core/ports/history.ts";
import { HISTORY_LIMIT_DEFAULT, HISTORY_LIMIT_MAX, POINTS_MAX } from "../../core/wire/history.ts";
import { EpochMs } from "../../core/wire/values.ts";
import { PAGE_FIELDS } from "../requests/pages.ts";
import { playerField } from "../requests/parameters.ts";
import {
  type Faults,
  oneOf,
  type QueryValues,
  readFields,
  refuseFaults,
  TWICE,
  textLike,
  wholeNumber,
} from "../requests/query-fields.ts";

const PERIOD_DEFAULT_MS = DAY_MS;
/** The last moment that a date can be. */
const MOMENT_MAX = 8_640_000_000_000_000;

function moment(description: string, example: number) {
  const fault = "must be a time in epoch milliseconds";
  return { ...wholeNumber(0, MOMENT_MAX, { description, example, twice: TWICE }), schema: EpochMs, fault };
}

const PERIOD_FIELDS = {
  from: moment(
    "Where the period begins, in epoch milliseconds. Without it, 24 hours before `to`. At most 400 days before `to`.",
    1_794_700_800_000,
  ),
  to: moment("Where the period ends, in epoch milliseconds. Without it, now.", 1_794_722_400_000),
};

export const COUNTS_FIELDS = {
  ...PERIOD_FIELDS,
  resolution: oneOf(RESOLUTIONS, {
    description:
      "How long each point is. Without it, the finest that gives at most 1,000 points and is still kept where the period begins.",
    twice: TWICE,
  }),
};

export const PEAKS_FIELDS = {
  ...PERIOD_FIELDS,
  tz: {
    description: "The time zone of the table, by its name in the IANA database, or as an offset such as +05:30.",
    schema: Type.String({ maxLength: 64, default: "UTC" }),
    example: "Europe/Berlin",
    fault: "must be the name of a time zone, such as Europe/Berlin",
    twice: TWICE,
    read: openTimeZone,
  },
};

export const RANKING_FIELDS = {
  ...PERIOD_FIELDS,
  limit: wholeNumber(1, HISTORY_LIMIT_MAX, {
    description: "How many items a page has.",
    default: HISTORY_LIMIT_DEFAULT,
    twice: TWICE,
  }),
  cursor: textLike(PAGE_FIELDS.cursor.fault, PAGE_FIELDS.cursor.schema, {
    description: "The `next` of the page before. It knows its period: all pages are about the same time.",
  }),
};

export const SESSIONS_FIELDS = {
  ...PERIOD_FIELDS,
  player: playerField({
    description: "Only sessions of the player with this id.",
    example: "2686120778",
    twice: TWICE,
  }),
  limit: RANKING_FIELDS.limit,
  cursor: RANKING_FIELDS.cursor,
};

export const PRESENT_FIELDS = {
  at: moment("The moment that is asked about, in epoch milliseconds. Without it, now.", 1_794_722_400_000),
};

export function parsePresentQuery(query: URLSearchParams, now: number): { readonly at: number } | Refusal {
  const faults: Faults = {};
  const { at = now } = readFields(PRESENT_FIELDS, query, faults);
  return refuseFaults(faults) ?? { at };
}

export type CountsQuery = { readonly period: Period; readonly resolution: Resolution };
export type PeaksQuery = { readonly period: Period; readonly zone: TimeZone };
/** `place` is where the page begins, as its cursor says; undefined for the first page. */
export type ListQuery<Place> = { readonly period: Period; readonly limit: number; readonly place: Place | undefined };
/** `player` is an id; undefined for everybody. */
export type SessionsQuery = ListQuery<SessionPosition> & { readonly player: string | undefined };

export function parseCountsQuery(query: URLSearchParams, now: number): CountsQuery | Refusal {
  const faults: Faults = {};
  const { resolution, ...ends } = readFields(COUNTS_FIELDS, query, faults);
  const period = toPeriod(ends, now, faults);
  if (resolution && !faults.from && !faults.to && countPoints(period, resolution) > POINTS_MAX)
    faults.resolution = `would give more than ${POINTS_MAX} points; leave it out, or ask for less time`;
  return refuseFaults(faults) ?? { period, resolution: resolution ?? chooseResolution(period, now) };
}

export function parsePeaksQuery(query: URLSearchParams, now: number): PeaksQuery | Refusal {
  const faults: Faults = {};
  const { tz, ...ends } = readFields(PEAKS_FIELDS, query, faults);
  const period = toPeriod(ends, now, faults);
  return refuseFaults(faults) ?? { period, zone: tz ?? (openTimeZone("UTC") as TimeZone) };
}

/**
 * Gives the text that a cursor was made from; undefined for what is no cursor of this list. A list of one player's sessions is
 * another list.
 */
export type OpenCursor = (cursor: string, player?: string) => string | undefined;

export function parseSessionsQuery(query: URLSearchParams, now: number, open: OpenCursor): SessionsQuery | Refusal {
  const faults: Faults = {};
  const values = readFields(SESSIONS_FIELDS, query, faults);
  const { player } = values;
  const list = toList(values, now, (cursor) => open(cursor, player), parseSessionPlace, faults);
  return refuseFaults(faults) ?? { ...list, player };
}

/** For lists whose place is how many come before. */
export function parseRankingQuery(query: URLSearchParams, now: number, open: OpenCursor): ListQuery<number> | Refusal {
  const faults: Faults = {};
  const list = toList(readFields(RANKING_FIELDS, query, faults), now, open, parseOffset, faults);
  return refuseFaults(faults) ?? list;
}

/** The cursor knows its period, so that all pages are about the same time. */
function toList<Place>(
  { limit = HISTORY_LIMIT_DEFAULT, cursor, ...ends }: QueryValues<typeof RANKING_FIELDS>,
  now: number,
  open: OpenCursor,
  parsePlace: (text: string) => Place | undefined,
  faults: Faults,
): ListQuery<Place> {
  const period = toPeriod(ends, now, faults);
  const page = cursor ? readPosition(open(cursor), parsePlace) : undefined;
  if (cursor !== undefined && !page) faults.cursor = RANKING_FIELDS.cursor.fault;
  return { period: page?.period ?? period, limit, place: page?.place };
}

/** What a cursor is made from. */
export function writePlace({ from, to }: Period, place: string): string {
  return `${from} ${to} ${place}`;
}

export function writeSessionPlace({ joinedAt, number, player }: SessionPosition): string {
  return `${joinedAt} ${number ?? "open"} ${player}`;
}

function parseSessionPlace(text: string): SessionPosition | undefined {
  const [, joinedAt, number, player = ""] = /^(-?\d{1,16}) (\d{1,16}|open) (\d{1,20})$/.exec(text) ?? [];
  if (joinedAt === undefined) return undefined;
  return { joinedAt: Number(joinedAt), number: number === "open" ? undefined : Number(number), player };
}

function parseOffset(text: string): number | undefined {
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}

function readPosition<Place>(
  text: string | undefined,
  parsePlace: (text: string) => Place | undefined,
): { readonly period: Period; readonly place: Place } | undefined {
  const [, from, to, rest = ""] = /^(\d{1,16}) (\d{1,16}) (.+)$/.exec(text ?? "") ?? [];
  const place = from === undefined ? undefined : parsePlace(rest);
  return place === undefined ? undefined : { period: { from: Number(from), to: Number(to) }, place };
}

/** The last day by default. With one end given, a day at its other side, or up to now. */
function toPeriod(ends: QueryValues<typeof PERIOD_FIELDS>, now: number, faults: Faults): Period {
  const { to = now, from = Math.max(0, to - PERIOD_DEFAULT_MS) } = ends;
  if (faults.from !== undefined || faults.to !== undefined) return { from, to };
  if (from >= to) faults.from = ends.to === undefined ? "must be before now" : "must be before to";
  else if (to - from > HISTORY_RANGE_MAX_MS)
    faults.from = `must be at most ${HISTORY_RANGE_MAX_MS / DAY_MS} days before to`;
  return { from, to };
}
