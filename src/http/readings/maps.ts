// The map of a server: what was learned of it, and the picture behind it. For callers whose key may read Players with their
// Location, and for operators, who also set and remove the picture.
import { createHash } from "node:crypto";
import Type from "typebox";
import { ERRORS, isRefusal, NOT_FOUND, type Refusal, refuse, refuseField } from "../../core/errors.ts";
import {
  CORNER_MAX,
  IMAGE_BYTES_MAX,
  IMAGE_SIDE_MAX,
  IMAGE_TYPES,
  type ImageHeader,
  type MapCorners,
  readImageHeader,
} from "../../core/maps/map-image.ts";
import { GameMapResource, MapImageResource } from "../../core/wire/game-map.ts";
import { describeMapImage, type ServerMaps } from "../../gateway/maps/server-maps.ts";
import { answerDone, answerJson, answerLateRefusal, answerRefusal, NOT_CONFIGURED, respond } from "../answers.ts";
import type { Call } from "../call.ts";
import {
  type ArchiveReader,
  type ArchiveReaderParts,
  findOperatorReader,
  toArchiveReader,
} from "../events/archive-reader.ts";
import type { HeaderName } from "../openapi/headers.ts";
import { type Answer, type Definition, showsEach, UNCHANGED } from "../operation.ts";
import { type BodyLimits, readBody } from "../requests/body-bytes.ts";
import { IF_NONE_MATCH } from "../requests/parameters.ts";
import { pathIdOf } from "../requests/parse-request.ts";
import { type Faults, queryOf, readFields, refuseFaults, wholeNumber } from "../requests/query-fields.ts";
import { isMatchingEtag } from "../sending/conditional.ts";
import { findGzipped, TOO_MUCH_UNSENT, toPayload } from "../sending/send-body.ts";
import type { UnsentAnswers } from "../sending/unsent-answers.ts";
import { type CallerOperation, READING_MAP } from "../steps/caller-steps.ts";
import type { OperatorOperation } from "../steps/operator-step.ts";

type Deps = { readonly maps: MapDeps };

/** Only after the right was checked. */
const IMAGE_LIMITS: BodyLimits = { bytesMax: IMAGE_BYTES_MAX, deadlineMs: 60_000 };
/** For both kinds of answers: each reader asks again, with the ETag. */
const REVALIDATED = "private, no-cache";
/** A picture that is opened as a page of its own loads and runs nothing. */
const IMAGE_POLICY = "default-src 'none'; sandbox";

export type MapDeps = ArchiveReaderParts & {
  /** Undefined without an archive. */
  readonly maps: ServerMaps | undefined;
  readonly unsent: Pick<UnsentAnswers, "add">;
};

type Payload = { readonly bytes: Uint8Array<ArrayBuffer>; readonly etag: string; readonly headers: Headers };

const IMAGE = {
  type: "image/png",
  width: 3121,
  height: 3121,
  bytes: 1_830_221,
  left: -1560,
  top: -1560,
  right: 1560,
  bottom: 1560,
  set_at: 1_794_722_345_000,
  etag: '"6f1ed002ab5595859014ebf0951522d9"',
};
const PARK_STREET = [
  [100, 152, 84],
  [141, 151, 61],
];
const GAME_MAP = {
  cell_size: 40,
  streets: [{ name: "Park Street", cells: PARK_STREET }],
  postal_codes: [{ name: "218", cells: [[118, 170, 40]] }],
  image: IMAGE,
};

const Bytes = Type.String({ description: "The bytes of the picture" });

function answersWith(headers: readonly HeaderName[], answer: Answer): Definition["answers"] {
  return { 200: { ...answer, headers }, 304: { description: UNCHANGED, headers } };
}

const MAP_ANSWERS = answersWith(["CacheControl", "ETag", "Vary"], {
  description: "The map, at most half a minute old.",
  schema: GameMapResource,
  examples: { map: { summary: "A street, a postal code and a picture", value: GAME_MAP } },
});
/** A picture is sent as it is, never compressed again. */
const IMAGE_ANSWERS = answersWith(["CacheControl", "ETag", "SecurityPolicy"], {
  description: "The picture.",
  schema: Bytes,
  mediaType: IMAGE_TYPES,
  examples: {},
});

function corner(description: string, example: number) {
  const field = wholeNumber(-CORNER_MAX, CORNER_MAX, { description, example });
  return { ...field, fault: `${field.fault}, once` };
}

const CORNER_FIELDS = {
  left: corner("The game's X at the left edge of the picture.", -1560),
  top: corner("The game's Z at the top edge. Z grows downwards.", -1560),
  right: corner("The game's X at the right edge; more than `left`.", 1560),
  bottom: corner("The game's Z at the bottom edge; more than `top`.", 1560),
};

export const readMap: CallerOperation<Deps> = {
  id: "readMap",
  tag: "Server",
  summary: "Read the map of your game server",
  description:
    "What the archive has learned from the positions of players: in which cells of a grid each street name and postal code was seen, and how often. It tells nothing about who was there or when. At most 10,000 places and 500 names of each kind. Needs the right to read Players with their Location. `HEAD` works too, and counts.",
  parameters: [IF_NONE_MATCH],
  answers: MAP_ANSWERS,
  errors: ["notConfigured"],
  answer: ({ maps }, call, caller) =>
    answerReader(maps, call, toArchiveReader(maps, call, READING_MAP, caller), readMapBody),
};

export const readMapImage: CallerOperation<Deps> = {
  id: "readMapImage",
  tag: "Server",
  summary: "Read the picture behind the map",
  description:
    "The picture that the operator has set; `image` of the map says which part of the game it shows. Needs the right to read Players with their Location.",
  parameters: [IF_NONE_MATCH],
  answers: IMAGE_ANSWERS,
  errors: ["notFound", "notConfigured"],
  answer: ({ maps }, call, caller) =>
    answerReader(maps, call, toArchiveReader(maps, call, READING_MAP, caller), readImage),
};

export const serverMapOperations = {
  read: {
    id: "readServerMap",
    tag: "Game servers",
    summary: "Read the map of a game server",
    description: "What a key that may read Players gets. Counts against no key.",
    parameters: [IF_NONE_MATCH],
    answers: MAP_ANSWERS,
    errors: ["notFound", "notConfigured"],
    answer: ({ maps }, call, caller) => answerReader(maps, call, findOperatorReader(maps, call, caller), readMapBody),
  },

  readImage: {
    id: "readServerMapImage",
    tag: "Game servers",
    summary: "Read the picture behind a map",
    parameters: [IF_NONE_MATCH],
    answers: IMAGE_ANSWERS,
    errors: ["notFound", "notConfigured"],
    answer: ({ maps }, call, caller) => answerReader(maps, call, findOperatorReader(maps, call, caller), readImage),
  },

  setImage: {
    id: "setServerMapImage",
    tag: "Game servers",
    summary: "Set the picture behind a map",
    description: `The body is the file itself: a PNG, JPEG or WebP of at most ${IMAGE_BYTES_MAX.toLocaleString("en")} bytes and ${IMAGE_SIDE_MAX.toLocaleString("en")} pixels a side. It is judged by its bytes, not by \`Content-Type\`. The whole body must arrive within a minute. It replaces the picture that there was, on all instances.`,
    query: CORNER_FIELDS,
    body: { schema: Bytes, isRequired: true, examples: {}, mediaType: IMAGE_TYPES },
    answers: {
      200: showsEach("It was set.", MapImageResource, { image: ["A map of the whole world", IMAGE] }),
    },
    errors: ["notFound", "invalidRequest", "payloadTooLarge", "unsupportedMediaType", "notConfigured"],
    async answer({ maps: { maps, servers, clock } }, call, { actor, recheck }) {
      const serverId = pathIdOf(call);
      if (!servers.find(serverId)) return answerRefusal(call, NOT_FOUND);
      if (!maps) return answerRefusal(call, NOT_CONFIGURED);
      const corners = parseCorners(queryOf(call));
      if (isRefusal(corners)) return answerRefusal(call, corners);
      const content = await readBody(call, IMAGE_LIMITS);
      if (isRefusal(content)) return answerRefusal(call, content);
      const header = parseImage(call, content);
      if (isRefusal(header)) return answerRefusal(call, header);
      // While the body arrived, the right may have ended or the server may have been deleted.
      const authority = await recheck();
      if (isRefusal(authority)) return answerRefusal(call, authority);
      if (!servers.find(serverId)) return answerRefusal(call, NOT_FOUND);
      const hash = createHash("sha256").update(content).digest("hex").slice(0, 32);
      const image = { ...header, ...corners, hash, bytes: content.length, setAt: clock(), content };
      await maps.setImage(serverId, image, actor);
      return answerJson(describeMapImage(image));
    },
  },

  removeImage: {
    id: "removeServerMapImage",
    tag: "Game servers",
    summary: "Remove the picture behind a map",
    answers: { 204: { description: "It was removed." } },
    errors: ["notFound", "notConfigured"],
    async answer({ maps: { maps, servers } }, call, { actor }) {
      const serverId = pathIdOf(call);
      if (!servers.find(serverId)) return answerRefusal(call, NOT_FOUND);
      if (!maps) return answerRefusal(call, NOT_CONFIGURED);
      return (await maps.removeImage(serverId, actor, call.now)) ? answerDone() : answerRefusal(call, NOT_FOUND);
    },
  },
} satisfies Record<string, OperatorOperation<Deps>>;

async function answerReader(
  { maps, unsent }: MapDeps,
  call: Call,
  reader: ArchiveReader | Refusal,
  read: (call: Call, maps: ServerMaps, serverId: string) => Promise<Payload | Refusal>,
): Promise<Response> {
  if (isRefusal(reader)) return answerRefusal(call, reader);
  const { keyId, report } = reader;
  if (!maps) return answerRefusal(call, NOT_CONFIGURED, report);
  const content = await read(call, maps, reader.serverId);
  // The key may have changed while the archive was read.
  const rights = await reader.recheck();
  if (isRefusal(rights)) return answerLateRefusal(call, rights, report);
  if (isRefusal(content)) return answerRefusal(call, content, report);
  const { bytes, etag, headers } = content;
  const isKnown = isMatchingEtag(call.request.headers.get("if-none-match"), etag);
  const payload = isKnown ? null : toPayload(call, bytes, keyId ?? "", unsent);
  if (payload === undefined) return answerRefusal(call, TOO_MUCH_UNSENT, report);
  const response = respond(payload, isKnown ? 304 : 200, report);
  for (const [name, value] of headers) {
    if (!isKnown || name !== "content-encoding") response.headers.set(name, value);
  }
  response.headers.set("Cache-Control", REVALIDATED);
  response.headers.set("ETag", etag);
  return response;
}

async function readMapBody(call: Call, maps: ServerMaps, serverId: string): Promise<Payload> {
  const body = await maps.read(serverId, call.now);
  const gzipped = findGzipped(call.request.headers, body);
  const headers = new Headers({ Vary: "Accept-Encoding" });
  if (gzipped) headers.set("Content-Encoding", "gzip");
  return { bytes: gzipped ?? body.bytes, etag: body.etag, headers };
}

async function readImage(_: Call, maps: ServerMaps, serverId: string): Promise<Payload | Refusal> {
  const image = await maps.readImage(serverId);
  if (!image) return NOT_FOUND;
  return {
    bytes: image.content as Uint8Array<ArrayBuffer>,
    etag: `"${image.hash}"`,
    headers: new Headers({ "Content-Type": image.type, "Content-Security-Policy": IMAGE_POLICY }),
  };
}

/** The places of the game that the edges of the picture show. Every wrong one is named. */
function parseCorners(query: URLSearchParams): MapCorners | Refusal {
  const faults: Faults = {};
  const none = Number.NaN;
  const { left = none, top = none, right = none, bottom = none } = readFields(CORNER_FIELDS, query, faults);
  for (const [name, { fault }] of Object.entries(CORNER_FIELDS)) if (!query.has(name)) faults[name] = fault;
  if (left >= right) faults.right = "must be more than left";
  if (top >= bottom) faults.bottom = "must be more than top";
  return refuseFaults(faults) ?? { left, top, right, bottom };
}

/** By its bytes: what the request calls it does not matter. */
function parseImage(call: Call, content: Uint8Array): ImageHeader | Refusal {
  const encoding = call.request.headers.get("content-encoding") ?? "identity";
  const header = encoding.trim().toLowerCase() === "identity" ? readImageHeader(content) : undefined;
  if (!header) return refuse(ERRORS.unsupportedMediaType);
  if (header.width > IMAGE_SIDE_MAX || header.height > IMAGE_SIDE_MAX)
    return refuseField("body", `must be a picture of at most ${IMAGE_SIDE_MAX} pixels a side`);
  return header;
}
