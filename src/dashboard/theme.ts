// Mantine's theme with more contrast than its defaults: every text reaches 4.5 to 1 in both colour schemes.
import {
  ActionIcon,
  type CSSVariablesResolver,
  createTheme,
  DEFAULT_THEME,
  Loader,
  type MantineColorsTuple,
  Modal,
  NavLink,
  Tooltip,
} from "@mantine/core";

/** On a background of this luminance, black and white text have the same contrast, above 4.5. */
const EQUAL_CONTRAST_LUMINANCE = 0.179;

export const theme = createTheme({
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
    Loader: Loader.extend({ defaultProps: { type: "dots" } }),
    Modal: Modal.extend({ defaultProps: { centered: true } }),
    NavLink: NavLink.extend({ defaultProps: { variant: "light" } }),
    Tooltip: Tooltip.extend({ defaultProps: { events: { hover: true, focus: true, touch: false } } }),
  },
});

/** The colours of coloured text: light and subtle variants, outlines, links, hints, errors. */
export const resolveVariables: CSSVariablesResolver = () => {
  const light: Record<string, string> = {
    "--mantine-color-dimmed": "#495057",
    "--mantine-color-placeholder": "#5c636a",
    "--mantine-color-error": "var(--mantine-color-red-9)",
    "--mantine-color-anchor": "var(--mantine-color-indigo-8)",
    "--gatehouse-backdrop": "#f6f7f9",
  };
  const dark: Record<string, string> = {
    "--mantine-color-dimmed": "#b3b8bd",
    "--mantine-color-placeholder": "#9aa0a6",
    "--mantine-color-error": "var(--mantine-color-red-4)",
    "--mantine-color-anchor": "var(--mantine-color-indigo-3)",
    "--gatehouse-backdrop": "#1a1b1e",
  };
  for (const [name, shades] of Object.entries(DEFAULT_THEME.colors) as [string, MantineColorsTuple][]) {
    if (name === "dark") continue;
    light[`--mantine-color-${name}-light-color`] = darken(shades[9]);
    light[`--mantine-color-${name}-outline`] = darken(shades[9]);
    dark[`--mantine-color-${name}-light-color`] = shades[2];
    dark[`--mantine-color-${name}-outline`] = shades[3];
  }
  return { variables: {}, light, dark };
};

/** Mantine's darkest yellow and lime are too bright for text on white. */
function darken(colour: string): string {
  return `color-mix(in srgb, ${colour} 72%, black)`;
}
