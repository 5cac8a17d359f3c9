// The operations about the map of a server: for callers, and for operators.
import Type from "typebox";
import { IMAGE_BYTES_MAX, IMAGE_SIDE_MAX, IMAGE_TYPES } from "../../core/map-image.ts";
import type { ErrorName } from "../../core/wire/error.ts";
import { GameMapResource, MapImageResource } from "../../core/wire/game-map.ts";
import { type HeaderName, LIMIT_HEADER_NAMES } from "./headers.ts";
import type { Answer, Operation } from "./operation.ts";
import { CORNER_PARAMETERS, IF_NONE_MATCH } from "./parameters.ts";

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
} as const;

const GAME_MAP = {
  cell_size: 40,
  streets: [
    {
      name: "Park Street",
      cells: [
        [100, 152, 84],
        [141, 151, 61],
      ],
    },
  ],
  postal_codes: [{ name: "218", cells: [[118, 170, 40]] }],
  image: IMAGE,
} as const;

const SAME = "Nothing has changed since the answer with the `ETag` that you sent.";
const Bytes = Type.String({ description: "The bytes of the picture" });
/** A picture is sent as it is, never compressed again. */
const IMAGE_HEADERS: readonly HeaderName[] = ["CacheControl", "ETag", "SecurityPolicy"];
const MAP_HEADERS: readonly HeaderName[] = ["CacheControl", "ETag", "Vary"];

function answersWith(headers: readonly HeaderName[], answer: Answer): Operation["answers"] {
  return { 200: { ...answer, headers }, 304: { description: SAME, headers } };
}

const MAP_ANSWER: Answer = {
  description: "The map, at most half a minute old.",
  schema: GameMapResource,
  examples: { map: { summary: "A street, a postal code and a picture", value: GAME_MAP } },
};
const IMAGE_ANSWER: Answer = {
  description: "The picture.",
  schema: Bytes,
  mediaType: IMAGE_TYPES,
  examples: {},
};

export function describeCallerMap(errors: readonly ErrorName[]): Operation {
  return {
    id: "readMap",
    tag: "Server",
    summary: "Read the map of your game server",
    description:
      "What the archive has learned from the positions of players: in which cells of a grid each street name and postal code was seen, and how often. It tells nothing about who was there or when. At most 10,000 places and 500 names of each kind. Needs the right to read Players. `HEAD` works too, and counts.",
    security: ["apiKey"],
    parameters: [IF_NONE_MATCH],
    answers: answersWith([...LIMIT_HEADER_NAMES, ...MAP_HEADERS], MAP_ANSWER),
    errors: [...errors, "sectionForbidden", "notConfigured"],
    isCounted: true,
  };
}

export function describeCallerImage(errors: readonly ErrorName[]): Operation {
  return {
    id: "readMapImage",
    tag: "Server",
    summary: "Read the picture behind the map",
    description:
      "The picture that the operator has set; `image` of the map says which part of the game it shows. Needs the right to read Players.",
    security: ["apiKey"],
    parameters: [IF_NONE_MATCH],
    answers: answersWith([...LIMIT_HEADER_NAMES, ...IMAGE_HEADERS], IMAGE_ANSWER),
    errors: [...errors, "sectionForbidden", "notFound", "notConfigured"],
    isCounted: true,
  };
}

type Rest = Pick<Operation, "description" | "body" | "parameters" | "answers" | "errors">;
type Describe = (id: string, summary: string, rest: Rest) => Operation;

/** `describe` adds what every operation of operators has. */
export function describeOperatorMaps(describe: Describe): Readonly<Record<string, Operation>> {
  return {
    "GET /admin/servers/:id/map": describe("readServerMap", "Read the map of a game server", {
      description: "What a key that may read Players gets. Counts against no key.",
      parameters: [IF_NONE_MATCH],
      answers: answersWith(MAP_HEADERS, MAP_ANSWER),
      errors: ["notFound", "notConfigured"],
    }),
    "GET /admin/servers/:id/map-image": describe("readServerMapImage", "Read the picture behind a map", {
      parameters: [IF_NONE_MATCH],
      answers: answersWith(IMAGE_HEADERS, IMAGE_ANSWER),
      errors: ["notFound", "notConfigured"],
    }),
    "PUT /admin/servers/:id/map-image": describe("setServerMapImage", "Set the picture behind a map", {
      description: `The body is the file itself: a PNG, JPEG or WebP of at most ${IMAGE_BYTES_MAX.toLocaleString("en")} bytes and ${IMAGE_SIDE_MAX.toLocaleString("en")} pixels a side. It is judged by its bytes, not by \`Content-Type\`. The whole body must arrive within a minute. It replaces the picture that there was, on all instances.`,
      parameters: CORNER_PARAMETERS,
      body: { schema: Bytes, isRequired: true, examples: {}, mediaType: IMAGE_TYPES },
      answers: {
        200: {
          description: "It was set.",
          headers: ["CacheControl"],
          schema: MapImageResource,
          examples: { image: { summary: "A map of the whole world", value: IMAGE } },
        },
      },
      errors: ["notFound", "invalidRequest", "payloadTooLarge", "unsupportedMediaType", "notConfigured"],
    }),
    "DELETE /admin/servers/:id/map-image": describe(
      "removeServerMapImage",
      "Remove the picture behind a map",
      {
        answers: { 204: { description: "It was removed.", headers: ["CacheControl"] } },
        errors: ["notFound", "notConfigured"],
      },
    ),
  };
}
