// The map of a game server: what was learned from positions, and the picture behind it.
import Type from "typebox";
import { IMAGE_TYPES } from "../maps/map-image.ts";
import { orNull, type Static, time } from "./values.ts";

const corner = (what: string) =>
  Type.Integer({ description: `The game's ${what} of the picture's edge, in units of the game` });

export const MapImageResource = Type.Object({
  type: Type.Enum([...IMAGE_TYPES], { description: "What the bytes are" }),
  width: Type.Integer({ minimum: 1, description: "In pixels" }),
  height: Type.Integer({ minimum: 1, description: "In pixels" }),
  bytes: Type.Integer({ minimum: 1 }),
  left: corner("X at the left"),
  top: corner("Z at the top"),
  right: corner("X at the right"),
  bottom: corner("Z at the bottom"),
  set_at: time("When it was set"),
  etag: Type.String({ description: "The `ETag` of the picture; it changes with the bytes" }),
});
export type MapImageResource = Static<typeof MapImageResource>;

const SeenName = Type.Object({
  name: Type.String({ description: "As the game writes it; untrusted text" }),
  cells: Type.Array(Type.Array(Type.Integer(), { minItems: 3, maxItems: 3 }), {
    description:
      "One entry for each cell of the grid in which the name was seen: the mean X and Z of the positions there, and how many there were",
  }),
});

export const GameMapResource = Type.Object({
  cell_size: Type.Integer({ minimum: 1, description: "The side of a cell of the grid, in units of the game" }),
  streets: Type.Array(SeenName, { description: "Most seen first" }),
  postal_codes: Type.Array(SeenName, { description: "Most seen first" }),
  image: orNull(MapImageResource, "The picture that the operator has set; null when there is none"),
});
export type GameMapResource = Static<typeof GameMapResource>;
