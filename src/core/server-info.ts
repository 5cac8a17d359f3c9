// The shapes of spec.md section 2 as TypeBox schemas, written once: validation of what the game API sends,
// static types and the OpenAPI document all come from here. The order of the properties is the order of output.
import Type from "typebox";

// Ids outgrow doubles, so they are relayed as text (see upstream/exact-json.ts); int64 tells generated clients.
const Id = Type.Integer({ format: "int64" });
const Timestamp = Type.Integer({ format: "int64", description: "Unix timestamp in seconds" });
const PlayerRef = Type.String({ description: "<player_name>:<player_id>" });
const TextOrNull = Type.Union([Type.String(), Type.Null()]);

// The spec does not say which nested fields are required and the field has been seen to miss any of them,
// so a reader must expect each to be absent.
const Location = Type.Partial(
  Type.Object({
    LocationX: Type.Number(),
    LocationZ: Type.Number(),
    PostalCode: Type.String(),
    StreetName: Type.String(),
    BuildingNumber: Type.String(),
  }),
);

const Player = Type.Partial(
  Type.Object({
    Team: Type.String(),
    Player: PlayerRef,
    Callsign: TextOrNull,
    Location,
    Permission: Type.String({
      description: "Normal, Server Administrator, Server Owner, Server Co-Owner, Server Moderator, or newer",
    }),
    WantedStars: Type.Integer(),
  }),
);

const StaffMap = Type.Record(Type.String({ pattern: "^[0-9]+$" }), Type.String(), {
  additionalProperties: false,
  description: "user id -> player name",
});

const Staff = Type.Object({ Admins: StaffMap, Mods: StaffMap, Helpers: StaffMap });

const JoinLog = Type.Partial(Type.Object({ Join: Type.Boolean(), Timestamp, Player: PlayerRef }));

const KillLog = Type.Partial(Type.Object({ Killed: PlayerRef, Timestamp, Killer: PlayerRef }));

const CommandLog = Type.Partial(Type.Object({ Player: PlayerRef, Timestamp, Command: Type.String() }));

const ModCall = Type.Partial(
  Type.Object({ Caller: PlayerRef, Moderator: Type.Union([PlayerRef, Type.Null()]), Timestamp }),
);

const EmergencyCall = Type.Partial(
  Type.Object({
    Team: Type.String(),
    Caller: Id,
    Players: Type.Array(Id),
    Position: Type.Array(Type.Number(), { minItems: 2, maxItems: 2, description: "[X, Z]" }),
    StartedAt: Timestamp,
    CallNumber: Type.Integer(),
    Description: Type.String(),
    PositionDescriptor: Type.String(),
  }),
);

const Vehicle = Type.Partial(
  Type.Object({
    Name: Type.String(),
    Owner: Type.String(),
    Texture: TextOrNull,
    ColorHex: Type.String({ description: "#RRGGBB" }),
    ColorName: Type.String(),
  }),
);

/** The eight fields that every ServerInfo has. */
export const ServerBase = Type.Object({
  Name: Type.String(),
  OwnerId: Id,
  CoOwnerIds: Type.Array(Id),
  CurrentPlayers: Type.Integer(),
  MaxPlayers: Type.Integer(),
  JoinKey: Type.String(),
  AccVerifiedReq: Type.String({ description: "Disabled, Email, Phone, ID, or newer" }),
  TeamBalance: Type.Boolean(),
});

/** One schema for each section, by its name. */
export const SectionSchemas = {
  Players: Type.Array(Player),
  Staff,
  JoinLogs: Type.Array(JoinLog),
  Queue: Type.Array(Id),
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

export type ServerInfo = Type.Static<typeof ServerInfo>;
