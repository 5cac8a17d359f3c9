// The operations about the public status of a server. They need no key.
import Type from "typebox";
import { STATUS_SLUG_SHAPE } from "../../core/game-server.ts";
import { StatusBadge, StatusResource } from "../../core/wire/status.ts";
import type { HeaderName } from "./headers.ts";
import type { Answer, Operation, Operations, Parameter } from "./operation.ts";
import { IF_NONE_MATCH } from "./parameters.ts";

const SLUG: Parameter = {
  name: "slug",
  in: "path",
  description: "The slug that the operator has given the server's public status.",
  schema: Type.String({ pattern: STATUS_SLUG_SHAPE.source }),
  example: "cedar",
};

const HEADERS: readonly HeaderName[] = ["CacheControl", "ETag", "Vary", "AllowOrigin", "ResourcePolicy"];
const LIMITED =
  "Made anew at most every 5 seconds, never by a call to the game API. An address has 60 requests a minute for all public statuses together, apart from the limits of API keys. A slug that does not exist and a status that is not public are the same: 404.";
const HOUR = { at: 1_794_718_800_000, known: 1, min: 18, avg: 22.4, max: 27 } as const;

const STATUS_EXAMPLE: StatusResource = {
  name: "Cedar County",
  state: "online",
  players: 23,
  max_players: 40,
  queue: 2,
  join_key: null,
  read_at: 1_794_722_320_863,
  age_seconds: 2,
  history: [HOUR],
  outages: [{ state: "unreachable", from: 1_794_700_000_000, to: 1_794_700_300_000 }],
};

const BADGE_EXAMPLE: StatusBadge = {
  schemaVersion: 1,
  label: "Cedar County",
  message: "23/40 online",
  color: "brightgreen",
  cacheSeconds: 300,
};

function describe(
  id: string,
  summary: string,
  answer: Answer,
  description = LIMITED,
  more: { readonly headers?: readonly HeaderName[]; readonly errors?: Operation["errors"] } = {},
): Operation {
  const headers = [...HEADERS, ...(more.headers ?? [])];
  return {
    id,
    tag: "Public status",
    summary,
    description,
    security: [],
    parameters: [SLUG, IF_NONE_MATCH],
    answers: {
      200: { ...answer, headers },
      304: { description: "Nothing has changed since the answer with the `ETag` that you sent.", headers },
    },
    errors: ["addressLimited", "notFound", "internal", "unavailable", ...(more.errors ?? [])],
  };
}

export const STATUS_OPERATIONS: Operations = {
  "GET /status/:slug.json": describe(
    "readStatus",
    "How is the server?",
    {
      description: "What everybody may know. It names no player.",
      schema: StatusResource,
      examples: { online: { summary: "An online server", value: STATUS_EXAMPLE } },
    },
    `The same as a page for people is at \`/status/{slug}\`. ${LIMITED}`,
  ),
  "GET /status/:slug/badge.svg": describe(
    "readStatusBadge",
    "A badge",
    {
      description: "A small picture with the name of the server and how many play.",
      mediaType: "image/svg+xml",
      schema: Type.String(),
      examples: {},
    },
    LIMITED,
    { headers: ["SecurityPolicy"] },
  ),
  "GET /status/:slug/badge.json": describe("readShieldsBadge", "A badge for shields.io", {
    description: "What shields.io reads from an endpoint.",
    schema: StatusBadge,
    examples: { online: { summary: "An online server", value: BADGE_EXAMPLE } },
  }),
  "GET /status/:slug/feed.atom": describe(
    "readOutageFeed",
    "A feed of outages",
    {
      description: "When the server was not online in the last seven days, as Atom.",
      mediaType: "application/atom+xml",
      schema: Type.String(),
      examples: {},
    },
    `It needs the archive: without one the answer is 501 with code 5110. ${LIMITED}`,
    { errors: ["notConfigured"] },
  ),
};
