// The types of events, the section that a key needs for each, and the filter of a reader. The order of the table is the
// order of events that happened at the same time. Archives keep the index of a type: new ones come last.
import { HIDES_JOIN_KEY, HIDES_NOTHING, type HiddenSet } from "../keys/rights.ts";
import { SECTIONS, type Section, type SectionSet } from "../sections.ts";

/** What a gap covers: one section, or everything that is compared between readings. */
export type GapSection = Section | "*";

/** What an event is about, where its type does not say it. `JoinKey`: a server.changed in which nothing else changed. */
export type EventSubject = GapSection | "JoinKey";

const TABLE = [
  ["player.joined", "JoinLogs"],
  ["player.left", "JoinLogs"],
  ["player.killed", "KillLogs"],
  ["command.used", "CommandLogs"],
  ["modcall.opened", "ModCalls"],
  ["modcall.answered", "ModCalls"],
  ["call.opened", "EmergencyCalls"],
  ["call.changed", "EmergencyCalls"],
  ["call.closed", "EmergencyCalls"],
  ["custom.command", "CommandLogs"],
  ["custom.unknown", "CommandLogs"],
  ["player.changed", "Players"],
  ["vehicle.spawned", "Vehicles"],
  ["vehicle.removed", "Vehicles"],
  ["staff.added", "Staff"],
  ["staff.removed", "Staff"],
  ["queue.changed", "Queue"],
  ["server.changed", null],
  ["server.online", null],
  ["server.offline", null],
  ["server.unreachable", null],
  ["alert.raised", null],
  ["alert.cleared", null],
  ["gap", null],
  // Last, because archives keep the index in the table. Nothing else happens in their transaction, so their order does not matter.
  ["modcall.claimed", "ModCalls"],
  ["modcall.released", "ModCalls"],
] as const satisfies readonly (readonly [string, Section | null])[];

export type EventType = (typeof TABLE)[number][0];

export const EVENT_TYPES: readonly EventType[] = TABLE.map(([type]) => type);

const INDEX_OF: ReadonlyMap<string, number> = new Map(TABLE.map(([type], index) => [type, index]));
const SECTION_OF: ReadonlyMap<string, Section | null> = new Map(TABLE);
/** Types whose section is told by the event itself: that of the gap, or that of the alert's rule. */
const HAS_OWN_SECTION: ReadonlySet<EventType> = new Set(["alert.raised", "alert.cleared", "gap"]);
/** A gap with section `*` concerns the readers of these types. */
const COMPARED: ReadonlySet<EventType> = new Set([
  "call.opened",
  "call.changed",
  "call.closed",
  "player.changed",
  "vehicle.spawned",
  "vehicle.removed",
  "staff.added",
  "staff.removed",
  "queue.changed",
  "server.changed",
  "server.online",
  "server.offline",
  "server.unreachable",
]);

/** A type and a section as one small number, so that an archive can filter by a list of integers. */
export type EventKind = number;

const NO_SECTION_CODE = 0;
const ANY_SECTION_CODE = SECTIONS.length + 1;
const JOIN_KEY_CODE = ANY_SECTION_CODE + 1;
const CODES_PER_TYPE = 16;

export function isEventType(name: string): name is EventType {
  return INDEX_OF.has(name);
}

/** The place of a type in the table. */
export function indexOfType(type: EventType): number {
  return INDEX_OF.get(type) ?? EVENT_TYPES.length;
}

/** The section that a key needs for the events of a type. Null for none, and where the event itself tells it. */
export function sectionOfType(type: EventType): Section | null {
  return SECTION_OF.get(type) ?? null;
}

/** `subject` is that of a gap or of an alert's rule, or the join key. All other types have a section of their own. */
export function toEventKind(type: EventType, subject: EventSubject | null = null): EventKind {
  const isOwn = HAS_OWN_SECTION.has(type) || subject === "JoinKey";
  const named = isOwn ? subject : sectionOfType(type);
  return indexOfType(type) * CODES_PER_TYPE + codeOf(named);
}

export function typeOfKind(kind: EventKind): EventType {
  const type = EVENT_TYPES[Math.floor(kind / CODES_PER_TYPE)];
  if (type === undefined) throw new Error(`there is no event of kind ${kind}`);
  return type;
}

/** The events that a reader wants and may have. */
export type EventFilter = ReadonlySet<EventKind>;

/** Longer lists are refused before they are split: looking up each name would stall everybody. */
export const TYPES_MAX = 64;
export const TYPES_LENGTH_MAX = 2_000;

export type TypesFault = {
  readonly reason: "empty" | "repeated" | "unknown" | "too many" | "too long";
  readonly name: string;
};
/** `refused`: the sections that the reader lacks for a type that it named, or for all types of a wildcard. */
export type ParsedTypes =
  | { readonly filter: EventFilter }
  | { readonly refused: readonly Section[] }
  | { readonly fault: TypesFault };

/** `text` is a comma-separated list of types and wildcards such as `player.*`; undefined means all types. */
export function parseTypes(
  text: string | undefined,
  sections: SectionSet,
  hide: HiddenSet = HIDES_NOTHING,
): ParsedTypes {
  if (text === undefined) return { filter: filterOf(EVENT_TYPES, sections, hide) };
  if (text.length > TYPES_LENGTH_MAX) return { fault: { reason: "too long", name: "" } };
  const names = text.split(",", TYPES_MAX + 1);
  if (names.length > TYPES_MAX) return { fault: { reason: "too many", name: "" } };
  const seen = new Set<string>();
  const wanted = new Set<EventType>();
  const refused = new Set<Section>();
  let fault: TypesFault | undefined;
  for (const name of names) {
    const types = matchTypes(name);
    const allowed = types.filter((type) => mayRead(type, sections));
    if (types.length > 0 && allowed.length === 0) for (const type of types) addSection(refused, type);
    if (name === "") fault ??= { reason: "empty", name };
    else if (types.length === 0) fault ??= { reason: "unknown", name };
    else if (seen.has(name)) fault ??= { reason: "repeated", name };
    seen.add(name);
    for (const type of allowed) wanted.add(type);
  }
  if (refused.size > 0) return { refused: SECTIONS.filter((section) => refused.has(section)) };
  return fault ? { fault } : { filter: filterOf([...wanted], sections, hide) };
}

/** Completes a sentence that begins with the name of the field. An unknown name is not repeated: it may be a secret. */
export function describeTypesFault({ reason, name }: TypesFault): string {
  switch (reason) {
    case "empty":
      return "has an empty name";
    case "repeated":
      return `has ${name} twice`;
    case "unknown":
      return "has a name that is no type of event, and no group of them such as player.*";
    case "too many":
      return `has more than ${TYPES_MAX} names`;
    case "too long":
      return `has more than ${TYPES_LENGTH_MAX.toLocaleString("en")} characters`;
  }
}

/** Every kind of event, for operators. */
export function filterAll(): EventFilter {
  return filterOf(EVENT_TYPES, (1 << SECTIONS.length) - 1, HIDES_NOTHING);
}

function matchTypes(name: string): EventType[] {
  if (isEventType(name)) return [name];
  if (!name.endsWith(".*")) return [];
  const prefix = name.slice(0, -1);
  return EVENT_TYPES.filter((type) => type.startsWith(prefix));
}

function mayRead(type: EventType, sections: SectionSet): boolean {
  const section = sectionOfType(type);
  return section === null || has(sections, section);
}

function addSection(to: Set<Section>, type: EventType): void {
  const section = sectionOfType(type);
  if (section) to.add(section);
}

export function filterOf(
  types: readonly EventType[],
  sections: SectionSet,
  hide: HiddenSet = HIDES_NOTHING,
): EventFilter {
  const filter = new Set<EventKind>();
  const gaps = new Set<GapSection>();
  for (const type of types) {
    const section = sectionOfType(type);
    if (section !== null && !has(sections, section)) continue;
    if (HAS_OWN_SECTION.has(type)) {
      filter.add(toEventKind(type));
      for (const own of SECTIONS) if (has(sections, own)) filter.add(toEventKind(type, own));
      if (type === "gap") gaps.add("*");
      continue;
    }
    filter.add(toEventKind(type));
    if (type === "server.changed" && !(hide & HIDES_JOIN_KEY)) filter.add(toEventKind(type, "JoinKey"));
    if (section !== null) gaps.add(section);
    if (COMPARED.has(type)) gaps.add("*");
  }
  for (const section of gaps) filter.add(toEventKind("gap", section));
  return filter;
}

function has(sections: SectionSet, section: Section): boolean {
  return (sections & (1 << SECTIONS.indexOf(section))) !== 0;
}

function codeOf(section: EventSubject | null): number {
  if (section === null) return NO_SECTION_CODE;
  if (section === "JoinKey") return JOIN_KEY_CODE;
  return section === "*" ? ANY_SECTION_CODE : SECTIONS.indexOf(section) + 1;
}
