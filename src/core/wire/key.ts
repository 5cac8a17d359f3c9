// API keys in the admin API: the resource, and the bodies of requests; spam blocks, and what a caller sees of its own key. In
// the schema of a request, a field's description completes the error message for a wrong value.
import Type from "typebox";
import { VERSIONS } from "../keys/api-key.ts";
import { KEY_STATES } from "../keys/key-state.ts";
import { ABILITIES, HIDEABLE_FIELDS, KEY_ABILITIES } from "../keys/rights.ts";
import { SECTIONS } from "../sections.ts";
import { ServerResource } from "./server.ts";
import {
  bodyOf,
  changeOf,
  EpochMs,
  GivenServerId,
  KeyId,
  orNull,
  ServerId,
  type Static,
  time,
  visibleText,
  YesOrNo,
} from "./values.ts";

export const BlockedId = Type.String({
  pattern: "^(key_[0-9A-Za-z]+|per_[0-9A-Za-z]+@srv_[0-9A-Za-z]+)$",
  description: "Id of the key; of a person the id, `@` and the id of the server",
});

/** Server and label are null when the key no longer exists. The label of a person is the name. */
export const BlockResource = Type.Object({
  key_id: BlockedId,
  server_id: Type.Union([ServerId, Type.Null()]),
  label: Type.Union([Type.String(), Type.Null()]),
  blocked_until: time("When the block ends"),
});
export type BlockResource = Static<typeof BlockResource>;

export const GRACE_SECONDS_MAX = 30 * 24 * 3600;
/** The last millisecond that a date can name. */
const TIME_MAX = 8.64e15;
const LIST_MAX = 100;

const Token = Type.String({
  pattern: "^gth_[0-9A-Za-z]{36}$",
  description: "The secret that callers send. It is shown here and never again",
});

const FacadeKey = Type.String({
  pattern: "^gth[0-9A-Za-z]{36}-[0-9A-Za-z]+$",
  description:
    "The same secret for clients of the game API, which send it as `server-key`. It is shown here and never again",
});

export const KeyResource = Type.Object({
  key_id: KeyId,
  server_id: ServerId,
  label: Type.String(),
  state: Type.Enum([...KEY_STATES], {
    description: "Whether it can be used; of several states the first of revoked, expired, suspended, blocked, active",
  }),
  versions: Type.Array(Type.Enum([...VERSIONS]), { description: "Versions the key may use" }),
  sections: Type.Array(Type.Enum([...SECTIONS]), { description: "Sections the key may read" }),
  commands: Type.Array(Type.String(), { description: 'Commands the key may send; ["*"] is all, [] none' }),
  hide: Type.Array(Type.Enum([...HIDEABLE_FIELDS]), {
    description: "What the key does not get: JoinKey is empty then, Location absent, wherever they appear",
  }),
  may: Type.Array(Type.Enum([...KEY_ABILITIES]), {
    description: "What the key may do besides; with any command it may claim calls and write notes too",
  }),
  ip_allow: Type.Array(Type.String(), { description: "Where the key may be used from; [] is anywhere" }),
  expires_at: orNull(EpochMs, "When it ends, in epoch milliseconds; null is never"),
  suspended: Type.Boolean(),
  created_at: time("When it was made"),
  last_used_at: orNull(EpochMs, "When it was used last, in epoch milliseconds; null when it never was"),
  revoked_at: orNull(EpochMs, "When it was revoked, in epoch milliseconds; null while it is valid"),
});
export type KeyResource = Static<typeof KeyResource>;

export const KeyWithToken = Type.Object({ ...KeyResource.properties, token: Token, facade_key: FacadeKey });
export type KeyWithToken = Static<typeof KeyWithToken>;

const counts = {
  requests: Type.Integer({ minimum: 0, description: "Requests that came with the key" }),
  refusals: Type.Record(Type.String({ pattern: "^[0-9]+$" }), Type.Integer({ minimum: 1 }), {
    additionalProperties: false,
    description: "How many of them were refused, by error code",
  }),
};

const UsedHour = Type.Object({ hour: time("When the hour began"), ...counts });
export type UsedHour = Static<typeof UsedHour>;

export const UsageResource = Type.Object({
  ...counts,
  hours: Type.Array(UsedHour, { description: "The hours of the last 30 days in which there were any, oldest first" }),
});
export type UsageResource = Static<typeof UsageResource>;

const GraceToken = Type.Object({ valid_until: time("When it stops working") });

/** A single key, with what a list does not show. */
export const KeyWithUsage = Type.Object({
  ...KeyResource.properties,
  grace_tokens: Type.Array(GraceToken, {
    description: "The old tokens of earlier rotations that still work, the one that ends first in front",
  }),
  usage: UsageResource,
});
export type KeyWithUsage = Static<typeof KeyWithUsage>;

export const RotatedKey = Type.Object({
  key_id: KeyId,
  token: Token,
  facade_key: FacadeKey,
  old_token_valid_until: time("How long the old token still works"),
});
export type RotatedKey = Static<typeof RotatedKey>;

export const KeyRightFields = {
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
  hide: Type.Array(Type.Enum([...HIDEABLE_FIELDS]), {
    uniqueItems: true,
    description: `must be a list of fields (${HIDEABLE_FIELDS.join(", ")}), each once`,
  }),
  may: Type.Array(Type.Enum([...KEY_ABILITIES]), {
    uniqueItems: true,
    description: `must be a list of rights (${KEY_ABILITIES.join(", ")}), each once`,
  }),
  ip_allow: Type.Array(Type.String({ maxLength: 64 }), {
    maxItems: LIST_MAX,
    description: `must be a list of at most ${LIST_MAX} addresses or ranges like 203.0.113.7, 10.0.0.0/8 or 2001:db8::/32`,
  }),
  expires_at: orNull(
    Type.Integer({ minimum: 0, maximum: TIME_MAX }),
    "must be a time to come in epoch milliseconds, or null",
  ),
};

export const NewKey = bodyOf({
  server_id: GivenServerId,
  label: visibleText("a label"),
  ...Type.Partial(Type.Object(KeyRightFields)).properties,
});
export type NewKey = Static<typeof NewKey>;

export const KeyUpdate = changeOf({
  label: visibleText("a label"),
  ...KeyRightFields,
  suspended: YesOrNo,
});
export type KeyUpdate = Static<typeof KeyUpdate>;

export const Rotation = bodyOf({
  grace_seconds: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: GRACE_SECONDS_MAX,
      description: `must be a whole number of seconds from 0 to ${GRACE_SECONDS_MAX} (30 days)`,
    }),
  ),
});
export type Rotation = Static<typeof Rotation>;

const { server_id, label, versions, sections, commands, hide, expires_at } = KeyResource.properties;
const { name: server_name, community } = ServerResource.properties;

export const OwnKeyResource = Type.Object({
  key_id: BlockedId,
  label,
  server_id,
  server_name,
  community,
  versions,
  sections,
  commands,
  hide,
  may: Type.Array(Type.Enum([...ABILITIES]), {
    description: "What the key, or the person whose session it is, may do besides",
  }),
  expires_at,
});
export type OwnKeyResource = Static<typeof OwnKeyResource>;
