// The groups of events that the user can choose from, and the types to request for them.
import { type EventType, sectionOfType } from "../../../core/events/event-types.ts";
import type { Section } from "../../../core/sections.ts";

/** The types of each group, which all need the same section. */
const TYPES = {
  presence: ["player.joined", "player.left"],
  kills: ["player.killed"],
  commands: ["command.used", "custom.command", "custom.unknown"],
  modCalls: ["modcall.opened", "modcall.claimed", "modcall.released", "modcall.answered"],
  emergencies: ["call.opened", "call.changed", "call.closed"],
  players: ["player.changed"],
  vehicles: ["vehicle.spawned", "vehicle.removed"],
  staff: ["staff.added", "staff.removed"],
  queue: ["queue.changed"],
  server: ["server.changed", "server.online", "server.offline", "server.unreachable", "alert.raised", "alert.cleared"],
} as const satisfies Record<string, readonly EventType[]>;

export type Group = keyof typeof TYPES;
export const GROUPS = Object.keys(TYPES) as Group[];

const GROUP_OF: ReadonlyMap<string, Group> = new Map(
  GROUPS.flatMap((group) => TYPES[group].map((type) => [type, group] as const)),
);

/** Undefined for a gap, which comes with every group that it concerns, and for a type that this page does not know. */
export function findGroup(type: string): Group | undefined {
  return GROUP_OF.get(type);
}

/** The groups that a key with these sections may read. */
export function listGroups(sections: readonly Section[]): readonly Group[] {
  return GROUPS.filter((group) => TYPES[group].every((type) => isReadable(type, sections)));
}

/** The groups whose events name players by their ids. */
const OF_PLAYERS: readonly Group[] = ["presence", "kills", "commands", "modCalls", "players", "staff"];

/** The groups of `listGroups` that the page of a player can have. */
export function listPlayerGroups(sections: readonly Section[]): readonly Group[] {
  return listGroups(sections).filter((group) => OF_PLAYERS.includes(group));
}

/** The parameter `types`; undefined for everything that the key may read. No group means all of them. */
export function writeTypes(chosen: readonly string[]): string | undefined {
  const groups = GROUPS.filter((group) => chosen.includes(group));
  return groups.length === 0 ? undefined : groups.flatMap((group) => TYPES[group]).join();
}

/** Whether a key with these sections may read the events of this type. */
export function isReadable(type: EventType, sections: readonly Section[]): boolean {
  const section = sectionOfType(type);
  return section === null || sections.includes(section);
}
