// The corners of a map's picture as an operator types them, and a first guess for them. Pure.
import { CORNER_MAX, type MapCorners } from "../../../core/map-image.ts";
import type { GameMapResource } from "../../../core/wire/game-map.ts";

export const CORNERS = ["left", "top", "right", "bottom"] as const;
export type Corner = (typeof CORNERS)[number];
export type CornerTexts = Readonly<Record<Corner, string>>;

/** Half the side of the official map, when one pixel of its image is one unit of the game. */
const HALF_SIDE = 1_560;

/** The middle of the official map is the origin of the game, so the guess is a square around it that shows every position. */
export function guessCorners({ streets, postal_codes: postals }: GameMapResource): MapCorners {
  let half = HALF_SIDE;
  for (const { cells } of [...streets, ...postals]) {
    for (const [x = 0, z = 0] of cells) half = Math.max(half, Math.abs(x), Math.abs(z));
  }
  const side = Math.min(Math.ceil(half / 10) * 10, CORNER_MAX);
  return { left: -side, top: -side, right: side, bottom: side };
}

export function writeCorners({ left, top, right, bottom }: MapCorners): CornerTexts {
  return { left: String(left), top: String(top), right: String(right), bottom: String(bottom) };
}

/** The corners, or the first field that is wrong and why. */
export function parseCornerTexts(
  texts: CornerTexts,
): MapCorners | { readonly field: Corner; readonly reason: "number" | "order" } {
  const values = { left: 0, top: 0, right: 0, bottom: 0 };
  for (const field of CORNERS) {
    const text = texts[field].trim().replace("−", "-");
    const value = /^-?\d{1,6}$/.test(text) ? Number(text) : Number.NaN;
    if (!(Math.abs(value) <= CORNER_MAX)) return { field, reason: "number" };
    values[field] = value;
  }
  if (values.left >= values.right) return { field: "right", reason: "order" };
  if (values.top >= values.bottom) return { field: "bottom", reason: "order" };
  return values;
}
