// Parses the query of the events endpoints. Rights are judged first, then every other fault is named at once.
import { refuseSections } from "../core/api-key.ts";
import { isRefusal, type Refusal } from "../core/errors.ts";
import { parseCursor } from "../core/events/cursor.ts";
import { describeTypesFault, type EventFilter, parseTypes, TYPES_MAX } from "../core/events/event-types.ts";
import type { PageStart } from "../core/ports/archive.ts";
import { refuseFields } from "../core/refuse-field.ts";
import { type SectionSet, toSectionSet } from "../core/sections.ts";
import { EVENTS_LIMIT_DEFAULT, EVENTS_LIMIT_MAX, WAIT_SECONDS_MAX } from "../core/wire/event.ts";
import type { EventQuery } from "../gateway/events/event-reader.ts";
import { findOnly } from "./parse-request.ts";

export type ParsedEventQuery = { readonly query: EventQuery; readonly waitMs: number };

const PLAYER_ID = /^\d{1,20}$/;
const FROM_NOW: PageStart = { after: "now" };
const TWICE = "is given twice";
const OF_ANOTHER_SERVER = "is a cursor of another server";

/** `sections` are those that the reader may read. */
export function parseEventQuery(
  query: URLSearchParams,
  serverId: string,
  sections: SectionSet,
): ParsedEventQuery | Refusal {
  const faults: Record<string, string> = {};
  const types = parseGivenTypes(query.getAll("types"), sections, faults);
  if (isRefusal(types)) return types;
  const start = parseStart(query, serverId, faults);
  const limit = parseWhole(query, "limit", 1, EVENTS_LIMIT_MAX, faults) ?? EVENTS_LIMIT_DEFAULT;
  const waitSeconds = parseWhole(query, "wait", 0, WAIT_SECONDS_MAX, faults) ?? 0;
  if (isBackward(start) && waitSeconds > 0) faults.wait ??= "does not go with before";
  const player = findOnly(query, "player");
  if (player === null) faults.player = TWICE;
  else if (player !== undefined && !PLAYER_ID.test(player))
    faults.player = "must be the id of a player, in digits";
  if (Object.keys(faults).length > 0) return refuseFields(faults);
  return {
    query: { serverId, start, filter: types, player: player ?? undefined, limit },
    waitMs: waitSeconds * 1000,
  };
}

export type ParsedStreamQuery = { readonly start: PageStart; readonly filter: EventFilter };

/** What the reader of a stream asks for; undefined where it does not say. */
export type StreamQuery = {
  /** Each value of `types`; more than one is a fault. */
  readonly types: readonly string[];
  /** The place to begin after, and the name it was given by. The text is null when it was given twice. */
  readonly place: { readonly name: string; readonly text: string | null } | undefined;
};

/** The header wins over `last_event_id`, which wins over `after`. Empty ones say nothing, as readers send them at first. */
export function findStreamQuery(query: URLSearchParams, lastEventId: string | null): StreamQuery {
  const types = query.getAll("types");
  if (lastEventId) return { types, place: { name: "Last-Event-ID", text: lastEventId } };
  const id = findOnly(query, "last_event_id");
  if (id !== undefined && id !== "") return { types, place: { name: "last_event_id", text: id } };
  const after = findOnly(query, "after");
  return { types, place: after === undefined ? undefined : { name: "after", text: after } };
}

/** Without a place the stream begins now. `sections` are those that the reader may read. */
export function parseStreamQuery(
  { types: given, place }: StreamQuery,
  serverId: string,
  sections: SectionSet,
): ParsedStreamQuery | Refusal {
  const faults: Faults = {};
  const filter = parseGivenTypes(given, sections, faults);
  if (isRefusal(filter)) return filter;
  const start = place ? parseStreamStart(place.name, place.text, serverId, faults) : FROM_NOW;
  return Object.keys(faults).length > 0 ? refuseFields(faults) : { start, filter };
}

function parseStreamStart(name: string, text: string | null, serverId: string, faults: Faults): PageStart {
  if (text === null) faults[name] = TWICE;
  if (text === null || text === "now") return FROM_NOW;
  if (text === "earliest") return { after: text };
  const place = parseCursor(text, serverId);
  if (typeof place === "object") return { after: place };
  faults[name] = place === "foreign" ? OF_ANOTHER_SERVER : "must be a cursor, earliest or now";
  return FROM_NOW;
}

/** Whether the page goes from newer events to older ones. */
export function isBackward(start: EventQuery["start"]): boolean {
  return start !== "newest" && "before" in start;
}

type Faults = Record<string, string>;

function parseGivenTypes(
  given: readonly string[],
  sections: SectionSet,
  faults: Faults,
): EventFilter | Refusal {
  if (given.length > TYPES_MAX) {
    faults.types = TWICE;
    return new Set();
  }
  // All of them together, because a type that is forbidden is told before anything else.
  const parsed = parseTypes(given.length === 0 ? undefined : given.join(","), sections);
  if ("refused" in parsed) return refuseSections(toSectionSet(parsed.refused));
  if (given.length > 1) faults.types = TWICE;
  else if ("fault" in parsed) faults.types = describeTypesFault(parsed.fault);
  return "filter" in parsed ? parsed.filter : new Set();
}

function parseStart(query: URLSearchParams, serverId: string, faults: Faults): EventQuery["start"] {
  const after = findOnly(query, "after");
  const before = findOnly(query, "before");
  if (after === null) faults.after = TWICE;
  if (before === null) faults.before = TWICE;
  if (after !== undefined && before !== undefined) faults.before ??= "does not go with after";
  if (typeof after === "string") return parsePlace("after", after, serverId, faults);
  if (typeof before === "string") return parsePlace("before", before, serverId, faults);
  return "newest";
}

function parsePlace(
  name: "after" | "before",
  text: string,
  serverId: string,
  faults: Faults,
): EventQuery["start"] {
  if (text === "now") return { [name]: text } as PageStart;
  if (name === "after" && text === "earliest") return { after: text };
  const place = parseCursor(text, serverId);
  if (typeof place === "object") return { [name]: place } as PageStart;
  const words = name === "after" ? "earliest or now" : "or now";
  faults[name] ??= place === "foreign" ? OF_ANOTHER_SERVER : `must be a cursor, ${words}`;
  return "newest";
}

function parseWhole(
  query: URLSearchParams,
  name: string,
  min: number,
  max: number,
  faults: Faults,
): number | undefined {
  const text = findOnly(query, name);
  if (text === undefined) return undefined;
  const value = text !== null && /^\d{1,3}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  faults[name] = text === null ? TWICE : `must be a whole number from ${min} to ${max}`;
  return undefined;
}
