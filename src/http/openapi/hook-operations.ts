// The operation that the game calls: its webhooks.
import Type from "typebox";
import type { Operations, Parameter } from "./operation.ts";

const GameWebhook = Type.Object(
  {
    server: Type.String({
      description: "The part of a server key after the hyphen; `global` in a probe",
    }),
    events: Type.Array(
      Type.Object(
        {
          event: Type.String({
            description: "WebhookProbe, CustomCommand, EmergencyCallStarted, EmergencyCallEnded, or newer",
          }),
          timestamp: Type.Integer({ format: "int64", description: "Unix timestamp in seconds" }),
          origin: Type.String({ description: "Of a CustomCommand, the id of the player who typed it" }),
          data: Type.Record(Type.String(), Type.Unknown(), { description: "What the kind of event has" }),
        },
        { additionalProperties: true },
      ),
    ),
  },
  { additionalProperties: true, description: "What the game tells" },
);

const SIGNATURE: Parameter = {
  name: "X-Signature-Ed25519",
  in: "header",
  description:
    "The Ed25519 signature of the timestamp's text followed by the raw body: 128 hexadecimal digits.",
  schema: Type.String({ pattern: "^[0-9a-fA-F]{128}$" }),
};
const TIMESTAMP: Parameter = {
  name: "X-Signature-Timestamp",
  in: "header",
  description: "Unix seconds, at most 300 s away.",
  schema: Type.String({ pattern: "^[0-9]{1,12}$" }),
  example: "1775518795",
};

export const HOOK_OPERATIONS: Operations = {
  "POST /hooks/game": {
    id: "receiveGameWebhook",
    tag: "Service",
    summary: "Take a webhook of the game",
    description:
      "For the game alone: a body that is not signed with its key is refused. Enter this address in the settings of the game server. Its events are on disk before the answer. A webhook that was taken before, or is about a server that Gatehouse does not have, is 204 and records nothing.",
    security: [],
    parameters: [SIGNATURE, TIMESTAMP],
    body: {
      schema: GameWebhook,
      isRequired: true,
      examples: {
        command: {
          summary: "A player typed ;logging",
          value: {
            server: "gbzaDhOJQTPrFVIjmNuyTYqzyqupLolnWfJmPznx",
            events: [
              {
                event: "CustomCommand",
                timestamp: 1_775_518_795,
                origin: "913430532",
                data: { command: "logging", argument: "This is a custom command." },
              },
            ],
          },
        },
        probe: {
          summary: "The probe, before the game saves the address",
          value: {
            server: "global",
            events: [{ event: "WebhookProbe", timestamp: 1_775_444_267, origin: "global", data: {} }],
          },
        },
      },
    },
    answers: { 204: { description: "It is taken.", headers: ["CacheControl"] } },
    errors: ["invalidJson", "invalidSignature", "payloadTooLarge", "internal", "unavailable"],
  },
};
