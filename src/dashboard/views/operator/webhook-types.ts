// The types of events that a webhook gets, as the form offers them: in groups, and written with wildcards where a whole kind is
// chosen.
import { EVENT_TYPES, type EventType } from "../../../core/events/event-types.ts";

/** The types that can be chosen. A gap comes by itself with every type that it concerns. */
type ChoosableType = Exclude<EventType, "gap">;

export const TYPE_GROUPS = [
  ["modCalls", ["modcall.opened", "modcall.answered"]],
  ["emergencies", ["call.opened", "call.changed", "call.closed"]],
  ["kills", ["player.killed"]],
  ["presence", ["player.joined", "player.left"]],
  ["commands", ["command.used", "custom.command", "custom.unknown"]],
  ["alerts", ["alert.raised", "alert.cleared"]],
  ["server", ["server.online", "server.offline", "server.unreachable", "server.changed"]],
  ["staff", ["staff.added", "staff.removed"]],
  ["players", ["player.changed"]],
  ["vehicles", ["vehicle.spawned", "vehicle.removed"]],
  ["queue", ["queue.changed"]],
] as const satisfies readonly (readonly [string, readonly ChoosableType[]])[];

export type TypeGroup = (typeof TYPE_GROUPS)[number][0];

/** What most channels want at first. */
export const USUAL_TYPES: readonly ChoosableType[] = [
  "modcall.opened",
  "modcall.answered",
  "call.opened",
  "player.killed",
  "alert.raised",
  "alert.cleared",
];

/** The chosen types; every one for null. */
export function readTypes(types: readonly string[] | null): readonly EventType[] {
  if (types === null) return EVENT_TYPES;
  return EVENT_TYPES.filter((type) => types.includes(type) || types.includes(`${kindOf(type)}.*`));
}

/** In the order of the ledger's types, with `player.*` where every type of a kind is chosen. */
export function writeTypes(chosen: readonly EventType[]): readonly string[] {
  const kinds = Map.groupBy(EVENT_TYPES, kindOf);
  return [...kinds].flatMap(([kind, types]) => {
    const wanted = types.filter((type) => chosen.includes(type));
    return wanted.length > 1 && wanted.length === types.length ? [`${kind}.*`] : wanted;
  });
}

function kindOf(type: EventType): string {
  return type.split(".", 1)[0] ?? type;
}

/** Whether all, some or none of the types are chosen. */
export function judgeGroup(
  types: readonly EventType[],
  chosen: readonly EventType[],
): "all" | "some" | "none" {
  const count = types.filter((type) => chosen.includes(type)).length;
  return count === 0 ? "none" : count === types.length ? "all" : "some";
}

/** Adds the types to the chosen ones, or takes them away. */
export function toggleTypes(
  types: readonly EventType[],
  chosen: readonly EventType[],
  isWanted: boolean,
): readonly EventType[] {
  const others = chosen.filter((type) => !types.includes(type));
  return isWanted ? [...others, ...types] : others;
}
