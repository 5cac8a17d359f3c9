// Parses the query of the events endpoints. Rights are judged first, then every other fault is named at once.
import Type from "typebox";
import { isRefusal, type Refusal } from "../../core/errors.ts";
import { parseCursor } from "../../core/events/cursor.ts";
import {
  describeTypesFault,
  type EventFilter,
  parseTypes,
  TYPES_LENGTH_MAX,
  TYPES_MAX,
} from "../../core/events/event-types.ts";
import { type ReadRights, refuseSections } from "../../core/keys/api-key.ts";
import type { PageStart } from "../../core/ports/archive.ts";
import { toSectionSet } from "../../core/sections.ts";
import { EVENTS_LIMIT_DEFAULT, EVENTS_LIMIT_MAX, WAIT_SECONDS_MAX } from "../../core/wire/event.ts";
import type { EventQuery } from "../../gateway/events/event-reader.ts";
import type { Parameter } from "../operation.ts";
import { playerField } from "../requests/parameters.ts";
import { type Faults, readFields, refuseFaults, TWICE, textLike, wholeNumber } from "../requests/query-fields.ts";

export type ParsedEventQuery = { readonly query: EventQuery; readonly waitMs: number };

const FROM_NOW: PageStart = { after: "now" };
const OF_ANOTHER_SERVER = "is a cursor of another server";
const Cursor = Type.String({ pattern: "^[A-Za-z0-9_-]{1,64}$" });
const CursorOrNothing = Type.String({ pattern: "^[A-Za-z0-9_-]{0,64}$" });

const TYPES = {
  description: `Only these types, separated by commas; \`player.*\` stands for all that begin with \`player.\` and that your key may read. At most ${TYPES_MAX} names. A gap comes with every type that it concerns.`,
  schema: Type.String({ pattern: "^[a-z.*]+(,[a-z.*]+)*$", maxLength: TYPES_LENGTH_MAX }),
  example: "player.*,modcall.opened",
};

export const EVENT_FIELDS = {
  after: textLike("must be a cursor, earliest or now", Cursor, {
    description:
      "Where to begin: the `next` of the answer before, the `id` of an event (you get what follows it), `earliest` (with the oldest kept event) or `now` (with the next one that comes). Without it you get the newest `limit` events.",
    twice: TWICE,
  }),
  // Judged before all others, because a type that is forbidden is told first.
  types: { ...TYPES, fault: TWICE, read: (text: string) => text },
  limit: wholeNumber(1, EVENTS_LIMIT_MAX, {
    description: "How many events an answer has at most. It may have fewer while `has_more` is true.",
    default: EVENTS_LIMIT_DEFAULT,
    twice: TWICE,
  }),
  wait: wholeNumber(0, WAIT_SECONDS_MAX, {
    description:
      "Seconds to wait for an event when there is none yet. The answer comes with the first one. Does not go with `before` or `at`; `HEAD` never waits.",
    default: 0,
    twice: TWICE,
  }),
  before: textLike("must be a cursor, or now", Cursor, {
    description:
      "Instead of `after`, for reading backwards: `now` for the newest page, then the `previous` of the answer before. With the `id` of an event you get that event and those before it. The items are oldest first all the same.",
    twice: TWICE,
  }),
  at: wholeNumber(0, Number.MAX_SAFE_INTEGER, {
    description:
      "Instead of `before`, in epoch milliseconds: the newest of the events that Gatehouse had seen by then. Go on with `previous` to older ones, or with `next` as `after` to newer ones.",
    example: 1_794_722_400_000,
    twice: TWICE,
  }),
  player: playerField({
    description:
      "Only events that name the player with this id: in a log entry, as the target of a command, in `player.changed` or a staff list. Gaps name nobody and are left out.",
    twice: TWICE,
  }),
};

export const STREAM_PARAMETERS: readonly Parameter[] = [
  {
    name: "after",
    in: "query",
    description:
      "Where to begin: the `id` of the last message that you have handled, a `next` of a page, `earliest` or `now`. Without it, and without the two below: now.",
    schema: Cursor,
  },
  { name: "types", in: "query", ...TYPES },
  {
    name: "last_event_id",
    in: "query",
    description: "The same as `after`, and wins over it. For clients that cannot send headers of their own.",
    schema: CursorOrNothing,
  },
  {
    name: "Last-Event-ID",
    in: "header",
    description: "The same as `after`, and wins over both. Readers of Server-Sent Events send it by themselves.",
    schema: CursorOrNothing,
  },
];

export function parseEventQuery(
  query: URLSearchParams,
  serverId: string,
  rights: ReadRights,
): ParsedEventQuery | Refusal {
  const faults: Faults = {};
  const filter = parseGivenTypes(query.getAll("types"), rights, faults);
  if (isRefusal(filter)) return filter;
  const values = readFields(EVENT_FIELDS, query, faults);
  const { after, before, at, limit = EVENTS_LIMIT_DEFAULT, wait = 0, player } = values;
  if (query.has("after") && query.has("before")) faults.before ??= "does not go with after";
  if (query.has("at") && (query.has("after") || query.has("before"))) faults.at ??= "does not go with after or before";
  const start = at === undefined ? parseStart(after, before, serverId, faults) : { seenUntil: at };
  if (isBackward(start) && wait > 0)
    faults.wait ??= at === undefined ? "does not go with before" : "does not go with at";
  const { hide } = rights;
  return refuseFaults(faults) ?? { query: { serverId, start, filter, hide, player, limit }, waitMs: wait * 1000 };
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
  for (const name of ["last_event_id", "after"]) {
    const [text, another] = query.getAll(name);
    if (another !== undefined) return { types, place: { name, text: null } };
    if (text !== undefined && (text !== "" || name === "after")) return { types, place: { name, text } };
  }
  return { types, place: undefined };
}

/** Without a place the stream begins now. */
export function parseStreamQuery(
  { types: given, place }: StreamQuery,
  serverId: string,
  rights: ReadRights,
): ParsedStreamQuery | Refusal {
  const faults: Faults = {};
  const filter = parseGivenTypes(given, rights, faults);
  if (isRefusal(filter)) return filter;
  const start = place ? parseStreamStart(place.name, place.text, serverId, faults) : FROM_NOW;
  return refuseFaults(faults) ?? { start, filter };
}

function parseStreamStart(name: string, text: string | null, serverId: string, faults: Faults): PageStart {
  if (text === null) faults[name] = TWICE;
  if (text === null || text === "now") return FROM_NOW;
  if (text === "earliest") return { after: text };
  const place = parseCursor(text, serverId);
  if (typeof place === "object") return { after: place };
  faults[name] = place === "foreign" ? OF_ANOTHER_SERVER : EVENT_FIELDS.after.fault;
  return FROM_NOW;
}

/** Whether the page goes from newer events to older ones. */
export function isBackward(start: EventQuery["start"]): boolean {
  return start !== "newest" && !("after" in start);
}

function parseGivenTypes(given: readonly string[], rights: ReadRights, faults: Faults): EventFilter | Refusal {
  if (given.length > TYPES_MAX) {
    faults.types = TWICE;
    return new Set();
  }
  // All of them together, because a type that is forbidden is told before anything else.
  const text = given.length === 0 ? undefined : given.join(",");
  const parsed = parseTypes(text, rights.sections, rights.hide);
  if ("refused" in parsed) return refuseSections(toSectionSet(parsed.refused));
  if (given.length > 1) faults.types = TWICE;
  else if ("fault" in parsed) faults.types = describeTypesFault(parsed.fault);
  return "filter" in parsed ? parsed.filter : new Set();
}

function parseStart(
  after: string | undefined,
  before: string | undefined,
  serverId: string,
  faults: Faults,
): EventQuery["start"] {
  if (after !== undefined) return parsePlace("after", after, serverId, faults);
  return before === undefined ? "newest" : parsePlace("before", before, serverId, faults);
}

function parsePlace(name: "after" | "before", text: string, serverId: string, faults: Faults): EventQuery["start"] {
  if (text === "now") return { [name]: text } as PageStart;
  if (name === "after" && text === "earliest") return { after: text };
  const place = parseCursor(text, serverId);
  if (typeof place === "object") return { [name]: place } as PageStart;
  faults[name] ??= place === "foreign" ? OF_ANOTHER_SERVER : EVENT_FIELDS[name].fault;
  return "newest";
}
