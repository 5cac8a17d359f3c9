// The colours of the lines in plots.

export const PLOT_COLOURS = {
  players: { light: "#3b5bdb", dark: "#91a7ff" },
  queue: { light: "#c2410c", dark: "#ffa94d" },
  staff: { light: "#862e9c", dark: "#e599f7" },
  joins: { light: "#087f5b", dark: "#38d9a9" },
  leaves: { light: "#862e9c", dark: "#e599f7" },
} as const;
