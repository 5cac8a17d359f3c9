// The operations for callers with an API key: read the server's state and the key's rights, and send commands.
import Type from "typebox";
import { CommandReceipt, CommandResource, NewCommand } from "../../core/wire/command.ts";
import type { ErrorName } from "../../core/wire/error.ts";
import { EventPage } from "../../core/wire/event.ts";
import { OwnKeyResource } from "../../core/wire/own-key.ts";
import { pageOf } from "../../core/wire/page.ts";
import { ServerInfo } from "../../core/wire/server-info.ts";
import {
  BARE_OWN_KEY,
  CANCELLED_COMMAND,
  EVENT_PAGE,
  EVENT_STREAM,
  FAILED_COMMAND,
  GAP_PAGE,
  OWN_KEY,
  QUEUED_COMMAND,
  RECEIPT,
  SECTION_EXAMPLES,
  SENT_COMMAND,
  SERVER_INFO,
} from "./examples.ts";
import { type HeaderName, LIMIT_HEADER_NAMES } from "./headers.ts";
import { describeCallerHistory } from "./history-operations.ts";
import { describeCallerImage, describeCallerMap } from "./map-operations.ts";
import type { Answer, Operation, Operations } from "./operation.ts";
import {
  COMMUNITY,
  EVENT_PARAMETERS,
  IDEMPOTENCY_KEY,
  IF_NONE_MATCH,
  PAGE_PARAMETERS,
  SECTION_PARAMETERS,
  STATUS,
  STREAM_PARAMETERS,
} from "./parameters.ts";

const CALLER_ERRORS: readonly ErrorName[] = [
  "missingToken",
  "invalidToken",
  "forbidden",
  "versionForbidden",
  "spamBlocked",
  "internal",
  "unavailable",
];
const COUNTED_ERRORS: readonly ErrorName[] = [...CALLER_ERRORS, "rateLimited"];
const COUNTED_HEADERS: readonly HeaderName[] = [...LIMIT_HEADER_NAMES, "CacheControl"];
const READING_HEADERS: readonly HeaderName[] = [...COUNTED_HEADERS, "ETag", "Age", "Cache", "Vary"];

const readServer: Operation = {
  id: "readServer",
  tag: "Server",
  summary: "Read the state of your game server",
  description:
    "The server is the one that your key belongs to. The eight required fields are always there; each section is there when its parameter is exactly `true`. Fields inside a section may be missing, as the game API sometimes leaves them out. Integers are relayed exactly, also those beyond 2^53. `HEAD` works too, and counts.",
  security: ["apiKey"],
  parameters: [...SECTION_PARAMETERS, IF_NONE_MATCH],
  answers: {
    200: {
      description: "The state of the server, at most as old as `Age` says.",
      headers: READING_HEADERS,
      schema: ServerInfo,
      examples: {
        plain: { summary: "Without sections", value: SERVER_INFO },
        players: {
          summary: "With Players",
          value: { ...SERVER_INFO, Players: SECTION_EXAMPLES.Players },
        },
        everything: { summary: "With all sections", value: { ...SERVER_INFO, ...SECTION_EXAMPLES } },
      },
    },
    304: {
      description:
        "Nothing has changed since the answer with the `ETag` that you sent. It counts all the same.",
      headers: READING_HEADERS,
    },
  },
  errors: [...COUNTED_ERRORS, "sectionForbidden", "gameApi"],
  isCounted: true,
};

const readOwnKey: Operation = {
  id: "tellKey",
  tag: "Server",
  summary: "Ask what your key may do",
  description:
    "The rights of the key that the request comes with, so that a program need not find them out by being refused. The game API is not asked. Counts like any read.",
  security: ["apiKey"],
  answers: {
    200: {
      description: "The key's own rights.",
      headers: COUNTED_HEADERS,
      schema: OwnKeyResource,
      examples: {
        some: { summary: "Two sections, two commands", value: OWN_KEY },
        bare: { summary: "The server itself and nothing else, for a time", value: BARE_OWN_KEY },
      },
    },
  },
  errors: COUNTED_ERRORS,
  isCounted: true,
};

export const EVENT_ANSWER: Answer = {
  description: "A page of events, oldest first.",
  headers: ["CacheControl", "Vary"],
  schema: EventPage,
  examples: {
    events: { summary: "Somebody joined, and got stars", value: EVENT_PAGE },
    gap: { summary: "Some kills were missed; there is more to read", value: GAP_PAGE },
  },
};

const readEvents: Operation = {
  id: "readEvents",
  tag: "Events",
  summary: "Read what happened on your game server",
  description:
    "Every log entry that a reading showed is here once, in the order it was recorded; where something may have been missed there is a `gap`. Keep `next` once you have handled the events, and send it as `after`: it moves past what the filter left out, and holds for every key of the server. One answer looks at 10,000 events at most, so `items` may be empty while `has_more` is true. You get the types whose section your key may read: a type that you name and may not have is refused with 5011. A cursor that is too old, or from another archive, is 410 with `oldest`, which begins with the oldest kept event. Section names in the query mean nothing here. Counts as one request, however long it waits; a restart of Gatehouse answers waiting requests at once, with no items.",
  security: ["apiKey"],
  parameters: EVENT_PARAMETERS,
  answers: { 200: { ...EVENT_ANSWER, headers: [...COUNTED_HEADERS, "Vary"] } },
  errors: [
    ...COUNTED_ERRORS,
    "sectionForbidden",
    "invalidRequest",
    "cursorExpired",
    "tooManyStreams",
    "notConfigured",
  ],
  isCounted: true,
};

const STREAM_ERRORS: readonly ErrorName[] = [
  ...COUNTED_ERRORS,
  "sectionForbidden",
  "invalidRequest",
  "tooManyStreams",
  "notConfigured",
];

/** Without the headers of a counted request. */
export const STREAM_ANSWER: Answer = {
  description: "Messages, without an end.",
  headers: ["CacheControl", "AccelBuffering"],
  schema: Type.String(),
  mediaType: "text/event-stream",
  examples: { stream: { summary: "Somebody joined", value: EVENT_STREAM } },
};

const streamEvents: Operation = {
  id: "streamEvents",
  tag: "Events",
  summary: "Follow what happens, as Server-Sent Events",
  description:
    "Each message has an `id` (the cursor that you have reached), an `event` (the type) and `data` (the whole event, in one line). First comes `hello` with `cursor` and `server_time`; after 15 s without a message `heartbeat`, whose `id` moves past what the filter left out. Keep the `id` once you have handled a message, and connect again with it: nothing is lost over a restart, a deployment or a slow line. A cursor that is too old is no error here: a `gap` with reason `retention` comes first, then the oldest kept event. `bye` says why the stream ends: `code` is the error that you would get now, `reason` is `restart` or `slow`. Opening it counts as one request; at most 20 streams and waiting reads of a key are open on one instance. A reader that takes nothing for 30 s, or for which 1 MiB waits, is cut. The token comes in the header, never in the query: in a browser use fetch, not EventSource.",
  security: ["apiKey"],
  parameters: STREAM_PARAMETERS,
  answers: {
    200: { ...STREAM_ANSWER, headers: [...COUNTED_HEADERS, "AccelBuffering"] },
  },
  errors: STREAM_ERRORS,
  isCounted: true,
};

const openEventSocket: Operation = {
  id: "openEventSocket",
  tag: "Events",
  summary: "Follow what happens, over a WebSocket",
  description:
    'The same as the stream, in JSON text frames: `{"op":"hello","cursor","server_time"}`, `{"op":"event","event"}`, `{"op":"heartbeat","cursor"}`, `{"op":"bye","code"}` or `{"op":"bye","reason"}`. Send the token in the Authorization header, or, where that is not possible, within 10 s as the first and only frame `{"op":"auth","token","after","types"}` (`after` and `types` are optional, and win over the query; `types` may be a list of names too). A refusal is an ordinary answer before the upgrade; after a token in a frame it is `bye` with the code, and close 4001. Close codes: 4001 refused, or the key may not go on; 1012 restart; 1013 too slow; 1003 you sent something else; 1009 a frame over 4 KiB. At most 1,000 sockets of an instance wait for their token, and 50 of one address (of one /64 for IPv6); then 503 with code 5106.',
  security: ["apiKey", "optional"],
  parameters: STREAM_PARAMETERS,
  answers: {
    101: {
      description: "The frames follow. Without a token the request is not counted yet.",
      headers: [...LIMIT_HEADER_NAMES.map((name) => `${name}Sometimes` as const), "CacheControl", "Upgrade"],
    },
  },
  errors: [...STREAM_ERRORS, "upgradeRequired"],
  isCounted: true,
};

const submitCommand: Operation = {
  id: "submitCommand",
  tag: "Commands",
  summary: "Send a command",
  description:
    "Accepted means that it is on disk. It is handed to the game at most once, in order, when its turn comes. Does not count toward the limit. A server that is parked, because it was added for another game API than the one in use, takes no commands: 5019. The key needs the right to send this command.",
  security: ["apiKey"],
  parameters: [IDEMPOTENCY_KEY],
  body: {
    schema: NewCommand,
    isRequired: true,
    examples: {
      hint: { summary: "A hint for everybody", value: { command: ":h The event starts in ten minutes" } },
    },
  },
  answers: {
    202: {
      description: "Accepted. Ask for its state with `command_id`.",
      headers: ["CacheControl"],
      schema: CommandReceipt,
      examples: { accepted: { summary: "Third in the queue", value: RECEIPT } },
    },
  },
  errors: [
    ...CALLER_ERRORS,
    "invalidJson",
    "missingCommand",
    "invalidRequest",
    "payloadTooLarge",
    "unsupportedMediaType",
    "idempotencyInFlight",
    "idempotencyMismatch",
    "queueFull",
    "gameApi",
  ],
};

const listCommands: Operation = {
  id: "listCommands",
  tag: "Commands",
  summary: "List the commands of your server",
  description:
    'Newest first: those that the key sent itself, or with `["*"]` those of all keys of the server. The key needs the right to send commands. A page may have few items and still a `next`.',
  security: ["apiKey"],
  parameters: [STATUS, ...PAGE_PARAMETERS],
  answers: {
    200: {
      description: "A page of commands.",
      headers: COUNTED_HEADERS,
      schema: pageOf(CommandResource),
      examples: {
        page: { summary: "The only page", value: { items: [QUEUED_COMMAND, SENT_COMMAND], next: null } },
      },
    },
  },
  errors: [...COUNTED_ERRORS, "invalidRequest"],
  isCounted: true,
};

const showCommand: Operation = {
  id: "showCommand",
  tag: "Commands",
  summary: "Ask what became of a command",
  description:
    'A key sees the commands that it sent itself; one that may send every command (`["*"]`) those of all keys of its server. Finished ones are told for 7 days, unless the operator says otherwise, and the newest 10,000 of a server at most.',
  security: ["apiKey"],
  answers: {
    200: {
      description: "The command.",
      headers: COUNTED_HEADERS,
      schema: CommandResource,
      examples: {
        queued: { summary: "It waits", value: QUEUED_COMMAND },
        sent: { summary: "The game took it", value: SENT_COMMAND },
        failed: { summary: "The game refused it", value: FAILED_COMMAND },
      },
    },
  },
  errors: [...COUNTED_ERRORS, "notFound"],
  isCounted: true,
};

const cancelCommand: Operation = {
  id: "cancelCommand",
  tag: "Commands",
  summary: "Cancel a command that still waits",
  description: "Any command that the key sees.",
  security: ["apiKey"],
  answers: {
    200: {
      description: "It will not be sent.",
      headers: COUNTED_HEADERS,
      schema: CommandResource,
      examples: { cancelled: { summary: "Cancelled in time", value: CANCELLED_COMMAND } },
    },
  },
  errors: [...COUNTED_ERRORS, "notFound", "conflict"],
  isCounted: true,
};

export const PUBLIC_OPERATIONS: Operations = {
  ...inBothForms("GET", "/game/server", readServer),
  ...inBothForms("GET", "/game/key", readOwnKey),
  ...inBothForms("GET", "/game/server/events", readEvents),
  ...inBothForms("GET", "/game/server/events/stream", streamEvents),
  ...inBothForms("GET", "/game/server/events/socket", openEventSocket),
  ...Object.assign(
    {},
    ...describeCallerHistory(COUNTED_ERRORS).map(([question, operation]) =>
      inBothForms("GET", `/game/server/history/${question}`, operation),
    ),
  ),
  ...inBothForms("GET", "/game/server/map", describeCallerMap(COUNTED_ERRORS)),
  ...inBothForms("GET", "/game/server/map/image", describeCallerImage(COUNTED_ERRORS)),
  ...inBothForms("POST", "/game/server/command", submitCommand),
  ...inBothForms("GET", "/game/server/command", listCommands),
  ...inBothForms("GET", "/game/server/command/:id", showCommand),
  ...inBothForms("DELETE", "/game/server/command/:id", cancelCommand),
};

function inBothForms(method: string, path: string, operation: Operation): Operations {
  return {
    [`${method} /v2${path}`]: operation,
    [`${method} /v2/:community${path}`]: {
      ...operation,
      id: `${operation.id}OfCommunity`,
      tag: "With a community",
      parameters: [COMMUNITY, ...(operation.parameters ?? [])],
    },
  };
}
