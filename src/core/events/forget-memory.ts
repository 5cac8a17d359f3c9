// How a player is taken out of what is remembered of a server, so that the next reading, which may still show the player, can
// be compared with it: what was erased matches whatever the reading shows there. Entries of log lists are remembered by hash.
import type { AlertMemory, AlertSubject } from "../alerts/alert-states.ts";
import type { OpenSessions } from "../history/sessions.ts";
import { writeObject } from "./compare-sections.ts";
import { FORGOTTEN_ID, FORGOTTEN_NAME, type ForgottenPlayer, PlayerEraser } from "./forget-player.ts";
import type { CallMemory, ErasedVehicle, ServerMemory } from "./memory.ts";

type Fields = Readonly<Record<string, string>>;
type ErasedFields = { readonly fields: Fields; readonly erased: readonly string[] };

/** Returns the same memory when it does not name the player. */
export function forgetInMemory(memory: ServerMemory, player: ForgottenPlayer): ServerMemory {
  const eraser = new PlayerEraser(player);
  const changed: ServerMemory = {
    ...memory,
    players: erasePlayers(memory.players, player.id, eraser),
    ...eraseVehicles(memory, eraser),
    staff: eraseStaff(memory.staff, player.id, eraser),
    queue: memory.queue && eraseField("Queue", memory.queue, eraser),
    settings: memory.settings && eraseFields(memory.settings, eraser).fields,
    calls: memory.calls && keepIfSame(memory.calls, (call) => eraseCall(call, eraser)),
    sessions: eraseSession(memory.sessions, player.id),
    alerts: forgetInAlerts(memory.alerts, player.id, eraser),
  };
  const fields = Object.keys(memory) as (keyof ServerMemory)[];
  return fields.every((field) => changed[field] === memory[field]) ? memory : changed;
}

/** A player who is not remembered makes no event when a reading shows the player. */
function erasePlayers(players: ServerMemory["players"], id: string, eraser: PlayerEraser): ServerMemory["players"] {
  if (!players) return players;
  const others = [...players].filter(([one, fields]) => one !== id && eraseFields(fields, eraser).fields === fields);
  return others.length === players.size ? players : new Map(others);
}

function eraseVehicles(
  { vehicles, erasedVehicles }: ServerMemory,
  eraser: PlayerEraser,
): Pick<ServerMemory, "vehicles" | "erasedVehicles"> {
  const erased = keepIfSame(erasedVehicles, (vehicle) => eraseVehicle(vehicle, eraser));
  const found = (vehicles ?? []).map((text) => eraseVehicle({ text, erased: [] }, eraser));
  const named = found.filter((vehicle) => vehicle.erased.length > 0);
  if (named.length === 0) return { vehicles, erasedVehicles: erased };
  const others = found.filter((vehicle) => vehicle.erased.length === 0).map(({ text }) => text);
  return { vehicles: others, erasedVehicles: [...erased, ...named] };
}

function eraseVehicle(vehicle: ErasedVehicle, eraser: PlayerEraser): ErasedVehicle {
  const text = eraser.erase(vehicle.text);
  if (text === vehicle.text) return vehicle;
  const before = JSON.parse(vehicle.text);
  const after = Object.entries(JSON.parse(text));
  const differing = after.filter(([field, value]) => JSON.stringify(value) !== JSON.stringify(before[field]));
  return {
    text,
    erased: joinNames(
      vehicle.erased,
      differing.map(([field]) => field),
    ),
  };
}

function eraseStaff(staff: ServerMemory["staff"], id: string, eraser: PlayerEraser): ServerMemory["staff"] {
  if (!staff) return staff;
  const roles = Object.entries(staff).map(([role, members]) => [role, eraseMembers(members, id, eraser)] as const);
  return roles.every(([role, members]) => members === staff[role]) ? staff : Object.fromEntries(roles);
}

function eraseMembers(
  members: ReadonlyMap<string, string>,
  id: string,
  eraser: PlayerEraser,
): ReadonlyMap<string, string> {
  const isNamed = members.has(id) || members.values().some((name) => eraser.eraseName(name) !== name);
  if (!isNamed) return members;
  const erased = Array.from(members, ([one, name]) => {
    return one === id ? ([FORGOTTEN_ID, FORGOTTEN_NAME] as const) : ([one, eraser.eraseName(name)] as const);
  });
  return new Map(erased);
}

/** It ends as that of nobody, because no reading shows it any more; of two such sessions one is kept. */
function eraseSession(sessions: OpenSessions, id: string): OpenSessions {
  const session = sessions.get(id);
  if (!session) return sessions;
  const kept = new Map(sessions);
  kept.delete(id);
  kept.set(FORGOTTEN_ID, { ...session, name: FORGOTTEN_NAME });
  return kept;
}

function eraseCall(call: CallMemory, eraser: PlayerEraser): CallMemory {
  const { fields, erased } = eraseFields(call.fields, eraser);
  return fields === call.fields ? call : { ...call, fields, erased: joinNames(call.erased ?? [], erased) };
}

/** `erased`: the fields that have changed. */
function eraseFields(fields: Fields, eraser: PlayerEraser): ErasedFields {
  const erased = Object.entries(fields).flatMap(([field, before]) => {
    const text = eraseField(field, before, eraser);
    return text === before ? [] : [[field, text] as const];
  });
  if (erased.length === 0) return { fields, erased: [] };
  return { fields: { ...fields, ...Object.fromEntries(erased) }, erased: erased.map(([field]) => field) };
}

/** `text` is the JSON text of the field's value. */
function eraseField(field: string, text: string, eraser: PlayerEraser): string {
  const before = writeObject({ [field]: text });
  const after = eraser.erase(before);
  return after === before ? text : after.slice(JSON.stringify(field).length + 2, -1);
}

function joinNames(some: readonly string[], others: readonly string[]): string[] {
  return [...new Set([...some, ...others])];
}

/** Returns the same list when no item changed. */
function keepIfSame<T>(items: readonly T[], change: (item: T) => T): readonly T[] {
  const changed = items.map(change);
  return changed.every((item, index) => item === items[index]) ? items : changed;
}

/**
 * Returns the same memory when it does not name the player. A raised alert stays, so that it is cleared; a call without an
 * alert is dropped, because nobody could be helped by an alert about it.
 */
export function forgetInAlerts(memory: AlertMemory, id: string, eraser: PlayerEraser): AlertMemory {
  const { states } = memory;
  const killers = forgetSubjects(states.killers, id, eraser);
  const commands = forgetSubjects(states.commands, id, eraser);
  const named = forgetSubjects(states.calls, id, eraser);
  const calls =
    named === states.calls ? named : named.filter(({ player, isRaised }) => isRaised || player !== FORGOTTEN_ID);
  const isSame = killers === states.killers && commands === states.commands && calls === states.calls;
  return isSame ? memory : { ...memory, states: { ...states, killers, commands, calls } };
}

function forgetSubjects<T extends AlertSubject>(
  subjects: readonly T[],
  id: string,
  eraser: PlayerEraser,
): readonly T[] {
  const isNamed = ({ player, subject }: T) =>
    player === id || (player === null && eraser.eraseName(subject) !== subject);
  if (!subjects.some(isNamed)) return subjects;
  const subject = `${FORGOTTEN_NAME}:${FORGOTTEN_ID}`;
  return subjects.map((one) => (isNamed(one) ? { ...one, player: FORGOTTEN_ID, subject } : one));
}
