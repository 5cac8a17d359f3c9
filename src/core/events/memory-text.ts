// The memory of a server as text, in parts, so that only the parts that changed are written.
import type { CountMemory } from "../history/counts.ts";
import type { OpenSession } from "../history/sessions.ts";
import { NOTHING_KNOWN, type PlayerMemory, type ServerMemory, type StaffMemory } from "./memory.ts";

type PartName = "state" | Exclude<keyof ServerMemory, StateField>;
type StateField = (typeof STATE_FIELDS)[number];

export type MemoryPart = { readonly part: string; readonly text: string };

const STATE_FIELDS = [
  "gameServer",
  "generation",
  "firstReadingAt",
  "lastReadingAt",
  "playersShownAt",
  "state",
  "failingSince",
  "unknownMs",
  "writeMark",
] as const satisfies (keyof ServerMemory)[];

const PARTS = [
  "lists",
  "openModCalls",
  "players",
  "vehicles",
  "erasedVehicles",
  "staff",
  "queue",
  "settings",
  "calls",
  "closedCalls",
  "counts",
  "sessions",
  "alertRules",
  "alerts",
] as const satisfies PartName[];

/** The parts in which two memories differ. */
export function writeChangedParts(before: ServerMemory, after: ServerMemory): MemoryPart[] {
  const changed: MemoryPart[] = [];
  if (STATE_FIELDS.some((field) => before[field] !== after[field])) {
    const state = Object.fromEntries(STATE_FIELDS.map((field) => [field, after[field]]));
    changed.push({ part: "state", text: JSON.stringify(state) });
  }
  for (const part of PARTS) {
    if (before[part] !== after[part]) changed.push({ part, text: writePart(after, part) });
  }
  return changed;
}

export function parseMemory(parts: readonly MemoryPart[]): ServerMemory {
  const texts = new Map(parts.map(({ part, text }) => [part, text]));
  const parse = <T>(part: PartName): T | null => JSON.parse(texts.get(part) ?? "null");
  const players = parse<[string, PlayerMemory][]>("players");
  const staff = parse<Record<string, [string, string][]>>("staff");
  const written = PARTS.filter((part) => texts.has(part)).map((part) => [part, parse(part) ?? NOTHING_KNOWN[part]]);
  return {
    ...NOTHING_KNOWN,
    ...parse<Pick<ServerMemory, StateField>>("state"),
    ...(Object.fromEntries(written) as Partial<ServerMemory>),
    // What is a map is written as a list of its entries.
    openModCalls: new Map(parse<[string, number][]>("openModCalls")),
    players: players && new Map(players),
    staff: staff && parseStaff(staff),
    counts: withTeamTime(parse<CountMemory>("counts") ?? NOTHING_KNOWN.counts),
    sessions: new Map(parse<[string, OpenSession][]>("sessions")),
  };
}

/** A minute of an earlier version does not say how long the teams were known: that version took it as all of the known time. */
function withTeamTime(counts: CountMemory): CountMemory {
  const { minute, last } = counts;
  if (!minute) return counts;
  return { minute: { ...minute, teamKnownMs: minute.teamKnownMs ?? minute.knownMs }, last };
}

function parseStaff(roles: Record<string, [string, string][]>): StaffMemory {
  return Object.fromEntries(Object.entries(roles).map(([role, members]) => [role, new Map(members)]));
}

function writePart(memory: ServerMemory, part: (typeof PARTS)[number]): string {
  if (part === "openModCalls") return JSON.stringify([...memory.openModCalls]);
  if (part === "sessions") return JSON.stringify([...memory.sessions]);
  if (part === "players") return JSON.stringify(memory.players && [...memory.players]);
  if (part !== "staff") return JSON.stringify(memory[part]);
  const { staff } = memory;
  const roles = Object.entries(staff ?? {}).map(([role, members]) => [role, [...members]]);
  return JSON.stringify(staff && Object.fromEntries(roles));
}
