// Written by scripts/write-client-types.ts from the schemas of Gatehouse. Do not change it by hand.

/** An id of the game. A bigint when a double cannot hold it; the same id always has the same type. */
export type Id = number | bigint;

export type Section =
  | "Players"
  | "Staff"
  | "JoinLogs"
  | "Queue"
  | "KillLogs"
  | "CommandLogs"
  | "ModCalls"
  | "EmergencyCalls"
  | "Vehicles";

export type Location = {
  /** X position on the map */
  readonly LocationX?: number;
  /** Z position on the map */
  readonly LocationZ?: number;
  /** Postal code */
  readonly PostalCode?: string;
  /** Street name */
  readonly StreetName?: string;
  /** Building number */
  readonly BuildingNumber?: string;
};

export type Player = {
  /** The player's team */
  readonly Team?: string;
  /** <player_name>:<player_id>; the id may exceed 2^53 */
  readonly Player?: string;
  /** Null for civilians, who have none */
  readonly Callsign?: string | null;
  readonly Location?: Location;
  /** Normal, Server Administrator, Server Owner, Server Co-Owner, Server Moderator, or newer */
  readonly Permission?: string;
  /** Number of wanted stars */
  readonly WantedStars?: number;
};

export type Staff = {
  /** user id -> player name; the id may exceed 2^53 */
  readonly Admins: { readonly [name: string]: string };
  /** user id -> player name; the id may exceed 2^53 */
  readonly Mods: { readonly [name: string]: string };
  /** user id -> player name; the id may exceed 2^53 */
  readonly Helpers: { readonly [name: string]: string };
};

export type JoinLog = {
  /** true: joined, false: left */
  readonly Join?: boolean;
  /** Unix timestamp in seconds */
  readonly Timestamp?: number;
  /** <player_name>:<player_id>; the id may exceed 2^53 */
  readonly Player?: string;
};

export type KillLog = {
  /** <player_name>:<player_id>; the id may exceed 2^53 */
  readonly Killed?: string;
  /** Unix timestamp in seconds */
  readonly Timestamp?: number;
  /** <player_name>:<player_id>; the id may exceed 2^53 */
  readonly Killer?: string;
};

export type CommandLog = {
  /** <player_name>:<player_id>; the id may exceed 2^53 */
  readonly Player?: string;
  /** Unix timestamp in seconds */
  readonly Timestamp?: number;
  /** The command as it was typed */
  readonly Command?: string;
};

export type ModCall = {
  /** <player_name>:<player_id>; the id may exceed 2^53 */
  readonly Caller?: string;
  /** <player_name>:<player_id> of who came (the id may exceed 2^53); null when nobody did */
  readonly Moderator?: string | null;
  /** Unix timestamp in seconds */
  readonly Timestamp?: number;
};

export type EmergencyCall = {
  /** The team that took the call */
  readonly Team?: string;
  /** Id of the player who called: an integer that may exceed 2^53 */
  readonly Caller?: Id;
  /** Ids of the players who take part, each an integer that may exceed 2^53 */
  readonly Players?: readonly Id[];
  /** [X, Z] */
  readonly Position?: readonly [number, number];
  /** Unix timestamp in seconds */
  readonly StartedAt?: number;
  /** Number of the call */
  readonly CallNumber?: number;
  /** What it is about */
  readonly Description?: string;
  /** Where it is, in words */
  readonly PositionDescriptor?: string;
};

export type Vehicle = {
  /** Vehicle name */
  readonly Name?: string;
  /** Name of the vehicle's owner */
  readonly Owner?: string;
  /** Livery; null when it has none */
  readonly Texture?: string | null;
  /** #RRGGBB, in any case of letters */
  readonly ColorHex?: string;
  /** Name of the colour */
  readonly ColorName?: string;
};

export type ServerBase = {
  /** Server name */
  readonly Name: string;
  /** Id of the server's owner: an integer that may exceed 2^53 */
  readonly OwnerId: Id;
  /** Ids of the co-owners, each an integer that may exceed 2^53 */
  readonly CoOwnerIds: readonly Id[];
  /** How many are playing */
  readonly CurrentPlayers: number;
  /** How many can play */
  readonly MaxPlayers: number;
  /** Key to join the server with */
  readonly JoinKey: string;
  /** What an account must have verified: Disabled, Email, Phone, ID, or newer */
  readonly AccVerifiedReq: string;
  /** Whether teams are kept in balance */
  readonly TeamBalance: boolean;
};

/** The nine sections, by their names */
export type Sections = {
  readonly Players: readonly Player[];
  readonly Staff: Staff;
  readonly JoinLogs: readonly JoinLog[];
  /** Ids of the players who wait to join, each an integer that may exceed 2^53 */
  readonly Queue: readonly Id[];
  readonly KillLogs: readonly KillLog[];
  readonly CommandLogs: readonly CommandLog[];
  readonly ModCalls: readonly ModCall[];
  readonly EmergencyCalls: readonly EmergencyCall[];
  readonly Vehicles: readonly Vehicle[];
};

/** What happened */
export type EventType =
  | "player.joined"
  | "player.left"
  | "player.killed"
  | "command.used"
  | "modcall.opened"
  | "modcall.answered"
  | "call.opened"
  | "call.changed"
  | "call.closed"
  | "custom.command"
  | "custom.unknown"
  | "player.changed"
  | "vehicle.spawned"
  | "vehicle.removed"
  | "staff.added"
  | "staff.removed"
  | "queue.changed"
  | "server.changed"
  | "server.online"
  | "server.offline"
  | "server.unreachable"
  | "alert.raised"
  | "alert.cleared"
  | "gap"
  | "modcall.claimed"
  | "modcall.released";

/** log: one of the four log lists; diff: two readings compared; webhook: told by the game; gateway: told by Gatehouse itself */
export type EventSource = "log" | "diff" | "webhook" | "gateway";

export type EventResource = {
  /** Its cursor: unique, opaque, valid for every key of the server */
  readonly id: string;
  /** What happened */
  readonly type: EventType;
  /** When it happened; the game tells whole seconds, and where it tells nothing this is `seen_at`, in epoch milliseconds */
  readonly at: number;
  /** When Gatehouse learned of it, in epoch milliseconds */
  readonly seen_at: number;
  /** log: one of the four log lists; diff: two readings compared; webhook: told by the game; gateway: told by Gatehouse itself */
  readonly source: EventSource;
  /** Whether it was there before the server's first reading; nothing to react to */
  readonly backfill: boolean;
  /** The game's own element with its own field names, as a read gives it; integers may exceed 2^53. Of a gap: `section`, `reason`, `from` and `to`. Of custom.command: `Command`, `Argument` and `Player`, an id as text. Of custom.unknown: `Event` and `Data`. Of server.online, server.offline and server.unreachable: `upstream_code` and `upstream_message`, null when online. Of alert.raised and alert.cleared: `rule`, `subject` and `text` */
  readonly data: { readonly [name: string]: unknown };
  /** What Gatehouse adds: `before` of a change, `changed` fields of a call, `answered_between` of a call for a moderator, `by` of its claim, `command_id` and `sent_by` of a command of ours, `targets` of any command, `events` that an alert is about */
  readonly meta?: { readonly [name: string]: unknown };
};

export type EventPage = {
  /** Oldest first */
  readonly items: readonly EventResource[];
  /** A cursor: send it as `after` to get what follows it */
  readonly next: string;
  /** Only when reading backwards: the `before` of the page with older events */
  readonly previous?: string;
  /** Whether there are more events in the direction of reading; they may not pass the filter */
  readonly has_more: boolean;
};

/** Something may be missing between these times */
export type Gap = {
  /** `*`: everything that is compared between readings */
  readonly section:
    | "Players"
    | "Staff"
    | "JoinLogs"
    | "Queue"
    | "KillLogs"
    | "CommandLogs"
    | "ModCalls"
    | "EmergencyCalls"
    | "Vehicles"
    | "*";
  readonly reason: "no_overlap" | "not_watched" | "archive" | "server_replaced" | "retention";
  /** In epoch milliseconds; null where unknown */
  readonly from: number | null;
  /** In epoch milliseconds; null where unknown */
  readonly to: number | null;
};

export type ServerStateData = {
  /** The game API's code; null when online */
  readonly upstream_code: number | null;
  /** What the game API said; null when online */
  readonly upstream_message: string | null;
};

export type StaffMember = {
  readonly Role: "Admins" | "Mods" | "Helpers";
  /** An id as text */
  readonly UserId: string;
  readonly Name: string;
};

export type CustomCommand = {
  readonly Command: string;
  readonly Argument: string;
  /** An id as text */
  readonly Player: string;
};

export type Alert = {
  readonly rule: "kills" | "mass_command" | "unanswered_modcall" | "offline" | "unreachable" | "players";
  /** `Name:id` of a player, or `server` */
  readonly subject: string;
  /** A short English sentence */
  readonly text: string;
};

/** What Gatehouse adds to some events */
export type EventMeta = {
  /** What was before: the changed fields of a player or the settings, or the queue */
  readonly before?: unknown;
  /** The fields of a call that changed */
  readonly changed?: readonly string[];
  /** When a call for a moderator was answered: after the first time and before the second, in epoch milliseconds */
  readonly answered_between?: readonly [number, number];
  /** Of a command that was sent through Gatehouse */
  readonly command_id?: string;
  /** Who sent that command */
  readonly sent_by?: {
    readonly kind: "person" | "key";
    /** Id of the person or key */
    readonly id: string;
    /** The person's name or the key's label at that time */
    readonly name: string;
  };
  readonly by?: Who;
  /** The players that a command was aimed at, as `Name:id`, as far as its first argument names them */
  readonly targets?: readonly string[];
  /** The ids of the events that an alert is about */
  readonly events?: readonly string[];
  /** What an alert says, in one word, such as `kills` */
  readonly code?: string;
  /** The numbers and texts in the sentence of an alert, such as `count` */
  readonly values?: { readonly [name: string]: number | string };
};

/** queued and sending may still change; sent, failed, unknown, expired and cancelled are final */
export type CommandStatus = "queued" | "sending" | "sent" | "failed" | "unknown" | "expired" | "cancelled";

export type CommandReceipt = {
  /** Id of the command */
  readonly command_id: string;
  readonly status: "queued";
  /** 1 for the next to be sent */
  readonly position: number;
  /** Epoch milliseconds */
  readonly queued_at: number;
};

export type CommandResource = {
  /** Id of the command */
  readonly command_id: string;
  /** Id of the key that sent it; of a person `per_…@srv_…` */
  readonly key_id: string;
  /** The label of that key, also when it was revoked, or the person's name; null when it is not known */
  readonly key_label: string | null;
  /** Who sent it: a person or a key, by the name of that time */
  readonly sent_by: {
    readonly kind: "person" | "key";
    /** Id of the person or key */
    readonly id: string;
    /** The person's name or the key's label at that time */
    readonly name: string;
  };
  /** The text that is sent, trimmed */
  readonly command: string;
  /** queued and sending may still change; sent, failed, unknown, expired and cancelled are final */
  readonly status: CommandStatus;
  /** 1 for the next to be sent; null when it does not wait */
  readonly position: number | null;
  /** Epoch milliseconds */
  readonly queued_at: number;
  /** When it was handed to the game API, in epoch milliseconds; null while it waits */
  readonly sent_at: number | null;
  /** When its last state was reached, in epoch milliseconds; null before */
  readonly finished_at: number | null;
  /** When the game's own command log showed it, in epoch milliseconds; null proves nothing */
  readonly confirmed_at: number | null;
  /** The game API's code for a command that failed */
  readonly upstream_code: number | null;
  /** What the game API said about it */
  readonly upstream_message: string | null;
};

export type CommandPage = {
  readonly items: readonly CommandResource[];
  /** Send it as `cursor` for the next page; null on the last */
  readonly next: string | null;
};

export type PlayersPoint = {
  /** When it begins, in epoch milliseconds */
  readonly at: number;
  /** For how much of the time readings vouch, from 0 (nothing is known, the other fields are null) to 1 */
  readonly known: number;
  /** The fewest players */
  readonly min: number | null;
  /** Players on average over the known time */
  readonly avg: number | null;
  /** The most players */
  readonly max: number | null;
  /** The most that waited to join; only for keys with the section Queue */
  readonly queue_max?: number | null;
  /** The most players with a permission above Normal; only for keys with the section Players */
  readonly staff_max?: number | null;
  /** Players of each team on average over the time in which readings showed the players, null when none did; only for keys with the section Players */
  readonly teams?: { readonly [name: string]: number } | null;
};

export type PlayersHistory = {
  readonly resolution: "1m" | "5m" | "1h" | "1d";
  /** Oldest first, without holes */
  readonly points: readonly PlayersPoint[];
};

export type SessionResource = {
  /** Name and id, as the game writes them: `Name:id` */
  readonly player: string;
  /** The id alone */
  readonly id: string;
  /** When the player came, or was first seen, in epoch milliseconds */
  readonly joined_at: number;
  /** When the player left, or was last seen, in epoch milliseconds; null while there */
  readonly left_at: number | null;
  /** How long the player was there, in seconds */
  readonly seconds: number;
  /** log (the game told it), vanished (absent from two readings in a row without a log entry), gap (nobody was looking), or null while there */
  readonly ended: "log" | "vanished" | "gap" | null;
  /** Seconds in each team, as far as readings showed it */
  readonly teams: { readonly [name: string]: number };
};

export type SessionPage = {
  readonly items: readonly SessionResource[];
  /** Send it as `cursor` for the next page; null on the last */
  readonly next: string | null;
};

export type PlaytimeResource = {
  /** Name and id, as the game writes them: `Name:id` */
  readonly player: string;
  /** The id alone */
  readonly id: string;
  /** How long the player was there, in seconds */
  readonly seconds: number;
  /** Sessions that touch the period */
  readonly sessions: number;
};

export type PlaytimePage = {
  readonly items: readonly PlaytimeResource[];
  /** Send it as `cursor` for the next page; null on the last */
  readonly next: string | null;
};

export type StaffResource = {
  /** Name and id, as the game writes them: `Name:id` */
  readonly player: string;
  /** The id alone */
  readonly id: string;
  /** How long the player was there, in seconds */
  readonly seconds: number;
  /** Seconds in each team, as far as readings showed it */
  readonly teams: { readonly [name: string]: number };
  /** The staff list on which the newest reading has them: Admins, Mods or Helpers */
  readonly role: string | null;
  /** Commands used in the game */
  readonly commands: number;
  /** How many of them were of these kinds; the others are in `commands` only */
  readonly commands_by_kind: {
    readonly kick: number;
    readonly ban: number;
    readonly jail: number;
    readonly message: number;
    readonly teleport: number;
  };
  /** Calls for a moderator answered */
  readonly modcalls_answered: number;
  /** The median of how long callers waited, in seconds: at least and at most, because readings show only that a call was answered between two of them; null without answers */
  readonly median_between: readonly [number, number] | null;
};

export type StaffPage = {
  readonly items: readonly StaffResource[];
  /** Send it as `cursor` for the next page; null on the last */
  readonly next: string | null;
};

export type PeaksResource = {
  /** The time zone of the table */
  readonly tz: string;
  /** A row for each day of the week, Monday first, with a value for each hour */
  readonly table: readonly (readonly (number | null)[])[];
};

export type PresentHistory = {
  /** The moment that was asked about, in epoch milliseconds */
  readonly at: number;
  /** Whether readings tell of that moment; when not, somebody may be missing */
  readonly known: boolean;
  /** Their sessions, the one that began last first */
  readonly items: readonly SessionResource[];
};

export type Who = {
  readonly kind: "master" | "person" | "key" | "system";
  /** Id of the person or key */
  readonly id: string;
  /** The person's name or the key's label at that time */
  readonly name: string;
};

export type PlayerResource = {
  /** The newest name, and the id: `Name:id` */
  readonly player: string;
  /** The id alone */
  readonly id: string;
  /** Newest first */
  readonly names: readonly string[];
  /** When the player was first seen, in epoch milliseconds */
  readonly first_seen_at: number;
  /** When the player was last seen, in epoch milliseconds */
  readonly last_seen_at: number;
  /** How long the player was there in all, in seconds */
  readonly seconds: number;
  /** How often the player came */
  readonly sessions: number;
  /** Whether the newest reading shows the player */
  readonly is_here: boolean;
};

export type PlayerPage = {
  readonly items: readonly PlayerResource[];
  /** Send it as `cursor` for the next page; null on the last */
  readonly next: string | null;
};

export type AimedCommand = {
  /** When it was used, in epoch milliseconds */
  readonly at: number;
  readonly command: string;
  /** Who used it in the game, as `Name:id` */
  readonly by: string | null;
  /** Who sent it through Gatehouse; null for a command typed in the game */
  readonly sent_by: Who | null;
  /** A cursor: send it as `after` to get what follows it */
  readonly event_id: string;
};

export type NewNote = {
  /** must be a text of 1 to 1000 characters, without control characters but line breaks and tabs */
  readonly text: string;
  /** must be note or warning */
  readonly kind: "note" | "warning";
};

export type NoteResource = {
  /** Id of the note */
  readonly note_id: string;
  readonly text: string;
  /** must be note or warning */
  readonly kind: "note" | "warning";
  readonly by: Who;
  /** When it was written, in epoch milliseconds */
  readonly at: number;
};

export type NotePage = {
  readonly items: readonly NoteResource[];
  /** Send it as `cursor` for the next page; null on the last */
  readonly next: string | null;
};

export type PlayerRecord = {
  /** The newest name, and the id: `Name:id` */
  readonly player: string;
  /** The id alone */
  readonly id: string;
  /** Newest first */
  readonly names: readonly string[];
  /** When the player was first seen, in epoch milliseconds */
  readonly first_seen_at: number;
  /** When the player was last seen, in epoch milliseconds */
  readonly last_seen_at: number;
  /** How long the player was there in all, in seconds */
  readonly seconds: number;
  /** How often the player came */
  readonly sessions: number;
  /** Whether the newest reading shows the player */
  readonly is_here: boolean;
  /** Seconds in each team, as far as readings showed it */
  readonly teams: { readonly [name: string]: number };
  /** Only for keys with the section KillLogs */
  readonly kills?: number;
  /** Only for keys with the section KillLogs */
  readonly deaths?: number;
  /** The newest that were aimed at the player, newest first; only for keys with the section CommandLogs */
  readonly commands?: readonly AimedCommand[];
  /** Calls for a moderator by the player; only for keys with the section ModCalls */
  readonly modcalls?: {
    readonly count: number;
    /** The newest; null for none */
    readonly last: {
      /** Id of the call */
      readonly id: string;
      /** When it was opened, in epoch milliseconds */
      readonly opened_at: number;
      /** waiting; claimed (somebody is on the way); answered (in the game); left (the caller left a minute ago or more); expired (an hour old) */
      readonly state: "waiting" | "claimed" | "answered" | "left" | "expired";
    } | null;
  };
  /** Newest first; only for those who may write notes */
  readonly notes?: readonly NoteResource[];
};

export type ModCallResource = {
  /** Id of the call */
  readonly id: string;
  /** Name and id, as the game writes them: `Name:id` */
  readonly caller: string;
  /** When it was opened, by the game's clock, in epoch milliseconds */
  readonly opened_at: number;
  /** waiting; claimed (somebody is on the way); answered (in the game); left (the caller left a minute ago or more); expired (an hour old) */
  readonly state: "waiting" | "claimed" | "answered" | "left" | "expired";
  /** Whether the newest reading shows the caller */
  readonly is_here: boolean;
  /** Where the caller is; null when that is not known, or not for this key */
  readonly position: Location | null;
  /** Who answered it in the game, as `Name:id` */
  readonly answered_by: string | null;
  /** When the answer was seen, in epoch milliseconds */
  readonly answered_at: number | null;
  /** Who is on the way, or was */
  readonly claimed_by: Who | null;
  /** Since when, in epoch milliseconds */
  readonly claimed_at: number | null;
};

export type ModCallPage = {
  readonly items: readonly ModCallResource[];
  /** Send it as `cursor` for the next page; null on the last */
  readonly next: string | null;
};

export type OwnKeyResource = {
  /** Id of the key; of a person the id, `@` and the id of the server */
  readonly key_id: string;
  readonly label: string;
  /** Id of the game server */
  readonly server_id: string;
  readonly server_name: string;
  /** The segment of its paths; null accepts any */
  readonly community: string | null;
  /** Versions the key may use */
  readonly versions: readonly ("v1" | "v2")[];
  /** Sections the key may read */
  readonly sections: readonly Section[];
  /** Commands the key may send; ["*"] is all, [] none */
  readonly commands: readonly string[];
  /** What the key does not get: JoinKey is empty then, Location absent, wherever they appear */
  readonly hide: readonly ("JoinKey" | "Location")[];
  /** What the key, or the person whose session it is, may do besides */
  readonly may: readonly ("claim" | "notes" | "exports" | "alerts" | "webhooks" | "keys" | "status" | "people")[];
  /** When it ends, in epoch milliseconds; null is never */
  readonly expires_at: number | null;
};

export type MapImageResource = {
  /** What the bytes are */
  readonly type: "image/png" | "image/jpeg" | "image/webp";
  /** In pixels */
  readonly width: number;
  /** In pixels */
  readonly height: number;
  readonly bytes: number;
  /** The game's X at the left of the picture's edge, in units of the game */
  readonly left: number;
  /** The game's Z at the top of the picture's edge, in units of the game */
  readonly top: number;
  /** The game's X at the right of the picture's edge, in units of the game */
  readonly right: number;
  /** The game's Z at the bottom of the picture's edge, in units of the game */
  readonly bottom: number;
  /** When it was set, in epoch milliseconds */
  readonly set_at: number;
  /** The `ETag` of the picture; it changes with the bytes */
  readonly etag: string;
};

export type GameMapResource = {
  /** The side of a cell of the grid, in units of the game */
  readonly cell_size: number;
  /** Most seen first */
  readonly streets: readonly {
    /** As the game writes it; untrusted text */
    readonly name: string;
    /** One entry for each cell of the grid in which the name was seen: the mean X and Z of the positions there, and how many there were */
    readonly cells: readonly (readonly [number, number, number])[];
  }[];
  /** Most seen first */
  readonly postal_codes: readonly {
    /** As the game writes it; untrusted text */
    readonly name: string;
    /** One entry for each cell of the grid in which the name was seen: the mean X and Z of the positions there, and how many there were */
    readonly cells: readonly (readonly [number, number, number])[];
  }[];
  /** The picture that the operator has set; null when there is none */
  readonly image: MapImageResource | null;
};
