// The types of events: what `data` and `meta` hold for each type.
import type {
  CommandLog,
  EmergencyCall,
  EventResource,
  EventType,
  Id,
  JoinLog,
  KillLog,
  ModCall,
  Player,
  Section,
  ServerBase,
  Vehicle,
} from "./wire-types.ts";

type ServerState = { readonly upstream_code: number | null; readonly upstream_message: string | null };
type StaffMember = {
  readonly Role: "Admins" | "Mods" | "Helpers";
  readonly UserId: string;
  readonly Name: string;
};
type Alert = { readonly rule: string; readonly subject: string | null; readonly text: string };

/** Something may be missing between these times, epoch milliseconds; null where unknown. */
export type Gap = {
  readonly section: Section | "*";
  readonly reason: "no_overlap" | "not_watched" | "archive" | "server_replaced" | "retention";
  readonly from: number | null;
  readonly to: number | null;
};

type DataOf = {
  readonly "player.joined": JoinLog;
  readonly "player.left": JoinLog;
  readonly "player.killed": KillLog;
  readonly "command.used": CommandLog;
  readonly "modcall.opened": ModCall;
  readonly "modcall.answered": ModCall;
  readonly "call.opened": EmergencyCall;
  readonly "call.changed": EmergencyCall;
  readonly "call.closed": EmergencyCall;
  /** `Player` is an id as text. */
  readonly "custom.command": { readonly Command: string; readonly Argument: string; readonly Player: string };
  readonly "custom.unknown": { readonly Event: unknown; readonly Data: unknown };
  readonly "player.changed": Omit<Player, "Location">;
  readonly "vehicle.spawned": Vehicle;
  readonly "vehicle.removed": Vehicle;
  readonly "staff.added": StaffMember;
  readonly "staff.removed": StaffMember;
  readonly "queue.changed": { readonly Queue: readonly Id[] };
  readonly "server.changed": Omit<ServerBase, "CurrentPlayers">;
  readonly "server.online": ServerState;
  readonly "server.offline": ServerState;
  readonly "server.unreachable": ServerState;
  readonly "alert.raised": Alert;
  readonly "alert.cleared": Alert;
  readonly gap: Gap;
};

/** What the game or Gatehouse says, for each type. A type that is missing here does not compile. */
export type EventData = { readonly [T in EventType]: DataOf[T] };

/** What Gatehouse adds to some events. */
export type EventMeta = {
  /** What was before: the changed fields of a player or the settings, or the queue. */
  readonly before?: unknown;
  /** The fields of a call that changed. */
  readonly changed?: readonly string[];
  /** When a call for a moderator was answered: after the first time and before the second, epoch milliseconds. */
  readonly answered_between?: readonly [number, number];
  /** Of a command that was sent through Gatehouse. */
  readonly command_id?: string;
  /** The events that an alert is about. */
  readonly events?: readonly string[];
};

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
