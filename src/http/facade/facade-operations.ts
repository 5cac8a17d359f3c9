// What the façade's own reference says (`/openapi.json?for=facade`): its operations in the shapes of the game API.
import Type from "typebox";
import type { V1Resource } from "../../core/facade/v1-shapes.ts";
import { SECTIONS } from "../../core/sections.ts";
import { NewCommand } from "../../core/wire/command.ts";
import { SectionSchemas, ServerBase, ServerInfo } from "../../core/wire/server-info.ts";
import type { HeaderName } from "../openapi/headers.ts";
import { type Answer, type Definition, type Operation, shows } from "../operation.ts";
import { READING_HEADERS } from "../readings/read-server.ts";

const LIMIT_HEADERS = ["RateLimitLimit", "RateLimitRemaining", "RateLimitReset", "RateLimitBucket"] as const;
const COUNTED_READ: readonly HeaderName[] = [...READING_HEADERS, ...LIMIT_HEADERS];
/** A request without a key of ours is not counted. */
const ERROR_HEADERS: readonly HeaderName[] = [
  "CacheControl",
  "RetryAfterSometimes",
  "RequestIdSometimes",
  ...LIMIT_HEADERS.map((name) => `${name}Sometimes` as const),
];

const { Players, Staff, JoinLogs, Queue, KillLogs, CommandLogs, ModCalls, Vehicles } = SectionSchemas;
const { Player, Permission, Callsign, Team } = Players.items.properties;
const { Texture, Name, Owner } = Vehicles.items.properties;

const GameError = Type.Object(
  {
    code: Type.Integer({ description: "A code of the game API" }),
    message: Type.String(),
    retry_after: Type.Optional(Type.Number({ description: "With 429: seconds until asking again makes sense" })),
    bucket: Type.Optional(Type.String({ description: "With 429: whose limit it is" })),
    commandId: Type.Optional(Type.String({ description: "With 422: the command whose outcome is not known" })),
  },
  { description: "An error in the form of the game API" },
);

const GAME_ERRORS: Readonly<Record<number, Answer>> = {
  400: error("A code of the game API that Gatehouse does not know", 1234, "Its message."),
  403: error("No key, a wrong one, or one that may not do this", 2002, "You provided an invalid server-key."),
  422: error("The server is offline", 3002, "The server is offline."),
  429: error("Too many requests, here or of the game API", 4001, "You are being rate limited."),
  500: error("The game API, or Gatehouse, cannot answer", 1002, "An internal system error occurred."),
};

const CommandSuccess = Type.Object({
  message: Type.Literal("Success"),
  commandId: Type.String({ description: "Its id in Gatehouse" }),
  queued: Type.Optional(Type.Literal(true, { description: "It still waits, and the game may yet refuse it" })),
});

const ANSWERS_OF_V1: Readonly<Record<V1Resource, readonly [schema: Type.TSchema, example: unknown]>> = {
  server: [ServerBase, exampleOfServer()],
  players: [
    Type.Array(Type.Partial(Type.Object({ Player, Permission, Callsign, Team }))),
    [{ Player: "Bob:123", Permission: "Normal", Callsign: null, Team: "Civilian" }],
  ],
  staff: [
    Type.Object({ CoOwners: ServerBase.properties.CoOwnerIds, ...Staff.properties }),
    { CoOwners: [123], Admins: { "54": "Ann" }, Mods: {}, Helpers: {} },
  ],
  joinlogs: [JoinLogs, [{ Join: true, Timestamp: 1_704_614_400, Player: "Bob:123" }]],
  queue: [Queue, [123]],
  killlogs: [KillLogs, [{ Killed: "Bob:123", Timestamp: 1_704_614_400, Killer: "" }]],
  commandlogs: [CommandLogs, [{ Player: "Ann:54", Timestamp: 1_704_614_400, Command: ":h Hello" }]],
  modcalls: [ModCalls, [{ Caller: "Bob:123", Moderator: null, Timestamp: 1_704_614_400 }]],
  vehicles: [
    Type.Array(Type.Partial(Type.Object({ Texture, Name, Owner }))),
    [{ Texture: null, Name: "Fire Engine", Owner: "Bob" }],
  ],
};

export const READ_AS_THE_GAME: Definition = {
  id: "readServerAsTheGame",
  tag: "Façade",
  summary: "The state of the server",
  description: "As the game API's `GET /v2/server`. A section that the key may not read is empty.",
  parameters: SECTIONS.map((name) => ({
    name,
    in: "query" as const,
    description: `Include ${name}. Only \`true\` does.`,
    schema: Type.String(),
    example: "true",
  })),
  answers: { 200: { ...shows("The state", ServerInfo, exampleOfServer()), headers: COUNTED_READ }, ...GAME_ERRORS },
};

export const SEND_AS_THE_GAME: Definition = describeSending("sendCommandAsTheGame");
export const SEND_AS_THE_GAME_V1: Definition = describeSending("sendCommandAsTheGameV1");

export const READ_BANS: Definition = {
  id: "readBansAsTheGameV1",
  tag: "Façade",
  summary: "The list of bans, which is not relayed",
  answers: {
    ...GAME_ERRORS,
    404: error("Always: code 3001", 3001, "The list of bans is not available through this API."),
  },
};

export function describeV1(resource: V1Resource): Definition {
  const [schema, example] = ANSWERS_OF_V1[resource];
  return {
    id: `read${resource[0]?.toUpperCase()}${resource.slice(1)}AsTheGameV1`,
    tag: "Façade",
    summary: `As the game API's version 1: ${resource}`,
    answers: { 200: { ...shows("In the shape of version 1", schema, example), headers: COUNTED_READ }, ...GAME_ERRORS },
  };
}

/** A route of the façade: its errors are those of the game API, so none of ours are added. */
export function asFacadeOperation(definition: Definition): Operation {
  return { ...definition, security: ["facadeKey"], errors: [] };
}

function describeSending(id: string): Definition {
  return {
    id,
    tag: "Façade",
    summary: "Send a command",
    description:
      "Answers when the command was sent, or after 4 seconds. The same text sent again within 10 seconds is the same command. Not counted.",
    body: {
      schema: NewCommand,
      isRequired: true,
      examples: { hint: { summary: "A hint for everybody", value: { command: ":h Hello" } } },
    },
    answers: {
      ...GAME_ERRORS,
      200: shows("Sent, or still waiting", CommandSuccess, { message: "Success", commandId: "cmd_1" }),
      400: error("No usable command, or one that the game does not know", 3001, "You did not provide a valid command."),
      422: error("The server is offline (3002), or the outcome is not known (1001)", 3002, "The server is offline."),
    },
  };
}

function error(description: string, code: number, message: string): Answer {
  return { ...shows(description, GameError, { code, message }), headers: ERROR_HEADERS };
}

function exampleOfServer() {
  return {
    Name: "Town",
    OwnerId: 123,
    CoOwnerIds: [123],
    CurrentPlayers: 1,
    MaxPlayers: 40,
    JoinKey: "Town",
    AccVerifiedReq: "Disabled",
    TeamBalance: true,
  };
}
