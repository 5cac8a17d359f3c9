// Draws small charts as SVG for light and dark pages: horizontal bars in groups, and a line over a logarithmic axis.

const WIDTH = 760;
const LABEL_WIDTH = 240;
const VALUE_WIDTH = 70;
const BAR_HEIGHT = 18;
const GAP = 6;
/** Keeps the first point of a line off the axis. */
const INSET = 30;
const COLOURS = ["#2f81f7", "#8957e5", "#8b949e", "#d29922", "#db6d28", "#3fb950"];
const STYLE = `<style>
  text { font: 12px system-ui, sans-serif; fill: #6e7781; }
  .title { font-weight: 600; font-size: 14px; }
  .group { font-weight: 600; }
  .axis { stroke: #8b949e; stroke-width: 1; }
  .line { fill: none; stroke: ${COLOURS[0]}; stroke-width: 2; }
  @media (prefers-color-scheme: dark) { text { fill: #c9d1d9; } }
</style>`;

export type Bar = { readonly label: string; readonly value: number; readonly colour: number };
export type BarGroup = { readonly title: string; readonly bars: readonly Bar[] };

export function drawBars(title: string, groups: readonly BarGroup[], format: (value: number) => string): string {
  const values = groups.flatMap(({ bars }) => bars.map(({ value }) => value)).filter(Number.isFinite);
  const scale = (WIDTH - LABEL_WIDTH - VALUE_WIDTH) / Math.max(...values, Number.MIN_VALUE);
  const parts: string[] = [];
  let y = 44;
  for (const group of groups) {
    parts.push(`<text class="group" x="0" y="${y}">${escapeXml(group.title)}</text>`);
    y += 10;
    for (const { label, value, colour } of group.bars) {
      const length = Number.isFinite(value) ? Math.max(1, value * scale) : 0;
      const middle = y + BAR_HEIGHT - 5;
      parts.push(
        `<text x="${LABEL_WIDTH - 8}" y="${middle}" text-anchor="end">${escapeXml(label)}</text>`,
        `<rect x="${LABEL_WIDTH}" y="${y}" width="${length.toFixed(1)}" height="${BAR_HEIGHT}" rx="3" fill="${colourOf(colour)}"/>`,
        `<text x="${(LABEL_WIDTH + length + 6).toFixed(1)}" y="${middle}">${escapeXml(format(value))}</text>`,
      );
      y += BAR_HEIGHT + GAP;
    }
    y += 22;
  }
  return wrap(title, y - 22, parts);
}

export type Point = { readonly x: number; readonly y: number };

/** `x` must be above 0; the y axis begins at 0. */
export function drawLine(
  title: string,
  points: readonly Point[],
  names: { readonly x: string; readonly y: string },
): string {
  const [left, right, top, bottom] = [60, WIDTH - 40, 50, 240];
  const xs = points.map(({ x }) => Math.log10(x));
  const [from, to] = [Math.min(...xs), Math.max(...xs)];
  const yMax = Math.max(...points.map(({ y }) => y), 1) * 1.25;
  const place = ({ x, y }: Point) => ({
    x: left + INSET + ((Math.log10(x) - from) / (to - from || 1)) * (right - left - INSET),
    y: bottom - (y / yMax) * (bottom - top),
  });
  const placed = points.map((point) => ({ ...point, at: place(point) }));
  const parts = [
    `<path class="axis" d="M${left} ${top}V${bottom}H${right}" fill="none"/>`,
    `<text x="${left}" y="${top - 8}">${escapeXml(names.y)}</text>`,
    `<text x="${right}" y="${bottom + 36}" text-anchor="end">${escapeXml(names.x)}</text>`,
    `<polyline class="line" points="${placed.map(({ at }) => `${at.x.toFixed(1)},${at.y.toFixed(1)}`).join(" ")}"/>`,
    ...placed.flatMap(({ x, y, at }) => [
      `<circle cx="${at.x.toFixed(1)}" cy="${at.y.toFixed(1)}" r="4" fill="${COLOURS[0]}"/>`,
      `<text x="${at.x.toFixed(1)}" y="${(at.y - 10).toFixed(1)}" text-anchor="middle">${y}</text>`,
      `<text x="${at.x.toFixed(1)}" y="${bottom + 18}" text-anchor="middle">${x.toLocaleString("en")}</text>`,
    ]),
  ];
  return wrap(title, bottom + 46, parts);
}

function wrap(title: string, height: number, parts: readonly string[]): string {
  const name = escapeXml(title);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="${name}">`,
    STYLE,
    `<text class="title" x="0" y="16">${name}</text>`,
    ...parts,
    "</svg>\n",
  ].join("\n");
}

function colourOf(index: number): string {
  return COLOURS[index % COLOURS.length] ?? "#8b949e";
}

function escapeXml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
