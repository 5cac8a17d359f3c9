// What an event makes stale: the sections of the server state that were read before it.
import type { EventType } from "../../core/events/event-types.ts";
import { SECTIONS, type Section } from "../../core/sections.ts";
import type { EventResource } from "../../core/wire/event.ts";

const STALE: Readonly<Record<Exclude<EventType, "gap">, readonly Section[]>> = {
  "player.joined": ["JoinLogs", "Players"],
  "player.left": ["JoinLogs", "Players"],
  "player.killed": ["KillLogs"],
  "command.used": ["CommandLogs"],
  "modcall.opened": ["ModCalls"],
  "modcall.answered": ["ModCalls"],
  "call.opened": ["EmergencyCalls"],
  "call.changed": ["EmergencyCalls"],
  "call.closed": ["EmergencyCalls"],
  "custom.command": [],
  "custom.unknown": [],
  "player.changed": ["Players"],
  "vehicle.spawned": ["Vehicles"],
  "vehicle.removed": ["Vehicles"],
  "staff.added": ["Staff"],
  "staff.removed": ["Staff"],
  "queue.changed": ["Queue"],
  "server.changed": SECTIONS,
  "server.online": SECTIONS,
  "server.offline": SECTIONS,
  "server.unreachable": SECTIONS,
  "alert.raised": [],
  "alert.cleared": [],
};

const STALE_BY_TYPE: ReadonlyMap<string, readonly Section[]> = new Map(Object.entries(STALE));

/** All sections for a gap and for a type that this page does not know. */
export function listStaleSections({ type }: Pick<EventResource, "type">): readonly Section[] {
  return STALE_BY_TYPE.get(type) ?? SECTIONS;
}
