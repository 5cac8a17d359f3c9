// The colours of the map, except those of the teams.
import type { Scheme } from "../../team-colours.ts";

export type Palette = (typeof PALETTES)[Scheme];

/** `outline` is around players and texts, to set them off from what is below. */
export const PALETTES = {
  light: {
    ground: "#fbfcfd",
    line: "#e9ecef",
    axis: "#ced4da",
    street: "#dbe1e8",
    place: "#566069",
    outline: "#ffffff",
    text: "#212529",
    wanted: "#b02525",
    calling: "#c2410c",
    kill: "#b02525",
    selected: "#3b5bdb",
  },
  dark: {
    ground: "#181d24",
    line: "#242a33",
    axis: "#3a424e",
    street: "#323a46",
    place: "#a9b1bb",
    outline: "#101318",
    text: "#e9ecef",
    wanted: "#ffa8a8",
    calling: "#ff922b",
    kill: "#ff8787",
    selected: "#91a7ff",
  },
} as const satisfies Record<Scheme, object>;
