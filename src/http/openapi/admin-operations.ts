// The operations of the admin API: game servers, keys, blocks, commands and the audit log.
import type Type from "typebox";
import { AuditEntryResource } from "../../core/wire/audit.ts";
import { BlockResource } from "../../core/wire/block.ts";
import { OwnedCommandResource } from "../../core/wire/command.ts";
import type { ErrorName } from "../../core/wire/error.ts";
import {
  KeyResource,
  KeyUpdate,
  KeyWithToken,
  KeyWithUsage,
  NewKey,
  RotatedKey,
  Rotation,
} from "../../core/wire/key.ts";
import { pageOf } from "../../core/wire/page.ts";
import { DeletedServerResource, NewServer, ServerChange, ServerResource } from "../../core/wire/server.ts";
import { ServerInfo } from "../../core/wire/server-info.ts";
import { DeviceList, LinkResource } from "../../core/wire/session.ts";
import { UpstreamResource } from "../../core/wire/upstream.ts";
import { describeAlertOperations } from "./alert-operations.ts";
import {
  AUDIT_ENTRY,
  BLOCK,
  BROKEN_SERVER,
  DEVICE,
  KEY,
  LINK,
  NEW_KEY,
  NEW_SERVER,
  OWNED_CANCELLED_COMMAND,
  OWNED_COMMAND,
  ROTATION,
  SERVER,
  SERVER_INFO,
  SHOWN_KEY,
  UPSTREAM,
} from "./examples.ts";
import type { HeaderName } from "./headers.ts";
import { describeOperatorHistory } from "./history-operations.ts";
import { describeOperatorMaps } from "./map-operations.ts";
import type { Answer, Operation, Operations, TagName } from "./operation.ts";
import {
  EVENT_PARAMETERS,
  IF_NONE_MATCH,
  KEY_SEARCH,
  OF_SERVER,
  PAGE_PARAMETERS,
  SECTION_PARAMETERS,
  STATUS,
  STREAM_PARAMETERS,
} from "./parameters.ts";
import { EVENT_ANSWER, STREAM_ANSWER } from "./public-operations.ts";
import { describeWebhookOperations } from "./webhook-operations.ts";

const OPERATOR_ERRORS: readonly ErrorName[] = [
  "missingToken",
  "invalidMasterKey",
  "tooManyAttempts",
  "internal",
  "unavailable",
];
const BODY_ERRORS: readonly ErrorName[] = [
  "invalidJson",
  "invalidRequest",
  "payloadTooLarge",
  "unsupportedMediaType",
];

const INFO_HEADERS: readonly HeaderName[] = ["CacheControl", "ETag", "Age", "Cache", "Vary"];

const SERVERS: TagName = "Game servers";
const KEYS: TagName = "Keys";
const WEBHOOKS: TagName = "Webhooks";
const OTHERS: TagName = "Blocks, commands, audit";

export const ADMIN_OPERATIONS: Operations = {
  ...describeOperatorHistory((id, summary, rest) => operation(SERVERS, id, summary, rest)),
  ...describeAlertOperations((id, summary, rest) => operation(SERVERS, id, summary, rest)),
  ...describeOperatorMaps((id, summary, rest) => operation(SERVERS, id, summary, rest)),
  "GET /admin/servers": list(
    SERVERS,
    "listServers",
    "List game servers",
    "Oldest first. What is told about their state is what is known already: the game API is not called.",
    ServerResource,
    SERVER,
  ),
  "POST /admin/servers": operation(SERVERS, "createServer", "Add a game server", {
    description:
      "The game API is not called; reading the server's `info` once tests its key. Unless `watch` is false, Gatehouse reads the server from then on, the first time within one interval. The server key is stored encrypted and never shown. The server is `simulated` when Gatehouse runs on its simulator. With `public_status` everybody may see how the server is, at `/status/<slug>`; a slug belongs to one server, and one that is taken is 409.",
    body: body(NewServer, {
      name: "Cedar County",
      server_key: "ExampleKey-ExampleSecret",
      community: "cedar",
    }),
    answers: { 201: answer("The server was added.", ServerResource, NEW_SERVER) },
    errors: [...BODY_ERRORS, "conflict"],
  }),
  "GET /admin/servers/:id": operation(SERVERS, "showServer", "Show a game server", {
    answers: {
      200: {
        ...answer("The server.", ServerResource, SERVER),
        examples: {
          well: { summary: "All is well", value: SERVER },
          broken: { summary: "The game API refuses its key", value: BROKEN_SERVER },
        },
      },
    },
    errors: ["notFound"],
  }),
  "GET /admin/servers/:id/info": operation(SERVERS, "readServerInfo", "Look into a game server", {
    description:
      "What a caller of this server gets, with any section: the same cached reading, and at most one call to the game API. Counts against no key. A parked server is refused with 5019, `upstream_code` 0.",
    parameters: [...SECTION_PARAMETERS, IF_NONE_MATCH],
    answers: {
      200: {
        description: "The state of the server, at most as old as `Age` says.",
        headers: INFO_HEADERS,
        schema: ServerInfo,
        examples: { plain: { summary: "Without sections", value: SERVER_INFO } },
      },
      304: {
        description: "Nothing has changed since the answer with the `ETag` that you sent.",
        headers: INFO_HEADERS,
      },
    },
    errors: ["notFound", "gameApi"],
  }),
  "GET /admin/servers/:id/events": operation(
    SERVERS,
    "readServerEvents",
    "Read what happened on a game server",
    {
      description:
        "What a key with all sections gets, with the same parameters. Counts against no key. At most 100 reads of all operators wait on one instance.",
      parameters: EVENT_PARAMETERS,
      answers: { 200: EVENT_ANSWER },
      errors: ["notFound", "invalidRequest", "cursorExpired", "tooManyStreams", "notConfigured"],
    },
  ),
  "GET /admin/servers/:id/events/stream": operation(
    SERVERS,
    "streamServerEvents",
    "Follow what happens on a game server, as Server-Sent Events",
    {
      description:
        "What a key with all sections gets, with the same parameters and messages. Counts against no key. At most 100 streams and waiting reads of all operators are open on one instance. It ends with `bye` when the server is deleted.",
      parameters: STREAM_PARAMETERS,
      answers: { 200: STREAM_ANSWER },
      errors: ["notFound", "invalidRequest", "tooManyStreams", "notConfigured"],
    },
  ),
  "PATCH /admin/servers/:id": operation(SERVERS, "changeServer", "Change a game server", {
    description:
      "Setting the server key, even to the same, also means: try again. It ties a parked server to the upstream in use, and fails the commands that waited for the other one. A key whose part after the hyphen differs is another game server: its events begin with a `gap`, reason `server_replaced`.",
    body: body(ServerChange, { name: "Cedar County" }),
    answers: { 200: answer("The server as it is now.", ServerResource, SERVER) },
    errors: [...BODY_ERRORS, "notFound", "conflict"],
  }),
  "DELETE /admin/servers/:id": operation(SERVERS, "deleteServer", "Delete a game server", {
    description:
      "Its keys are revoked, its waiting commands given up and its events deleted. Deleting again answers the same.",
    answers: {
      200: answer("The server is gone.", DeletedServerResource, { revoked_keys: 2, failed_commands: 0 }),
    },
    errors: ["notFound"],
  }),

  "GET /admin/keys": list(
    KEYS,
    "listKeys",
    "List keys",
    "Oldest first, revoked ones included. The work for a page is bounded: with `label` or `state` a page may have few items or none and still a `next`; the search is over when `next` is null.",
    KeyResource,
    KEY,
    KEY_SEARCH,
  ),
  "POST /admin/keys": operation(KEYS, "createKey", "Make a key", {
    description:
      "What is left out gets its default: version v2, all sections, no commands, anywhere, for ever.",
    body: body(NewKey, {
      server_id: SERVER.server_id,
      label: "Discord bot",
      sections: ["Players", "Queue"],
      commands: [":h", ":m"],
    }),
    answers: { 201: answer("The key with its token, which is never shown again.", KeyWithToken, NEW_KEY) },
    errors: BODY_ERRORS,
  }),
  "GET /admin/keys/:id": operation(KEYS, "showKey", "Show a key and its usage", {
    answers: { 200: answer("The key.", KeyWithUsage, SHOWN_KEY) },
    errors: ["notFound"],
  }),
  "PATCH /admin/keys/:id": operation(KEYS, "changeKey", "Change a key", {
    description: "Takes effect on the very next request.",
    body: body(KeyUpdate, { suspended: true }),
    answers: {
      200: answer("The key as it is now.", KeyResource, { ...KEY, state: "suspended", suspended: true }),
    },
    errors: [...BODY_ERRORS, "notFound", "conflict"],
  }),
  "DELETE /admin/keys/:id": operation(KEYS, "revokeKey", "Revoke a key", {
    description: "For good. Revoking again answers the same.",
    answers: { 204: { description: "The key is revoked.", headers: ["CacheControl"] } },
    errors: ["notFound"],
  }),
  "POST /admin/keys/:id/rotate": operation(KEYS, "rotateKey", "Give a key a new token", {
    description:
      "The old token works on for `grace_seconds`, 0 by default. Without grace every older token ends at once, also those of earlier rotations. The body may be left out.",
    body: { ...body(Rotation, { grace_seconds: 3600 }), isRequired: false },
    answers: { 200: answer("The new token, which is never shown again.", RotatedKey, ROTATION) },
    errors: [...BODY_ERRORS, "notFound", "conflict"],
  }),
  "GET /admin/keys/:id/devices": operation(KEYS, "listDevices", "List the devices of a key", {
    description:
      "The browsers that are signed in with the key beside its token: remembered ones, and those that came by a link. The newest first.",
    answers: { 200: answer("The devices; at most 20.", DeviceList, { items: [DEVICE] }) },
    errors: ["notFound"],
  }),
  "DELETE /admin/keys/:id/devices/:device": operation(KEYS, "endDevice", "End a device", {
    description: "It is signed out at once, and has to sign in again.",
    answers: { 204: { description: "The device is ended.", headers: ["CacheControl"] } },
    errors: ["notFound"],
  }),
  "POST /admin/keys/:id/links": operation(KEYS, "makeLink", "Make a one-time link", {
    description:
      "Whoever opens it signs a browser in with the key, without its token. It works once and for 10 minutes. A key has at most 5 open links; one more ends the oldest, and a new token ends all. The secret is in the part of the address that browsers never send.",
    answers: { 201: answer("The link, which is never shown again.", LinkResource, LINK) },
    errors: ["notFound", "conflict"],
  }),

  ...describeWebhookOperations((id, summary, rest) => operation(WEBHOOKS, id, summary, rest), BODY_ERRORS),

  "GET /admin/blocks": list(
    OTHERS,
    "listBlocks",
    "List spam blocks",
    "Those in force.",
    BlockResource,
    BLOCK,
  ),
  "DELETE /admin/blocks/:id": operation(OTHERS, "liftBlock", "Lift a spam block", {
    description: "The key starts over with a fresh window. Without a block nothing changes.",
    answers: { 204: { description: "The key is not blocked.", headers: ["CacheControl"] } },
    errors: ["notFound"],
  }),
  "DELETE /admin/players/:id": operation(OTHERS, "forgetPlayer", "Forget a player", {
    description:
      "Takes a player out of the events of all servers, for good: `Name:id` becomes `deleted:0`, an id 0 and a name `deleted`, also where they stand as a word in commands and descriptions. The events stay, and so do cursors; an entry that the game still shows is not recorded again. No event and no gap comes of it. Finished commands are treated alike; one that still waits is sent as it was accepted, and treated afterwards. Forgetting again answers the same. A ledger with millions of events may take longer than the answer; the rest is done in the background, also after a restart. After 503 it is not certain: ask again. The audit log does not name the player. Backups that were made before still have the player, and so has a PostgreSQL until it vacuums.",
    answers: { 204: { description: "The player is forgotten.", headers: ["CacheControl"] } },
    errors: ["invalidRequest"],
  }),
  "GET /admin/commands": list(
    OTHERS,
    "listAllCommands",
    "List commands",
    "Newest first.",
    OwnedCommandResource,
    OWNED_COMMAND,
    [OF_SERVER, STATUS],
  ),
  "GET /admin/commands/:id": operation(OTHERS, "showAnyCommand", "Show a command", {
    answers: { 200: answer("The command.", OwnedCommandResource, OWNED_COMMAND) },
    errors: ["notFound"],
  }),
  "DELETE /admin/commands/:id": operation(OTHERS, "cancelAnyCommand", "Cancel a command that still waits", {
    answers: { 200: answer("It will not be sent.", OwnedCommandResource, OWNED_CANCELLED_COMMAND) },
    errors: ["notFound", "conflict"],
  }),
  "GET /admin/upstream": operation(OTHERS, "showUpstream", "Show the budget of the game API", {
    description:
      "How many calls are left, and whether they are paused after a 429. The game API is not called.",
    answers: { 200: answer("The budget.", UpstreamResource, UPSTREAM) },
    errors: [],
  }),
  "POST /admin/upstream/resume": operation(OTHERS, "resumeUpstream", "End a pause of the game API", {
    description:
      "For every server, on every instance. Calls during a limit can lead to a ban of the address: do this only when you know that the limit is over. Without a pause nothing changes. The body is not read.",
    answers: {
      200: answer("The budget, without a pause.", UpstreamResource, {
        ...UPSTREAM,
        paused_until: null,
        paused_since: null,
        pause_reason: null,
        resumed_at: 1_794_723_000_000,
      }),
    },
    errors: [],
  }),
  "GET /admin/audit": list(
    OTHERS,
    "listAudit",
    "Who did what",
    "Newest first. Entries are never altered.",
    AuditEntryResource,
    AUDIT_ENTRY,
  ),
  "GET /admin/audit/:id": operation(OTHERS, "showAuditEntry", "Show an entry of the audit log", {
    answers: { 200: answer("The entry.", AuditEntryResource, AUDIT_ENTRY) },
    errors: ["notFound"],
  }),
};

function operation(
  tag: TagName,
  id: string,
  summary: string,
  rest: Pick<Operation, "description" | "body" | "parameters" | "answers" | "errors">,
): Operation {
  return { id, tag, summary, ...rest, security: ["masterKey"], errors: [...OPERATOR_ERRORS, ...rest.errors] };
}

function list(
  tag: TagName,
  id: string,
  summary: string,
  description: string,
  schema: Type.TSchema,
  item: object,
  parameters: Operation["parameters"] = [],
): Operation {
  return operation(tag, id, summary, {
    description,
    parameters: [...parameters, ...PAGE_PARAMETERS],
    answers: { 200: answer("A page of them.", pageOf(schema), { items: [item], next: null }) },
    errors: ["invalidRequest"],
  });
}

function answer(description: string, schema: Type.TSchema, value: unknown): Answer {
  return {
    description,
    headers: ["CacheControl"],
    schema,
    examples: { example: { summary: description, value } },
  };
}

function body(schema: Type.TSchema, value: unknown) {
  return { schema, isRequired: true, examples: { example: { summary: "An example", value } } };
}
