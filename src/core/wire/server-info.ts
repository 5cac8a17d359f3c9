// The shapes of a server's state as TypeBox schemas. The validation of answers of the game API, the static types and the
// OpenAPI document are all derived from them. The order of the properties is the order of output.
import Type from "typebox";
import type { Static } from "./values.ts";

// Ids can be too large for a double, so they are relayed as text (see upstream/exact-json.ts). The format int64 tells
// generated clients.
const ID_RANGE = "an integer that may exceed 2^53";
const Id = Type.Integer({ format: "int64", description: `A player's id: ${ID_RANGE}` });
const Timestamp = Type.Integer({ format: "int64", description: "Unix timestamp in seconds" });
const PlayerRef = Type.String({ description: "<player_name>:<player_id>; the id may exceed 2^53" });

function id(description: string) {
  return Type.Integer({ format: "int64", description: `${description}: ${ID_RANGE}` });
}

function text(description: string) {
  return Type.String({ description });
}

function textOrNull(description: string) {
  return Type.Union([Type.String(), Type.Null()], { description });
}

// The specification does not say which nested fields are required, and real answers have lacked any of them, so all are
// optional.
export const Location = Type.Partial(
  Type.Object({
    LocationX: Type.Number({ description: "X position on the map" }),
    LocationZ: Type.Number({ description: "Z position on the map" }),
    PostalCode: text("Postal code"),
    StreetName: text("Street name"),
    BuildingNumber: text("Building number"),
  }),
);
export type Location = Static<typeof Location>;

const Player = Type.Partial(
  Type.Object({
    Team: text("The player's team"),
    Player: PlayerRef,
    Callsign: textOrNull("Null for civilians, who have none"),
    Location,
    Permission: Type.String({
      description: "Normal, Server Administrator, Server Owner, Server Co-Owner, Server Moderator, or newer",
    }),
    WantedStars: Type.Integer({ description: "Number of wanted stars" }),
  }),
);
export type Player = Static<typeof Player>;

const StaffMap = Type.Record(Type.String({ pattern: "^[0-9]+$" }), Type.String(), {
  additionalProperties: false,
  description: "user id -> player name; the id may exceed 2^53",
});

const Staff = Type.Object({ Admins: StaffMap, Mods: StaffMap, Helpers: StaffMap });
export type Staff = Static<typeof Staff>;

const JoinLog = Type.Partial(
  Type.Object({ Join: Type.Boolean({ description: "true: joined, false: left" }), Timestamp, Player: PlayerRef }),
);
export type JoinLog = Static<typeof JoinLog>;

const KillLog = Type.Partial(Type.Object({ Killed: PlayerRef, Timestamp, Killer: PlayerRef }));
export type KillLog = Static<typeof KillLog>;

const CommandLog = Type.Partial(
  Type.Object({ Player: PlayerRef, Timestamp, Command: text("The command as it was typed") }),
);
export type CommandLog = Static<typeof CommandLog>;

const ModCall = Type.Partial(
  Type.Object({
    Caller: PlayerRef,
    Moderator: textOrNull("<player_name>:<player_id> of who came (the id may exceed 2^53); null when nobody did"),
    Timestamp,
  }),
);
export type ModCall = Static<typeof ModCall>;

const EmergencyCall = Type.Partial(
  Type.Object({
    Team: text("The team that took the call"),
    Caller: id("Id of the player who called"),
    Players: Type.Array(Id, { description: `Ids of the players who take part, each ${ID_RANGE}` }),
    Position: Type.Array(Type.Number(), { minItems: 2, maxItems: 2, description: "[X, Z]" }),
    StartedAt: Timestamp,
    CallNumber: Type.Integer({ description: "Number of the call" }),
    Description: text("What it is about"),
    PositionDescriptor: text("Where it is, in words"),
  }),
);
export type EmergencyCall = Static<typeof EmergencyCall>;

const Vehicle = Type.Partial(
  Type.Object({
    Name: text("Vehicle name"),
    Owner: text("Name of the vehicle's owner"),
    Texture: textOrNull("Livery; null when it has none"),
    ColorHex: text("#RRGGBB, in any case of letters"),
    ColorName: text("Name of the colour"),
  }),
);
export type Vehicle = Static<typeof Vehicle>;

/** The eight fields that every ServerInfo has. */
export const ServerBase = Type.Object({
  Name: text("Server name"),
  OwnerId: id("Id of the server's owner"),
  CoOwnerIds: Type.Array(Id, { description: `Ids of the co-owners, each ${ID_RANGE}` }),
  CurrentPlayers: Type.Integer({ description: "How many are playing" }),
  MaxPlayers: Type.Integer({ description: "How many can play" }),
  JoinKey: text("Key to join the server with"),
  AccVerifiedReq: text("What an account must have verified: Disabled, Email, Phone, ID, or newer"),
  TeamBalance: Type.Boolean({ description: "Whether teams are kept in balance" }),
});

/** One schema for each section, by its name. */
export const SectionSchemas = {
  Players: Type.Array(Player),
  Staff,
  JoinLogs: Type.Array(JoinLog),
  Queue: Type.Array(Id, { description: `Ids of the players who wait to join, each ${ID_RANGE}` }),
  KillLogs: Type.Array(KillLog),
  CommandLogs: Type.Array(CommandLog),
  ModCalls: Type.Array(ModCall),
  EmergencyCalls: Type.Array(EmergencyCall),
  Vehicles: Type.Array(Vehicle),
} as const;

export const ServerInfo = Type.Object({
  ...ServerBase.properties,
  ...Type.Partial(Type.Object(SectionSchemas)).properties,
});
export type ServerInfo = Static<typeof ServerInfo>;
