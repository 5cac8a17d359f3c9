// What changed between two readings in the sections that show a state: Players, Vehicles, Staff, Queue and the settings.
// Each function returns the memory it was given when nothing changed.
import { isSameJson, writeIntegers } from "../exact-json.ts";
import type { StaffMember } from "../wire/event-data.ts";
import { type Element, playerIdOf, textOf } from "./elements.ts";
import type { EventType } from "./event-types.ts";
import type { PlayerMemory, ServerMemory, StaffMemory } from "./memory.ts";
import type { NewEvent } from "./new-event.ts";
import { elementsOf, type GameReading } from "./reading.ts";

type Compared<M> = { readonly events: readonly NewEvent[]; readonly memory: M };

const PLAYER_FIELDS = ["Team", "Callsign", "Permission", "WantedStars"];
/** The name is not compared. It is remembered so that a player who is forgotten can be found by it. */
const REMEMBERED_FIELDS = ["Player", ...PLAYER_FIELDS];
export const SETTINGS = [
  "Name",
  "OwnerId",
  "CoOwnerIds",
  "MaxPlayers",
  "JoinKey",
  "AccVerifiedReq",
  "TeamBalance",
];
const ROLES: readonly StaffMember["Role"][] = ["Admins", "Mods", "Helpers"];

/** Fields that the game leaves out, empties or sets to null without a difference in meaning. */
const BLANK = new Set(["null", '""', undefined]);

export function comparePlayers(
  reading: GameReading,
  known: ServerMemory["players"],
): Compared<ServerMemory["players"]> {
  const elements = elementsOf(reading, "Players");
  if (!elements) return { events: [], memory: known };
  const events: NewEvent[] = [];
  const players = new Map<string, PlayerMemory>();
  for (const element of elements) {
    const id = playerIdOf(element.Player);
    if (id === undefined || players.has(id)) continue;
    const before = known?.get(id);
    const changed = before ? changedFields(element, before) : [];
    players.set(id, rememberPlayer(element, before));
    if (!before || changed.length === 0) continue;
    const { Location: _, ...data } = element;
    events.push(
      toDiff(reading, "player.changed", JSON.stringify(data), describeBefore(changed, before), [id]),
    );
  }
  return { events, memory: keepIfEqual(known, players) };
}

/** A vehicle is the same while all its fields are; equal vehicles are counted. */
export function compareVehicles(
  reading: GameReading,
  known: ServerMemory["vehicles"],
): Compared<ServerMemory["vehicles"]> {
  const elements = elementsOf(reading, "Vehicles");
  if (!elements) return { events: [], memory: known };
  const vehicles = elements.map((element) => JSON.stringify(element));
  if (known === null || isEqualList(known, vehicles)) return { events: [], memory: known ?? vehicles };
  const counts = new Map<string, number>();
  for (const text of known) counts.set(vehicleKey(text), (counts.get(vehicleKey(text)) ?? 0) + 1);
  const spawned = vehicles.filter((text) => !takeOne(counts, vehicleKey(text)));
  const removed = known.toReversed().filter((text) => takeOne(counts, vehicleKey(text)));
  const events = [
    ...spawned.map((text) => toDiff(reading, "vehicle.spawned", text)),
    ...removed.toReversed().map((text) => toDiff(reading, "vehicle.removed", text)),
  ];
  return { events, memory: vehicles };
}

/** A role that the reading does not show is not compared, and stays in memory. */
export function compareStaff(
  reading: GameReading,
  known: ServerMemory["staff"],
): Compared<ServerMemory["staff"]> {
  const value = reading.sections.Staff;
  if (typeof value !== "object" || value === null) return { events: [], memory: known };
  const staff: Record<string, ReadonlyMap<string, string>> = { ...known };
  for (const role of ROLES) {
    const map = (value as Element)[role];
    if (typeof map !== "object" || map === null) continue;
    staff[role] = new Map(Object.entries(map).map(([id, name]) => [id, String(name)]));
  }
  const events = ROLES.flatMap((role) => {
    const [before, now] = [known?.[role], staff[role]];
    if (!before || !now) return [];
    return [
      ...missingIn(before, now, role).map((data) => toDiff(reading, "staff.added", ...data)),
      ...missingIn(now, before, role).map((data) => toDiff(reading, "staff.removed", ...data)),
    ];
  });
  const isSame =
    known !== null && JSON.stringify(serialiseStaff(known)) === JSON.stringify(serialiseStaff(staff));
  return { events, memory: isSame ? known : staff };
}

export function compareQueue(
  reading: GameReading,
  known: ServerMemory["queue"],
): Compared<ServerMemory["queue"]> {
  const value = reading.sections.Queue;
  if (!Array.isArray(value)) return { events: [], memory: known };
  const queue = JSON.stringify(value);
  if (known === null || isSameJson(known, queue)) return { events: [], memory: known ?? queue };
  const event = toDiff(reading, "queue.changed", `{"Queue":${queue}}`, `{"before":${known}}`);
  return { events: [event], memory: queue };
}

export function compareSettings(
  reading: GameReading,
  known: ServerMemory["settings"],
): Compared<ServerMemory["settings"]> {
  const { settings: shown } = reading;
  if (!shown) return { events: [], memory: known };
  const settings = Object.fromEntries(SETTINGS.map((name) => [name, textOf(shown, name) ?? "null"]));
  if (known === null) return { events: [], memory: settings };
  const changed = SETTINGS.filter((name) => !isSameJson(settings[name] ?? "", known[name] ?? ""));
  if (changed.length === 0) return { events: [], memory: known };
  const event = toDiff(reading, "server.changed", writeObject(settings), describeBefore(changed, known));
  return { events: [event], memory: settings };
}

export function toDiff(
  { at }: Pick<GameReading, "at">,
  type: EventType,
  data: string,
  meta: string | null = null,
  players: readonly string[] = [],
): NewEvent {
  return {
    type,
    at,
    seenAt: at,
    source: "diff",
    isBackfill: false,
    data,
    meta,
    section: null,
    identity: null,
    players,
  };
}

/** Writes an object whose values are JSON text already. */
export function writeObject(fields: Readonly<Record<string, string>>): string {
  return `{${Object.entries(fields)
    .map(([name, text]) => `${JSON.stringify(name)}:${text}`)
    .join(",")}}`;
}

/** A field that is missing is not compared, except a callsign, which the game leaves out for civilians. */
function changedFields(element: Element, before: PlayerMemory): string[] {
  return PLAYER_FIELDS.filter((field) => {
    const now = textOf(element, field);
    const then = before[field];
    if (field === "Callsign") return now !== then && !(BLANK.has(now) && BLANK.has(then));
    return now !== undefined && then !== undefined && !isSameJson(now, then);
  });
}

function rememberPlayer(element: Element, before: PlayerMemory | undefined): PlayerMemory {
  const fields: Record<string, string> = {};
  for (const field of REMEMBERED_FIELDS) {
    const text = textOf(element, field) ?? (field === "Callsign" ? undefined : before?.[field]);
    if (text !== undefined) fields[field] = text;
  }
  return fields;
}

function describeBefore(fields: readonly string[], before: Readonly<Record<string, string>>): string {
  return `{"before":${writeObject(Object.fromEntries(fields.map((field) => [field, before[field] ?? "null"])))}}`;
}

function keepIfEqual(
  known: ServerMemory["players"],
  players: ReadonlyMap<string, PlayerMemory>,
): ReadonlyMap<string, PlayerMemory> {
  if (known?.size !== players.size) return players;
  for (const [id, fields] of players) {
    const before = known.get(id);
    if (!before || REMEMBERED_FIELDS.some((field) => before[field] !== fields[field])) return players;
  }
  return known;
}

/** A livery or colour that is null, empty or missing is the same, and so is an integer in another spelling. */
function vehicleKey(text: string): string {
  return writeIntegers(text.replace(/,"(?:Texture|ColorHex|ColorName)":(?:null|"")/g, ""));
}

function takeOne(counts: Map<string, number>, key: string): boolean {
  const left = counts.get(key) ?? 0;
  if (left === 0) return false;
  counts.set(key, left - 1);
  return true;
}

function isEqualList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((text, place) => text === b[place]);
}

/** The members that `staff` has and `other` has not. */
function missingIn(
  other: ReadonlyMap<string, string>,
  staff: ReadonlyMap<string, string>,
  role: StaffMember["Role"],
): [string, null, string[]][] {
  const members = [...staff].filter(([id]) => !other.has(id));
  return members.map(([id, name]) => {
    const member: StaffMember = { Role: role, UserId: id, Name: name };
    return [JSON.stringify(member), null, [id]];
  });
}

/** Undefined becomes null, so a role that is missing differs from an empty one. */
function serialiseStaff(staff: StaffMemory): unknown {
  return ROLES.map((role) => staff[role] && [...staff[role]]);
}
