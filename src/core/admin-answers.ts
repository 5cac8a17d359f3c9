// What the admin API tells, as TypeBox schemas for the OpenAPI document and for the test that holds the server to it.
import Type from "typebox";
import { VERSIONS } from "./api-key.ts";
import { COMMUNITY_SHAPE } from "./game-server.ts";
import { SECTIONS } from "./sections.ts";

const EpochMs = Type.Integer({ format: "int64" });
const ServerId = Type.String({ pattern: "^srv_[0-9A-Za-z]+$", description: "Id of the game server" });
const KeyId = Type.String({ pattern: "^key_[0-9A-Za-z]+$", description: "Id of the key" });
const Token = Type.String({
  pattern: "^gth_[0-9A-Za-z]{36}$",
  description: "The secret that callers send. It is shown here and never again",
});

function time(description: string) {
  return Type.Integer({ format: "int64", description: `${description}, in epoch milliseconds` });
}

function timeOrNull(description: string) {
  return Type.Union([EpochMs, Type.Null()], { description });
}

/** One page of a list. */
export function pageOf<S extends Type.TSchema>(items: S) {
  return Type.Object({
    items: Type.Array(items),
    next: Type.Union([Type.String(), Type.Null()], {
      description: "Send it as `cursor` for the next page; null on the last",
    }),
  });
}

export const ServerAnswer = Type.Object({
  server_id: ServerId,
  name: Type.String(),
  community: Type.Union([Type.String({ pattern: COMMUNITY_SHAPE.source }), Type.Null()], {
    description: "The segment of its paths; null accepts any",
  }),
  created_at: time("When it was added"),
});

export const DeletedServerAnswer = Type.Object({
  revoked_keys: Type.Integer({ minimum: 0, description: "How many keys were revoked with it" }),
  failed_commands: Type.Integer({ minimum: 0, description: "How many waiting commands were given up" }),
});

const key = {
  key_id: KeyId,
  server_id: ServerId,
  label: Type.String(),
  versions: Type.Array(Type.Enum([...VERSIONS]), { description: "Versions the key may use" }),
  sections: Type.Array(Type.Enum([...SECTIONS]), { description: "Sections the key may read" }),
  commands: Type.Array(Type.String(), { description: 'Commands the key may send; ["*"] is all, [] none' }),
  ip_allow: Type.Array(Type.String(), { description: "Where the key may be used from; [] is anywhere" }),
  expires_at: timeOrNull("When it ends, in epoch milliseconds; null is never"),
  suspended: Type.Boolean(),
  created_at: time("When it was made"),
  last_used_at: timeOrNull("When it was used last, in epoch milliseconds; null when it never was"),
  revoked_at: timeOrNull("When it was revoked, in epoch milliseconds; null while it is valid"),
};

const counts = {
  requests: Type.Integer({ minimum: 0, description: "Requests that came with the key" }),
  refusals: Type.Record(Type.String({ pattern: "^[0-9]+$" }), Type.Integer({ minimum: 1 }), {
    additionalProperties: false,
    description: "How many of them were refused, by error code",
  }),
};

export const UsageAnswer = Type.Object({
  ...counts,
  hours: Type.Array(Type.Object({ hour: time("When the hour began"), ...counts }), {
    description: "The hours of the last 30 days in which there were any, oldest first",
  }),
});

export const KeyAnswer = Type.Object(key);
export const NewKeyAnswer = Type.Object({ ...key, token: Token });
export const ShownKeyAnswer = Type.Object({ ...key, usage: UsageAnswer });

export const RotationAnswer = Type.Object({
  key_id: KeyId,
  token: Token,
  old_token_valid_until: time("How long the old token still works"),
});

export const BlockAnswer = Type.Object({
  key_id: KeyId,
  server_id: Type.Union([ServerId, Type.Null()]),
  label: Type.Union([Type.String(), Type.Null()]),
  blocked_until: time("When the block ends"),
});

export const AuditAnswer = Type.Object({
  id: Type.String(),
  at: time("When it was done"),
  action: Type.String({ description: "server.created, key.revoked, block.lifted and so on" }),
  actor: Type.Object({
    fingerprint: Type.String({ description: "Tells master keys apart; cannot be turned back into one" }),
    address: Type.String({ description: "Where the request came from" }),
  }),
  target: Type.String({ description: "Id of what was changed" }),
  details: Type.Object(
    {
      before: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
      after: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    },
    { description: "What changed, as it was and as it is; never a secret" },
  ),
});
