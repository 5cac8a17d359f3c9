// Draws the map. The cost of a frame is counted in calls to the canvas: one shape for each team, a label for as many as
// there is room for, nothing for what is out of sight.
import { type Scheme, teamColour } from "../../team-colours.ts";
import type { Marker } from "./markers.ts";
import type { Motion } from "./motion.ts";
import type { ScreenGrid } from "./screen-grid.ts";
import type { Size, Viewport } from "./viewport.ts";

export type Scene = {
  readonly viewport: Viewport;
  readonly size: Size;
  /** Device pixels for each pixel of the page. */
  readonly ratio: number;
  readonly motion: Motion;
  readonly scheme: Scheme;
  readonly chosen: number | undefined;
  readonly pointed: number | undefined;
};

export type Painted = { readonly markers: number; readonly labels: number };

type Palette = {
  readonly ground: string;
  readonly line: string;
  readonly axis: string;
  readonly ring: string;
  readonly text: string;
  readonly wanted: string;
  readonly focus: string;
};

const PALETTES: Readonly<Record<Scheme, Palette>> = {
  light: {
    ground: "#fbfcfd",
    line: "#e9ecef",
    axis: "#ced4da",
    ring: "#ffffff",
    text: "#212529",
    wanted: "#b02525",
    focus: "#3b5bdb",
  },
  dark: {
    ground: "#1f2125",
    line: "#2c2f34",
    axis: "#43474e",
    ring: "#17181b",
    text: "#e9ecef",
    wanted: "#ffa8a8",
    focus: "#91a7ff",
  },
};

const PLAYER_RADIUS = 6;
const CALL_RADIUS = 10;
const RING_RADIUS = 11;
const LABEL_FONT = "600 12px system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif";
const LABEL_HEIGHT = 15;
const LABEL_GAP = 10;
const LABEL_MARGIN = 2;
const LABELS_MAX = 120;
/** With more in sight, only those with something to say beyond a name have a label. */
const NAMES_MAX = 60;
const GRID_STEP_MIN_PX = 70;
const WIDTHS_KEPT_MAX = 2_000;
const CIRCLE = Math.PI * 2;

type Groups = {
  readonly of: readonly Marker[];
  readonly scheme: Scheme;
  readonly players: ReadonlyMap<string, readonly number[]>;
  readonly calls: ReadonlyMap<string, readonly number[]>;
  /** The most telling label first. */
  readonly labels: readonly number[];
};

export class Painter {
  readonly #context: CanvasRenderingContext2D;
  readonly #widths = new Map<string, number>();
  #groups: Groups | undefined;
  #screen = new Float64Array(0);
  #isSeen = new Uint8Array(0);
  /** Left, top, right and bottom of each label so far. */
  readonly #boxes = new Float64Array(LABELS_MAX * 4);
  #boxCount = 0;

  constructor(context: CanvasRenderingContext2D) {
    this.#context = context;
  }

  /** Leaves in `grid` what can be pointed at. */
  paint(scene: Scene, grid: ScreenGrid): Painted {
    const { size, ratio, scheme, motion } = scene;
    const context = this.#context;
    const palette = PALETTES[scheme];
    const groups = this.#group(motion.markers, scheme);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = palette.ground;
    context.fillRect(0, 0, size.width, size.height);
    this.#drawGrid(scene, palette);
    const seen = this.#locate(scene, grid);
    for (const [colour, indexes] of groups.calls) this.#drawCalls(colour, indexes);
    // Under the players: a name may be covered in a crowd, a player never.
    const labels = this.#drawLabels(scene, groups, palette, seen);
    context.lineWidth = 2;
    for (const [colour, indexes] of groups.players) this.#drawPlayers(colour, indexes);
    this.#drawRing(scene.pointed, palette.text);
    this.#drawRing(scene.chosen, palette.focus);
    this.#drawSpecialLabels(scene, groups, palette);
    return { markers: seen, labels };
  }

  #group(markers: readonly Marker[], scheme: Scheme): Groups {
    const kept = this.#groups;
    if (kept && kept.of === markers && kept.scheme === scheme) return kept;
    const shapes = { player: new Map<string, number[]>(), call: new Map<string, number[]>() };
    for (const [index, { kind, team }] of markers.entries()) {
      const colour = teamColour(team, scheme);
      const group = shapes[kind].get(colour);
      if (group) group.push(index);
      else shapes[kind].set(colour, [index]);
    }
    const labels = markers
      .map((marker, index) => ({ index, rank: rankOf(marker) }))
      .sort((a, b) => a.rank - b.rank || a.index - b.index)
      .map(({ index }) => index);
    this.#groups = { of: markers, scheme, players: shapes.player, calls: shapes.call, labels };
    return this.#groups;
  }

  #drawGrid({ viewport, size }: Scene, palette: Palette): void {
    const context = this.#context;
    const step = niceStep(GRID_STEP_MIN_PX / viewport.scale);
    const left = viewport.x - size.width / 2 / viewport.scale;
    const top = viewport.y - size.height / 2 / viewport.scale;
    context.lineWidth = 1;
    context.strokeStyle = palette.line;
    context.beginPath();
    for (let x = Math.ceil(left / step) * step; (x - left) * viewport.scale < size.width; x += step) {
      const at = Math.round((x - left) * viewport.scale) + 0.5;
      context.moveTo(at, 0);
      context.lineTo(at, size.height);
    }
    for (let y = Math.ceil(top / step) * step; (y - top) * viewport.scale < size.height; y += step) {
      const at = Math.round((y - top) * viewport.scale) + 0.5;
      context.moveTo(0, at);
      context.lineTo(size.width, at);
    }
    context.stroke();
    // The middle of the official map, the only place that everybody knows.
    const middleX = Math.round(-left * viewport.scale) + 0.5;
    const middleY = Math.round(-top * viewport.scale) + 0.5;
    context.strokeStyle = palette.axis;
    context.beginPath();
    context.moveTo(middleX, 0);
    context.lineTo(middleX, size.height);
    context.moveTo(0, middleY);
    context.lineTo(size.width, middleY);
    context.stroke();
  }

  /** Returns how many are in sight. */
  #locate({ viewport, size, motion }: Scene, grid: ScreenGrid): number {
    const { markers, positions } = motion;
    if (this.#isSeen.length < markers.length) {
      this.#isSeen = new Uint8Array(markers.length);
      this.#screen = new Float64Array(markers.length * 2);
    }
    grid.clear(size.width, size.height, markers.length);
    let seen = 0;
    for (let index = 0; index < markers.length; index += 1) {
      const x = ((positions[index * 2] ?? 0) - viewport.x) * viewport.scale + size.width / 2;
      const y = ((positions[index * 2 + 1] ?? 0) - viewport.y) * viewport.scale + size.height / 2;
      const isSeen =
        x > -CALL_RADIUS && y > -CALL_RADIUS && x < size.width + CALL_RADIUS && y < size.height + CALL_RADIUS;
      this.#screen[index * 2] = x;
      this.#screen[index * 2 + 1] = y;
      this.#isSeen[index] = isSeen ? 1 : 0;
      if (!isSeen) continue;
      seen += 1;
      grid.add(index, x, y);
    }
    return seen;
  }

  #drawPlayers(colour: string, indexes: readonly number[]): void {
    const context = this.#context;
    context.fillStyle = colour;
    context.beginPath();
    for (const index of indexes) {
      if (!this.#isSeen[index]) continue;
      const x = this.#screen[index * 2] ?? 0;
      const y = this.#screen[index * 2 + 1] ?? 0;
      context.moveTo(x + PLAYER_RADIUS, y);
      context.arc(x, y, PLAYER_RADIUS, 0, CIRCLE);
    }
    context.stroke();
    context.fill();
  }

  /** A diamond with a hole: another shape, not only another colour. */
  #drawCalls(colour: string, indexes: readonly number[]): void {
    const context = this.#context;
    context.fillStyle = colour;
    context.beginPath();
    for (const index of indexes) {
      if (!this.#isSeen[index]) continue;
      const x = this.#screen[index * 2] ?? 0;
      const y = this.#screen[index * 2 + 1] ?? 0;
      for (const radius of [CALL_RADIUS, CALL_RADIUS * 0.45]) {
        context.moveTo(x, y - radius);
        context.lineTo(x + radius, y);
        context.lineTo(x, y + radius);
        context.lineTo(x - radius, y);
        context.closePath();
      }
    }
    context.fill("evenodd");
  }

  #drawRing(index: number | undefined, colour: string): void {
    if (index === undefined || !this.#isSeen[index]) return;
    const context = this.#context;
    context.strokeStyle = colour;
    context.lineWidth = 2.5;
    context.beginPath();
    context.arc(this.#screen[index * 2] ?? 0, this.#screen[index * 2 + 1] ?? 0, RING_RADIUS, 0, CIRCLE);
    context.stroke();
  }

  #drawLabels(scene: Scene, groups: Groups, palette: Palette, seen: number): number {
    const context = this.#context;
    const { chosen, pointed } = scene;
    context.font = LABEL_FONT;
    context.textBaseline = "middle";
    context.textAlign = "left";
    context.lineJoin = "round";
    this.#boxCount = 0;
    const isQuiet = seen > NAMES_MAX;
    this.#drawSpecialLabels(scene, groups, palette);
    for (const index of groups.labels) {
      if (this.#boxCount === LABELS_MAX) break;
      const marker = groups.of[index];
      if (index === chosen || index === pointed || !marker) continue;
      if (isQuiet && rankOf(marker) === NAME_RANK) break;
      this.#drawLabel(groups, index, palette, scene.size.width, false);
    }
    return this.#boxCount;
  }

  /** Those that were asked for. First to take their place, last to be drawn. */
  #drawSpecialLabels(scene: Scene, groups: Groups, palette: Palette): void {
    this.#context.lineWidth = 3;
    this.#context.strokeStyle = palette.ring;
    for (const index of new Set([scene.chosen, scene.pointed])) {
      if (index !== undefined) this.#drawLabel(groups, index, palette, scene.size.width, true);
    }
  }

  /** On the right of its marker, or on the left where that is taken or beyond the edge. */
  #drawLabel(groups: Groups, index: number, palette: Palette, edge: number, isSure: boolean): void {
    const marker = groups.of[index];
    if (!marker || !this.#isSeen[index]) return;
    const stars = marker.kind === "player" && marker.stars > 0 ? ` ★${marker.stars}` : "";
    const text = marker.label;
    const textWidth = this.#measure(text);
    const width = textWidth + (stars === "" ? 0 : this.#measure(stars));
    const x = this.#screen[index * 2] ?? 0;
    const middle = this.#screen[index * 2 + 1] ?? 0;
    const fits = x + LABEL_GAP + width <= edge;
    const sides = [x + LABEL_GAP, x - LABEL_GAP - width];
    if (!fits) sides.reverse();
    const left = sides.find((side) => this.#takePlace(side, middle, width, isSure));
    if (left === undefined) return;
    const context = this.#context;
    context.strokeText(text, left, middle);
    context.fillStyle = palette.text;
    context.fillText(text, left, middle);
    if (stars === "") return;
    context.strokeText(stars, left + textWidth, middle);
    context.fillStyle = palette.wanted;
    context.fillText(stars, left + textWidth, middle);
  }

  /** No label is written over another. */
  #takePlace(x: number, middle: number, width: number, isSure: boolean): boolean {
    const boxes = this.#boxes;
    if (this.#boxCount === LABELS_MAX) return false;
    const [left, right] = [x - LABEL_MARGIN, x + width + LABEL_MARGIN];
    const [top, bottom] = [middle - LABEL_HEIGHT / 2, middle + LABEL_HEIGHT / 2];
    for (let at = 0; at < this.#boxCount * 4 && !isSure; at += 4) {
      const isApart =
        left > (boxes[at + 2] ?? 0) ||
        right < (boxes[at] ?? 0) ||
        top > (boxes[at + 3] ?? 0) ||
        bottom < (boxes[at + 1] ?? 0);
      if (!isApart) return false;
    }
    boxes.set([left, top, right, bottom], this.#boxCount * 4);
    this.#boxCount += 1;
    return true;
  }

  #measure(text: string): number {
    const known = this.#widths.get(text);
    if (known !== undefined) return known;
    if (this.#widths.size >= WIDTHS_KEPT_MAX) this.#widths.clear();
    const { width } = this.#context.measureText(text);
    this.#widths.set(text, width);
    return width;
  }
}

const NAME_RANK = 3;

function rankOf(marker: Marker): number {
  if (marker.kind === "call") return 0;
  if (marker.stars > 0) return 1;
  return marker.callsign === "" ? NAME_RANK : 2;
}

/** 1, 2 or 5 with zeros, at least as large as asked for. */
export function niceStep(atLeast: number): number {
  const power = 10 ** Math.floor(Math.log10(atLeast));
  for (const factor of [1, 2, 5]) {
    if (power * factor >= atLeast) return power * factor;
  }
  return power * 10;
}
