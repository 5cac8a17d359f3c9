// Mantine's theme with more contrast than its defaults: every text reaches 4.5 to 1 in both colour schemes.
import {
  ActionIcon,
  Badge,
  type CSSVariablesResolver,
  createTheme,
  DEFAULT_THEME,
  Loader,
  type MantineColorsTuple,
  Modal,
  NavLink,
  Tooltip,
} from "@mantine/core";

/** Text, borders and backgrounds of the dark scheme: one hue, from the text to the deepest background. */
const DARK: MantineColorsTuple = [
  "#e6e8ec",
  "#c5cad2",
  "#9aa2ae",
  "#6f7885",
  "#434b57",
  "#353c47",
  "#2a303a",
  "#1c2129",
  "#161a20",
  "#101318",
];

/** White text on the eighth, which buttons have, reaches 5.5 to 1. */
const RED = [...DEFAULT_THEME.colors.red.slice(0, 8), "#c92a2a", "#a61e1e"] as unknown as MantineColorsTuple;

/** On a background of this luminance, black and white text have the same contrast, above 4.5. */
const EQUAL_CONTRAST_LUMINANCE = 0.179;

export const theme = createTheme({
  colors: { dark: DARK, red: RED },
  primaryColor: "indigo",
  primaryShade: { light: 8, dark: 8 },
  autoContrast: true,
  luminanceThreshold: EQUAL_CONTRAST_LUMINANCE,
  defaultRadius: "md",
  cursorType: "pointer",
  respectReducedMotion: true,
  fontFamily: "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif",
  fontFamilyMonospace: "ui-monospace, 'SF Mono', 'Cascadia Mono', 'DejaVu Sans Mono', monospace",
  headings: { fontWeight: "650" },
  components: {
    ActionIcon: ActionIcon.extend({ defaultProps: { variant: "subtle", color: "gray", size: "lg" } }),
    Badge: Badge.extend({ defaultProps: { variant: "light", tt: "none" } }),
    Loader: Loader.extend({ defaultProps: { type: "dots" } }),
    Modal: Modal.extend({ defaultProps: { centered: true } }),
    NavLink: NavLink.extend({ defaultProps: { variant: "light" } }),
    Tooltip: Tooltip.extend({ defaultProps: { events: { hover: true, focus: true, touch: false } } }),
  },
});

/** Buttons and links have the colour of the open server; page.css makes it from the server's hue. */
const ACCENT: Readonly<Record<string, string>> = {
  "--mantine-color-anchor": "var(--accent-text)",
  "--mantine-color-indigo-filled": "var(--accent)",
  "--mantine-color-indigo-filled-hover": "var(--accent-hover)",
  "--mantine-color-indigo-light": "var(--accent-soft)",
  "--mantine-color-indigo-light-hover": "var(--accent-soft-hover)",
  "--mantine-color-indigo-light-color": "var(--accent-text)",
  "--mantine-color-indigo-outline": "var(--accent-text)",
};

/** The colours of coloured text: light and subtle variants, outlines, links, hints, errors. */
export const resolveVariables: CSSVariablesResolver = () => {
  const light: Record<string, string> = {
    "--mantine-color-dimmed": "#495057",
    "--mantine-color-placeholder": "#5c636a",
    "--mantine-color-error": "var(--mantine-color-red-9)",
    "--gatehouse-backdrop": "#f6f7f9",
  };
  const dark: Record<string, string> = {
    "--mantine-color-text": DARK[0],
    "--mantine-color-dimmed": "#a9b0bb",
    "--mantine-color-placeholder": DARK[2],
    "--mantine-color-error": "var(--mantine-color-red-4)",
    "--gatehouse-backdrop": "#13171c",
  };
  for (const [name, shades] of Object.entries(DEFAULT_THEME.colors) as [string, MantineColorsTuple][]) {
    if (name === "dark") continue;
    light[`--mantine-color-${name}-light-color`] = darken(shades[9]);
    light[`--mantine-color-${name}-outline`] = darken(shades[9]);
    dark[`--mantine-color-${name}-light`] = tint(shades[5], 18);
    dark[`--mantine-color-${name}-light-hover`] = tint(shades[5], 26);
    dark[`--mantine-color-${name}-light-color`] = shades[2];
    dark[`--mantine-color-${name}-outline`] = shades[3];
  }
  Object.assign(light, ACCENT);
  Object.assign(dark, ACCENT);
  return { variables: {}, light, dark };
};

/** A little of a colour on the dark scheme's own background. */
function tint(colour: string, percent: number): string {
  return `color-mix(in srgb, ${colour} ${percent}%, ${DARK[7]})`;
}

/** Mantine's darkest yellow and lime are too bright for text on white. */
function darken(colour: string): string {
  return `color-mix(in srgb, ${colour} 72%, black)`;
}
