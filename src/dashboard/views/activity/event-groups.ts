// The groups of events that the user can choose from, and the types to request for them.
import type { EventType } from "../../../core/events/event-types.ts";
import type { Section } from "../../../core/sections.ts";

export const GROUPS = [
  "presence",
  "kills",
  "commands",
  "modCalls",
  "emergencies",
  "players",
  "vehicles",
  "staff",
  "queue",
  "server",
] as const;
export type Group = (typeof GROUPS)[number];

/** The types of each group, and the section that a key needs for them. */
const TYPES: Readonly<
  Record<Group, { readonly section: Section | null; readonly types: readonly EventType[] }>
> = {
  presence: { section: "JoinLogs", types: ["player.joined", "player.left"] },
  kills: { section: "KillLogs", types: ["player.killed"] },
  commands: { section: "CommandLogs", types: ["command.used", "custom.command", "custom.unknown"] },
  modCalls: { section: "ModCalls", types: ["modcall.opened", "modcall.answered"] },
  emergencies: { section: "EmergencyCalls", types: ["call.opened", "call.changed", "call.closed"] },
  players: { section: "Players", types: ["player.changed"] },
  vehicles: { section: "Vehicles", types: ["vehicle.spawned", "vehicle.removed"] },
  staff: { section: "Staff", types: ["staff.added", "staff.removed"] },
  queue: { section: "Queue", types: ["queue.changed"] },
  server: {
    section: null,
    types: [
      "server.changed",
      "server.online",
      "server.offline",
      "server.unreachable",
      "alert.raised",
      "alert.cleared",
    ],
  },
};

const GROUP_OF: ReadonlyMap<string, Group> = new Map(
  GROUPS.flatMap((group) => TYPES[group].types.map((type) => [type, group] as const)),
);

/** Undefined for a gap, which comes with every group that it concerns, and for a type that this page does not know. */
export function findGroup(type: string): Group | undefined {
  return GROUP_OF.get(type);
}

/** The groups that a key with these sections may read. */
export function listGroups(sections: readonly Section[]): readonly Group[] {
  return GROUPS.filter((group) => {
    const { section } = TYPES[group];
    return section === null || sections.includes(section);
  });
}

/** The parameter `types`; undefined for everything that the key may read. No group means all of them. */
export function writeTypes(chosen: readonly string[]): string | undefined {
  const groups = GROUPS.filter((group) => chosen.includes(group));
  return groups.length === 0 ? undefined : groups.flatMap((group) => TYPES[group].types).join();
}
