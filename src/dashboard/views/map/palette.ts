// The colours of the map, except those of the teams.
import type { Scheme } from "../../team-colours.ts";

export type Palette = {
  readonly ground: string;
  readonly line: string;
  readonly axis: string;
  readonly street: string;
  /** Names of streets and postal codes. */
  readonly place: string;
  /** Around players and texts, to set them off from what is below. */
  readonly outline: string;
  readonly text: string;
  readonly wanted: string;
  /** The ring around the selected marker. */
  readonly selected: string;
};

export const PALETTES: Readonly<Record<Scheme, Palette>> = {
  light: {
    ground: "#fbfcfd",
    line: "#e9ecef",
    axis: "#ced4da",
    street: "#dbe1e8",
    place: "#566069",
    outline: "#ffffff",
    text: "#212529",
    wanted: "#b02525",
    selected: "#3b5bdb",
  },
  dark: {
    ground: "#1f2125",
    line: "#2c2f34",
    axis: "#43474e",
    street: "#363b43",
    place: "#a9b1bb",
    outline: "#17181b",
    text: "#e9ecef",
    wanted: "#ffa8a8",
    selected: "#91a7ff",
  },
};
