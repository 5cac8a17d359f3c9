// What changed between two readings in the sections that show a state: Players, Vehicles, Staff, Queue and the settings.
// Each function returns the memory it was given when nothing changed.
import { isSameJson, parseExactJson, writeIntegers } from "../exact-json.ts";
import type { StaffMember } from "../wire/event-data.ts";
import { type Element, playerIdOf, textOf } from "./elements.ts";
import type { EventType } from "./event-types.ts";
import { FORGOTTEN_ID, FORGOTTEN_NAME } from "./forget-player.ts";
import { type ErasedVehicle, NOTHING_KNOWN, type PlayerMemory, type ServerMemory, type StaffMemory } from "./memory.ts";
import { makeEvent, type NewEvent } from "./new-event.ts";
import { elementsOf, type GameReading } from "./reading.ts";

type Compared<M> = { readonly events: readonly NewEvent[]; readonly memory: M };

const PLAYER_FIELDS = ["Team", "Callsign", "Permission", "WantedStars"];
/** The name is not compared. It is remembered so that a player who is forgotten can be found by it. */
const REMEMBERED_FIELDS = ["Player", ...PLAYER_FIELDS];
export const SETTINGS = ["Name", "OwnerId", "CoOwnerIds", "MaxPlayers", "JoinKey", "AccVerifiedReq", "TeamBalance"];
const ID_SETTINGS = ["OwnerId", "CoOwnerIds"];
/** An erased id in JSON text. */
const HAS_ERASED = /\b0\b/;
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
    events.push(toDiff(reading, "player.changed", JSON.stringify(data), describeBefore(changed, before), [id]));
  }
  return { events, memory: keepIfEqual(known, players) };
}

/** A vehicle is the same while all its fields are; equal vehicles are counted. An erased one may be any that is equal otherwise. */
export function compareVehicles(
  reading: GameReading,
  memory: Pick<ServerMemory, "vehicles" | "erasedVehicles">,
): Compared<Pick<ServerMemory, "vehicles" | "erasedVehicles">> {
  const { vehicles: known, erasedVehicles } = memory;
  const elements = elementsOf(reading, "Vehicles");
  if (!elements) return { events: [], memory: { vehicles: known, erasedVehicles } };
  const vehicles = elements.map((element) => JSON.stringify(element));
  if (known === null || (erasedVehicles.length === 0 && isEqualList(known, vehicles)))
    return { events: [], memory: { vehicles: known ?? vehicles, erasedVehicles } };
  const counts = new Map<string, number>();
  for (const text of known) counts.set(vehicleKey(text), (counts.get(vehicleKey(text)) ?? 0) + 1);
  const spawned = vehicles.filter((text) => !takeOne(counts, vehicleKey(text)));
  const removed = known.toReversed().filter((text) => takeOne(counts, vehicleKey(text)));
  // Those with the most fields to compare by come first, so that no other takes what only they can match.
  const sorted = erasedVehicles.toSorted((a, b) => a.erased.length - b.erased.length);
  const [shown, erasedRemoved] = [new Map<string, number>(), [] as ErasedVehicle[]];
  for (const vehicle of sorted) {
    const text = takeErased(spawned, vehicle);
    if (text === undefined) erasedRemoved.push(vehicle);
    else shown.set(text, (shown.get(text) ?? 0) + 1);
  }
  const events = [
    ...spawned.map((text) => toDiff(reading, "vehicle.spawned", text)),
    ...removed.toReversed().map((text) => toDiff(reading, "vehicle.removed", text)),
    ...erasedRemoved.map(({ text }) => toDiff(reading, "vehicle.removed", text)),
  ];
  const gone = new Set(erasedRemoved);
  const left = gone.size === 0 ? erasedVehicles : erasedVehicles.filter((vehicle) => !gone.has(vehicle));
  const others = vehicles.filter((text) => !takeOne(shown, text));
  return {
    events,
    memory: {
      vehicles: isEqualList(known, others) ? known : others,
      erasedVehicles: left.length === 0 ? NOTHING_KNOWN.erasedVehicles : left,
    },
  };
}

/** A role that the reading does not show is not compared, and stays in memory. */
export function compareStaff(reading: GameReading, known: ServerMemory["staff"]): Compared<ServerMemory["staff"]> {
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
    const added = missingIn(before, now, role);
    const removed = missingIn(now, before, role);
    // Nobody can tell which of several unknown members is the erased one, so none of them counts as added.
    const isErasedShown = before.has(FORGOTTEN_ID) && added.length > 0;
    if (isErasedShown && added.length === 1) staff[role] = eraseMember(now, added[0]?.UserId);
    return [
      ...(isErasedShown ? [] : added).map((member) => toStaffEvent(reading, "staff.added", member)),
      ...removed
        .filter(({ UserId }) => !isErasedShown || UserId !== FORGOTTEN_ID)
        .map((member) => toStaffEvent(reading, "staff.removed", member)),
    ];
  });
  const isSame = known !== null && JSON.stringify(serialiseStaff(known)) === JSON.stringify(serialiseStaff(staff));
  return { events, memory: isSame ? known : staff };
}

export function compareQueue(reading: GameReading, known: ServerMemory["queue"]): Compared<ServerMemory["queue"]> {
  const value = reading.sections.Queue;
  if (!Array.isArray(value)) return { events: [], memory: known };
  const queue = eraseShown(known, JSON.stringify(value));
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
  for (const name of ID_SETTINGS) settings[name] = eraseShown(known[name] ?? null, settings[name] ?? "null");
  const changed = SETTINGS.filter((name) => !isSameJson(settings[name] ?? "", known[name] ?? ""));
  if (changed.length === 0) return { events: [], memory: known };
  const event = toDiff(reading, "server.changed", writeObject(settings), describeBefore(changed, known));
  const isJoinKeyOnly = changed.every((name) => name === "JoinKey");
  return { events: [isJoinKeyOnly ? { ...event, section: "JoinKey" } : event], memory: settings };
}

export function toDiff(
  { at }: Pick<GameReading, "at">,
  type: EventType,
  data: string,
  meta: string | null = null,
  players: readonly string[] = [],
): NewEvent {
  return makeEvent({ type, at, seenAt: at, source: "diff", data, meta, players });
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

/** Takes the first vehicle that differs from this one in the erased fields only. */
function takeErased(spawned: string[], { text, erased }: ErasedVehicle): string | undefined {
  const key = vehicleKey(withoutFields(text, erased));
  const place = spawned.findIndex((one) => vehicleKey(withoutFields(one, erased)) === key);
  return place < 0 ? undefined : spawned.splice(place, 1)[0];
}

function withoutFields(text: string, fields: readonly string[]): string {
  const kept = Object.entries(parseExactJson(text) as Element).filter(([field]) => !fields.includes(field));
  return JSON.stringify(Object.fromEntries(kept));
}

/**
 * What is shown, with 0 in place of ids that were erased from what is known. Of the unknown ids of a list the first are theirs,
 * because those who come later stand behind.
 */
function eraseShown(known: string | null, shown: string): string {
  if (known === null || !HAS_ERASED.test(known)) return shown;
  const [before, now] = [parseExactJson(known), parseExactJson(shown)];
  if (!Array.isArray(before) || !Array.isArray(now)) return writeId(before) === FORGOTTEN_ID ? known : shown;
  const ids = new Set(before.map(writeId));
  const countErased = (list: readonly unknown[]) => list.filter((id) => writeId(id) === FORGOTTEN_ID).length;
  const unknown = now.filter((id) => !ids.has(writeId(id)));
  const erased = new Set(unknown.slice(0, Math.max(0, countErased(before) - countErased(now))));
  return JSON.stringify(now.map((id) => (erased.has(id) ? 0 : id)));
}

/** An exact integer is an object that only JSON can write. */
export function writeId(id: unknown): string {
  return typeof id === "string" ? id : JSON.stringify(id);
}

function isEqualList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((text, index) => text === b[index]);
}

/** The members that `staff` has and `other` has not. */
function missingIn(
  other: ReadonlyMap<string, string>,
  staff: ReadonlyMap<string, string>,
  role: StaffMember["Role"],
): StaffMember[] {
  const members = [...staff].filter(([id]) => !other.has(id));
  return members.map(([id, name]) => ({ Role: role, UserId: id, Name: name }));
}

function eraseMember(members: ReadonlyMap<string, string>, id: string | undefined): ReadonlyMap<string, string> {
  return new Map(Array.from(members, (member) => (member[0] === id ? [FORGOTTEN_ID, FORGOTTEN_NAME] : member)));
}

function toStaffEvent(reading: GameReading, type: "staff.added" | "staff.removed", member: StaffMember): NewEvent {
  const players = member.UserId === FORGOTTEN_ID ? [] : [member.UserId];
  return toDiff(reading, type, JSON.stringify(member), null, players);
}

/** Undefined becomes null, so a role that is missing differs from an empty one. */
function serialiseStaff(staff: StaffMemory): unknown {
  return ROLES.map((role) => staff[role] && [...staff[role]]);
}
