// Parses the queries about the past. Every fault is named at once.
import { DAY_MS } from "../core/durations.ts";
import type { Refusal } from "../core/errors.ts";
import { chooseResolution, countPoints } from "../core/history/answer-players.ts";
import type { SessionPlace } from "../core/history/answer-sessions.ts";
import { RESOLUTIONS, type Resolution } from "../core/history/counts.ts";
import { HISTORY_RANGE_MAX_MS } from "../core/history/history.ts";
import { openTimeZone, type TimeZone } from "../core/history/time-zone.ts";
import type { Period } from "../core/ports/history.ts";
import { refuseFields } from "../core/refuse-field.ts";
import { HISTORY_LIMIT_DEFAULT, HISTORY_LIMIT_MAX, POINTS_MAX } from "../core/wire/history.ts";
import { findOnly } from "./parse-request.ts";

const PERIOD_DEFAULT_MS = DAY_MS;
const ZONE_DEFAULT = "UTC";
const PLAYER_ID = /^\d{1,20}$/;
/** The last moment that a date can be. */
const MOMENT_MAX = 8_640_000_000_000_000;
const TWICE = "is given twice";

type Faults = Record<string, string>;

export type CountsQuery = { readonly period: Period; readonly resolution: Resolution };
export type PeaksQuery = { readonly period: Period; readonly zone: TimeZone };
/** `place` is where the page begins, as its cursor says; undefined for the first page. */
export type ListQuery<Place> = {
  readonly period: Period;
  readonly limit: number;
  readonly place: Place | undefined;
};
/** `player` is an id; undefined for everybody. */
export type SessionsQuery = ListQuery<SessionPlace> & { readonly player: string | undefined };

export function parseCountsQuery(query: URLSearchParams, now: number): CountsQuery | Refusal {
  const faults: Faults = {};
  const period = parsePeriod(query, now, faults);
  const resolution = parseResolution(query, period, now, faults);
  return Object.keys(faults).length > 0 ? refuseFields(faults) : { period, resolution };
}

export function parsePeaksQuery(query: URLSearchParams, now: number): PeaksQuery | Refusal {
  const faults: Faults = {};
  const period = parsePeriod(query, now, faults);
  const name = findOnly(query, "tz") ?? ZONE_DEFAULT;
  const zone = openTimeZone(name);
  if (query.getAll("tz").length > 1) faults.tz = TWICE;
  else if (!zone) faults.tz = "must be the name of a time zone, such as Europe/Berlin";
  return Object.keys(faults).length > 0 || !zone ? refuseFields(faults) : { period, zone };
}

/**
 * Gives the text that a cursor was made from; undefined for what is no cursor of this list. A list of one player's sessions is
 * another list.
 */
export type OpenCursor = (cursor: string, player?: string) => string | undefined;

export function parseSessionsQuery(
  query: URLSearchParams,
  now: number,
  open: OpenCursor,
): SessionsQuery | Refusal {
  const faults: Faults = {};
  const player = parsePlayer(query, faults);
  const list = parseList(query, now, (cursor) => open(cursor, player), parseSessionPlace, faults);
  return Object.keys(faults).length > 0 ? refuseFields(faults) : { ...list, player };
}

/** For lists whose place is how many come before. */
export function parseRankingQuery(
  query: URLSearchParams,
  now: number,
  open: OpenCursor,
): ListQuery<number> | Refusal {
  const faults: Faults = {};
  const list = parseList(query, now, open, parseOffset, faults);
  return Object.keys(faults).length > 0 ? refuseFields(faults) : list;
}

/** The cursor knows its period, so that all pages are about the same time. */
function parseList<Place>(
  query: URLSearchParams,
  now: number,
  open: OpenCursor,
  parsePlace: (text: string) => Place | undefined,
  faults: Faults,
): ListQuery<Place> {
  const period = parsePeriod(query, now, faults);
  const limit = parseLimit(query, faults);
  const sealed = findOnly(query, "cursor");
  const page = sealed ? readPlace(open(sealed), parsePlace) : undefined;
  if (sealed !== undefined && !page) faults.cursor = "must be the `next` of an earlier answer";
  return { period: page?.period ?? period, limit, place: page?.place };
}

/** What a cursor is made from. */
export function writePlace({ from, to }: Period, place: string): string {
  return `${from} ${to} ${place}`;
}

export function writeSessionPlace({ joinedAt, number, player }: SessionPlace): string {
  return `${joinedAt} ${number ?? "open"} ${player}`;
}

function parseSessionPlace(text: string): SessionPlace | undefined {
  const [, joinedAt, number, player = ""] = /^(-?\d{1,16}) (\d{1,16}|open) (\d{1,20})$/.exec(text) ?? [];
  if (joinedAt === undefined) return undefined;
  return { joinedAt: Number(joinedAt), number: number === "open" ? undefined : Number(number), player };
}

function parseOffset(text: string): number | undefined {
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}

function readPlace<Place>(
  text: string | undefined,
  parsePlace: (text: string) => Place | undefined,
): { readonly period: Period; readonly place: Place } | undefined {
  const [, from, to, rest = ""] = /^(\d{1,16}) (\d{1,16}) (.+)$/.exec(text ?? "") ?? [];
  const place = from === undefined ? undefined : parsePlace(rest);
  return place === undefined ? undefined : { period: { from: Number(from), to: Number(to) }, place };
}

/** The last day by default. With one end given, a day at its other side, or up to now. */
function parsePeriod(query: URLSearchParams, now: number, faults: Faults): Period {
  const end = parseMoment(query, "to", faults);
  const to = end ?? now;
  const from = parseMoment(query, "from", faults) ?? Math.max(0, to - PERIOD_DEFAULT_MS);
  if (faults.from === undefined && faults.to === undefined) {
    if (from >= to) faults.from = end === undefined ? "must be before now" : "must be before to";
    else if (to - from > HISTORY_RANGE_MAX_MS)
      faults.from = `must be at most ${HISTORY_RANGE_MAX_MS / DAY_MS} days before to`;
  }
  return { from, to };
}

function parseMoment(query: URLSearchParams, name: "from" | "to", faults: Faults): number | undefined {
  const text = findOnly(query, name);
  if (text === undefined) return undefined;
  const moment = text !== null && /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (moment <= MOMENT_MAX) return moment;
  faults[name] = text === null ? TWICE : "must be a time in epoch milliseconds";
  return undefined;
}

function parseResolution(query: URLSearchParams, period: Period, now: number, faults: Faults): Resolution {
  const text = findOnly(query, "resolution");
  const named = RESOLUTIONS.find((one) => one === text);
  if (text === null) faults.resolution = TWICE;
  else if (text !== undefined && !named) faults.resolution = `must be one of ${RESOLUTIONS.join(", ")}`;
  else if (named && faults.from === undefined && faults.to === undefined) {
    if (countPoints(period, named) > POINTS_MAX)
      faults.resolution = `would give more than ${POINTS_MAX} points; leave it out, or ask for less time`;
  }
  return named ?? chooseResolution(period, now);
}

function parseLimit(query: URLSearchParams, faults: Faults): number {
  const text = findOnly(query, "limit");
  if (text === undefined) return HISTORY_LIMIT_DEFAULT;
  const limit = text !== null && /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= HISTORY_LIMIT_MAX) return limit;
  faults.limit = text === null ? TWICE : `must be a whole number from 1 to ${HISTORY_LIMIT_MAX}`;
  return HISTORY_LIMIT_DEFAULT;
}

function parsePlayer(query: URLSearchParams, faults: Faults): string | undefined {
  const player = findOnly(query, "player");
  if (player === undefined || (player !== null && PLAYER_ID.test(player))) return player;
  faults.player = player === null ? TWICE : "must be the id of a player, in digits";
  return undefined;
}
