// The types of events: what `data` and `meta` hold for each type.
import type {
  Alert,
  CommandLog,
  CustomCommand,
  EmergencyCall,
  EventMeta,
  EventResource,
  EventType,
  Gap,
  Id,
  JoinLog,
  KillLog,
  ModCall,
  Player,
  ServerBase,
  ServerStateData,
  StaffMember,
  Vehicle,
} from "./wire-types.ts";

type DataOf = {
  readonly "player.joined": JoinLog;
  readonly "player.left": JoinLog;
  readonly "player.killed": KillLog;
  readonly "command.used": CommandLog;
  readonly "modcall.opened": ModCall;
  readonly "modcall.answered": ModCall;
  readonly "modcall.claimed": ModCall;
  readonly "modcall.released": ModCall;
  readonly "call.opened": EmergencyCall;
  readonly "call.changed": EmergencyCall;
  readonly "call.closed": EmergencyCall;
  readonly "custom.command": CustomCommand;
  readonly "custom.unknown": { readonly Event: unknown; readonly Data: unknown };
  readonly "player.changed": Omit<Player, "Location">;
  readonly "vehicle.spawned": Vehicle;
  readonly "vehicle.removed": Vehicle;
  readonly "staff.added": StaffMember;
  readonly "staff.removed": StaffMember;
  readonly "queue.changed": { readonly Queue: readonly Id[] };
  readonly "server.changed": Omit<ServerBase, "CurrentPlayers">;
  readonly "server.online": ServerStateData;
  readonly "server.offline": ServerStateData;
  readonly "server.unreachable": ServerStateData;
  readonly "alert.raised": Alert;
  readonly "alert.cleared": Alert;
  readonly gap: Gap;
};

/** What the game or Gatehouse says, for each type. A type that is missing here does not compile. */
export type EventData = { readonly [T in EventType]: DataOf[T] };

/** An event of the types T; of all types by default. `type` tells what `data` is. */
export type GameEvent<T extends EventType = EventType> = {
  readonly [Each in T]: Omit<EventResource, "type" | "data" | "meta"> & {
    readonly type: Each;
    readonly data: EventData[Each];
    readonly meta?: EventMeta;
  };
}[T];

type Group<T extends string> = T extends `${infer Name}.${string}` ? `${Name}.*` : never;

/** A type of events, or a group of them such as `player.*`. */
export type EventPattern = EventType | Group<EventType>;

/** The types that patterns stand for. A gap comes with every type. */
export type MatchedType<P extends EventPattern> =
  | "gap"
  | (P extends `${infer Name}.*` ? Extract<EventType, `${Name}.${string}`> : Extract<EventType, P>);
