// Game servers in the admin API. In the schema of a request, a field's description completes the error message for a
// wrong value.
import Type from "typebox";
import { COMMUNITY_SHAPE, SERVER_KEY_SHAPE } from "../game-server.ts";
import type { Static } from "./static.ts";
import { orNull, ServerId, time, visibleText } from "./values.ts";

const CommunityName = Type.String({ pattern: COMMUNITY_SHAPE.source });

export const ServerResource = Type.Object({
  server_id: ServerId,
  name: Type.String(),
  community: orNull(CommunityName, "The segment of its paths; null accepts any"),
  created_at: time("When it was added"),
});
export type ServerResource = Static<typeof ServerResource>;

export const DeletedServerResource = Type.Object({
  revoked_keys: Type.Integer({ minimum: 0, description: "How many keys were revoked with it" }),
  failed_commands: Type.Integer({ minimum: 0, description: "How many waiting commands were given up" }),
});
export type DeletedServerResource = Static<typeof DeletedServerResource>;

const ServerKey = Type.String({
  maxLength: 512,
  pattern: SERVER_KEY_SHAPE.source,
  description: "must be a server key of the game API: letters and digits, a hyphen, letters and digits",
});

export const NewServer = Type.Object(
  {
    name: visibleText("a name"),
    server_key: ServerKey,
    community: Type.Optional(orNull(CommunityName, "must be 1 to 64 letters, digits, _ or -, or null")),
  },
  { additionalProperties: false },
);
export type NewServer = Static<typeof NewServer>;

export const ServerChange = Type.Partial(NewServer, { additionalProperties: false });
export type ServerChange = Static<typeof ServerChange>;
