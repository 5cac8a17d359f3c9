// What an event holds, type by type: its `data` and its `meta`. For the reference; the server itself treats all events alike.
import Type from "typebox";
import { EVENT_TYPES, type EventType } from "../events/event-types.ts";
import { EventResource } from "./event.ts";
import { Alert, CustomCommand, EventMeta, Gap, ServerStateData, StaffMember } from "./event-data.ts";
import { SectionSchemas, ServerBase } from "./server-info.ts";

type Shape = { readonly data: Type.TSchema; readonly meta?: Readonly<Record<string, Type.TSchema>> };

const { JoinLogs, KillLogs, CommandLogs, ModCalls, EmergencyCalls, Vehicles, Players, Queue } = SectionSchemas;
const { Team, Callsign, Permission, WantedStars, Player } = Players.items.properties;
const { CurrentPlayers: _, ...settings } = ServerBase.properties;
const { answered_between, by, changed, code, command_id, events, sent_by, targets, values } = EventMeta.properties;

const BEFORE = "The fields that changed, as they were before";
const CustomUnknown = Type.Object({
  Event: Type.Unknown({ description: "The kind that the game named" }),
  Data: Type.Unknown({ description: "What it sent; over 4 KiB, the beginning of its JSON text" }),
});
const join: Shape = { data: JoinLogs.items };
const claim: Shape = { data: ModCalls.items, meta: { by } };
const call: Shape = { data: EmergencyCalls.items };
const vehicle: Shape = { data: Vehicles.items };
const staff: Shape = { data: StaffMember };
const state: Shape = { data: ServerStateData };
const alert: Shape = { data: Alert, meta: { events, code, values } };

const SHAPES: Readonly<Record<EventType, Shape>> = {
  "player.joined": join,
  "player.left": join,
  "player.killed": { data: KillLogs.items },
  "command.used": { data: CommandLogs.items, meta: { command_id, sent_by, targets } },
  "modcall.opened": { data: ModCalls.items },
  "modcall.answered": { data: ModCalls.items, meta: { answered_between } },
  "modcall.claimed": claim,
  "modcall.released": claim,
  "call.opened": call,
  "call.changed": { ...call, meta: { changed } },
  "call.closed": call,
  "custom.command": { data: CustomCommand },
  "custom.unknown": { data: CustomUnknown },
  "player.changed": {
    data: Type.Partial(Type.Object({ Team, Player, Callsign, Permission, WantedStars })),
    meta: {
      before: Type.Partial(Type.Object({ Team, Callsign, Permission, WantedStars }), { description: BEFORE }),
    },
  },
  "vehicle.spawned": vehicle,
  "vehicle.removed": vehicle,
  "staff.added": staff,
  "staff.removed": staff,
  "queue.changed": { data: Type.Object({ Queue }), meta: { before: Queue } },
  "server.changed": {
    data: Type.Object(settings),
    meta: { before: Type.Partial(Type.Object(settings), { description: BEFORE }) },
  },
  "server.online": state,
  "server.offline": state,
  "server.unreachable": state,
  "alert.raised": alert,
  "alert.cleared": alert,
  gap: { data: Gap },
};

/** The schema of each type of event by its name in the reference, such as `PlayerJoinedEvent`. */
export const EVENT_SCHEMAS: Readonly<Record<string, Type.TSchema>> = Object.fromEntries(
  EVENT_TYPES.map((type) => {
    const { data, meta } = SHAPES[type];
    const fields = {
      ...EventResource.properties,
      type: Type.Literal(type),
      data,
      meta: Type.Optional(Type.Partial(Type.Object(meta ?? {}), { description: "What Gatehouse adds" })),
    };
    return [nameOf(type), Type.Object(fields)];
  }),
);

/** Which schema a type of event has. */
export const EVENT_SCHEMA_NAMES: ReadonlyMap<EventType, string> = new Map(
  EVENT_TYPES.map((type) => [type, nameOf(type)]),
);

function nameOf(type: EventType): string {
  const words = type.split(".").map((word) => word[0]?.toUpperCase() + word.slice(1));
  return `${words.join("").replace("Modcall", "ModCall")}Event`;
}
