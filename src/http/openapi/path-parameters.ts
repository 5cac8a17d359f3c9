// The parameters in paths. In the route table they are `:id`, `:note`, `:slug` and `:community`.
import Type from "typebox";
import { COMMUNITY_SHAPE, STATUS_SLUG_SHAPE } from "../../core/game-server.ts";
import { ROLE_NAME_SHAPE } from "../../core/people/role.ts";
import { BlockedId } from "../../core/wire/key.ts";
import { PasskeyId, PersonId, SessionId } from "../../core/wire/people.ts";
import { ModCallId, NoteId } from "../../core/wire/players.ts";
import { CommandId } from "../../core/wire/values.ts";
import { WebhookId } from "../../core/wire/webhook.ts";
import type { Parameter } from "../operation.ts";

function inPath(name: string, description: string, schema: Type.TSchema | RegExp, example: string): Parameter {
  const shape = schema instanceof RegExp ? Type.String({ pattern: schema.source }) : schema;
  return { name, in: "path", description, schema: shape, example };
}

const SERVER_ID = inPath("server_id", "The game server's id.", /^srv_[0-9A-Za-z]+$/, "srv_5tqX0PpV3mYbL1nKcD7w");
const KEY_EXAMPLE = "key_0Ka4qbuWLQDNnkIAG3EZ";
const KEY_ID = inPath("key_id", "The key's id.", /^key_[0-9A-Za-z]+$/, KEY_EXAMPLE);
const COMMAND_ID = inPath("command_id", "The command's id.", CommandId, "cmd_zRH77T5ZugEUB3g6rBBK");
const SESSION_ID = inPath("session_id", "The session's id.", SessionId, "ses_9fWc2LrT6yQxB4mHsZ1k");
const PASSKEY_ID = inPath("passkey_id", "The passkey's id.", PasskeyId, "psk_x0PpV3mYbL1nKcD7w5tq");
const PERSON_ID = inPath("person_id", "The person's id.", PersonId, "per_4kTq8ZbXw2LmVn6RcYs1");
const ROLE_NAME = inPath("role", "The role's name.", ROLE_NAME_SHAPE, "moderator");
const BLOCKED_ID = inPath("key_id", "The id of the key, or of the person and server.", BlockedId, KEY_EXAMPLE);
const WEBHOOK_ID = inPath("webhook_id", "The webhook's id.", WebhookId, "hook_3uGk8sYc2RzNqT5vBw1x");
const AUDIT_ID = inPath("entry_id", "The entry's id.", /^aud_[0-9a-z]+$/, "aud_2s");
const PLAYER = "The player's id: the number after the colon in `Name:id`.";
const PLAYER_ID = inPath("player_id", PLAYER, /^[0-9]+$/, "3801422");
const NOTE_ID = inPath("note_id", "The note's id.", NoteId, "note_4tGk8sYc2RzNqT5vBw1x");
const MOD_CALL_ID = inPath("call_id", "The call's id.", ModCallId, "q3Vd0n8aTfGk2LrWx5YzBg");
const COMMUNITY = inPath(
  "community",
  "The server's community. A server without one accepts any.",
  COMMUNITY_SHAPE,
  "cedar",
);
const SLUG = inPath(
  "slug",
  "The slug that the operator has given the server's public status.",
  STATUS_SLUG_SHAPE,
  "cedar",
);

/** The parameter that a name stands for in a path of the route table. */
function parameterOf(name: string, path: string): Parameter {
  if (name === ":slug") return SLUG;
  if (name === ":community") return COMMUNITY;
  if (name === ":note") return NOTE_ID;
  if (name === ":session" || path.startsWith("/session/sessions")) return SESSION_ID;
  if (name === ":passkey" || path.startsWith("/session/passkeys")) return PASSKEY_ID;
  if (path.startsWith("/admin/people")) return PERSON_ID;
  if (path.startsWith("/admin/roles")) return ROLE_NAME;
  if (path.startsWith("/admin/blocks")) return BLOCKED_ID;
  if (path.includes("/command")) return COMMAND_ID;
  if (path.includes("/modcalls")) return MOD_CALL_ID;
  if (path.includes("/players/")) return PLAYER_ID;
  if (path.startsWith("/admin/audit")) return AUDIT_ID;
  if (path.startsWith("/admin/webhooks")) return WEBHOOK_ID;
  return path.startsWith("/admin/servers") ? SERVER_ID : KEY_ID;
}

const NAME = /:[a-z]+/g;

/** Ids come first: the community may be left out. */
export function listPathParameters(path: string): readonly Parameter[] {
  const found = (path.match(NAME) ?? []).map((name) => parameterOf(name, path));
  return [...found.filter((each) => each !== COMMUNITY), ...found.filter((each) => each === COMMUNITY)];
}

/** `/admin/keys/:id` as OpenAPI writes it: `/admin/keys/{key_id}`. */
export function toTemplate(path: string): string {
  return path.replace(NAME, (name) => `{${parameterOf(name, path).name}}`);
}
