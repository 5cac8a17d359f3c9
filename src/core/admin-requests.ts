// What an operator may send to the admin API, as TypeBox schemas: checking, static types and the OpenAPI document all
// come from here. The description of a field is what somebody is told who got it wrong.
import Type from "typebox";
import { VERSIONS } from "./api-key.ts";
import { COMMUNITY_SHAPE, SERVER_KEY_SHAPE } from "./game-server.ts";
import { SECTIONS } from "./sections.ts";

export const GRACE_SECONDS_MAX = 30 * 24 * 3600;
/** The last millisecond that a date can name. */
const TIME_MAX = 8.64e15;
const LIST_MAX = 100;

/** No control characters, no line separators, no halves of surrogate pairs, and something to see. */
const VISIBLE_TEXT =
  "^(?=[\\s\\S]*\\S)(?:[^\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029\\ud800-\\udfff]|[\\ud800-\\udbff][\\udc00-\\udfff])+$";

function text(what: string) {
  return Type.String({
    minLength: 1,
    maxLength: 100,
    pattern: VISIBLE_TEXT,
    description: `must be ${what} of 1 to 100 characters, without control characters`,
  });
}

const ServerKey = Type.String({
  maxLength: 512,
  pattern: SERVER_KEY_SHAPE.source,
  description: "must be a server key of the game API: letters and digits, a hyphen, letters and digits",
});

const Community = Type.Union([Type.String({ pattern: COMMUNITY_SHAPE.source }), Type.Null()], {
  description: "must be 1 to 64 letters, digits, _ or -, or null",
});

export const NewServer = Type.Object(
  { name: text("a name"), server_key: ServerKey, community: Type.Optional(Community) },
  { additionalProperties: false },
);

export const ServerChange = Type.Partial(NewServer, { additionalProperties: false });

const rights = {
  versions: Type.Array(Type.Enum([...VERSIONS]), {
    uniqueItems: true,
    description: `must be a list of versions (${VERSIONS.join(", ")}), each once`,
  }),
  sections: Type.Array(Type.Enum([...SECTIONS]), {
    uniqueItems: true,
    description: `must be a list of sections (${SECTIONS.join(", ")}), each once`,
  }),
  commands: Type.Array(
    Type.String({ minLength: 1, maxLength: 50, pattern: "^[^\\s\\x00-\\x1f\\x7f-\\x9f\\ud800-\\udfff]+$" }),
    {
      maxItems: LIST_MAX,
      uniqueItems: true,
      description: `must be a list of at most ${LIST_MAX} command names like ":h", each once, or ["*"] for all`,
    },
  ),
  ip_allow: Type.Array(Type.String({ maxLength: 64 }), {
    maxItems: LIST_MAX,
    description: `must be a list of at most ${LIST_MAX} addresses or ranges like 203.0.113.7, 10.0.0.0/8 or 2001:db8::/32`,
  }),
  expires_at: Type.Union([Type.Integer({ minimum: 0, maximum: TIME_MAX }), Type.Null()], {
    description: "must be a time to come in epoch milliseconds, or null",
  }),
};

export const NewKey = Type.Object(
  {
    server_id: Type.String({
      pattern: "^srv_[0-9A-Za-z]{1,64}$",
      description: "must be the id of a server (srv_…)",
    }),
    label: text("a label"),
    ...Type.Partial(Type.Object(rights)).properties,
  },
  { additionalProperties: false },
);

export const KeyUpdate = Type.Partial(
  Type.Object({
    label: text("a label"),
    ...rights,
    suspended: Type.Boolean({ description: "must be true or false" }),
  }),
  { additionalProperties: false },
);

export const Rotation = Type.Object(
  {
    grace_seconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: GRACE_SECONDS_MAX,
        description: `must be a whole number of seconds from 0 to ${GRACE_SECONDS_MAX} (30 days)`,
      }),
    ),
  },
  { additionalProperties: false },
);

export type NewServer = Type.Static<typeof NewServer>;
export type ServerChange = Type.Static<typeof ServerChange>;
export type NewKey = Type.Static<typeof NewKey>;
export type KeyUpdate = Type.Static<typeof KeyUpdate>;
export type Rotation = Type.Static<typeof Rotation>;
