// Draws the map with few calls to the canvas: one shape per team, labels only where there is room, nothing for markers
// outside of the screen.
import { type Scheme, teamColour } from "../../team-colours.ts";
import type { Ground } from "./ground.ts";
import { GroundLabels } from "./ground-labels.ts";
import type { Backdrop, GroundLayer } from "./ground-layer.ts";
import { type Box, LabelLayout, listChosenPlaces } from "./label-layout.ts";
import type { Marker } from "./markers.ts";
import type { Motion } from "./motion.ts";
import { PALETTES, type Palette } from "./palette.ts";
import type { ScreenGrid } from "./screen-grid.ts";
import type { Size, Viewport } from "./viewport.ts";

export type Scene = {
  readonly viewport: Viewport;
  readonly size: Size;
  /** Device pixels per CSS pixel. */
  readonly ratio: number;
  readonly motion: Motion;
  readonly scheme: Scheme;
  /** Index of the selected marker. */
  readonly selected: number | undefined;
  /** Index of the hovered or highlighted marker. */
  readonly hovered: number | undefined;
  /** The parts of the canvas that lie under buttons and notices. */
  readonly covered: readonly Box[];
  readonly ground: Ground;
  readonly backdrop: Backdrop | undefined;
};

/** How many markers and labels of markers were drawn. `isRough`: another frame would draw the ground sharp. */
export type Painted = { readonly markers: number; readonly labels: number; readonly isRough: boolean };

const PLAYER_RADIUS = 6;
const CALL_RADIUS = 10;
const RING_RADIUS = 11;
const LABEL_FONT = "600 12px system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif";
const LABEL_GAP = 10;
/** The most labels of markers. */
export const MARKER_LABELS_MAX = 120;
/** With more visible markers, those without a callsign and stars have no label. */
const NAMES_MAX = 60;
const GRID_STEP_MIN_PX = 70;
const CACHED_WIDTHS_MAX = 2_000;
const CIRCLE = Math.PI * 2;

type PlacedLabel = { readonly index: number; readonly left: number; readonly middle: number };

type Groups = {
  readonly of: readonly Marker[];
  readonly scheme: Scheme;
  readonly players: ReadonlyMap<string, readonly number[]>;
  readonly calls: ReadonlyMap<string, readonly number[]>;
  /** The most important label first. */
  readonly labels: readonly number[];
};

export class Painter {
  readonly #context: CanvasRenderingContext2D;
  readonly #groundLayer: Pick<GroundLayer, "draw">;
  readonly #groundLabels = new GroundLabels();
  readonly #widths = new Map<string, number>();
  #groups: Groups | undefined;
  #screen = new Float64Array(0);
  #isVisible = new Uint8Array(0);
  readonly #labels = new LabelLayout();
  /** The labels of the selected and the hovered marker. */
  #chosen: readonly PlacedLabel[] = [];

  constructor(context: CanvasRenderingContext2D, groundLayer: Pick<GroundLayer, "draw">) {
    this.#context = context;
    this.#groundLayer = groundLayer;
  }

  /** Draws a frame and fills `grid` with the visible markers. */
  paint(scene: Scene, grid: ScreenGrid): Painted {
    const { size, ratio, scheme, motion } = scene;
    const context = this.#context;
    const palette = PALETTES[scheme];
    const groups = this.#groupMarkers(motion.markers, scheme);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = palette.ground;
    context.fillRect(0, 0, size.width, size.height);
    this.#drawGrid(scene, palette);
    const isRough = this.#groundLayer.draw(context, scene);
    const visible = this.#locateMarkers(scene, grid);
    for (const [colour, indexes] of groups.calls) this.#drawCalls(colour, indexes);
    // Labels are drawn below the players, so that no label covers a player.
    const labels = this.#drawLabels(scene, groups, palette, visible);
    this.#groundLabels.draw(context, this.#labels, scene, palette);
    setLabelStyle(context);
    context.lineWidth = 2;
    context.strokeStyle = palette.outline;
    for (const [colour, indexes] of groups.players) this.#drawPlayers(colour, indexes);
    this.#drawRing(scene.hovered, palette.text);
    this.#drawRing(scene.selected, palette.selected);
    this.#drawChosenLabels(groups, palette);
    return { markers: visible, labels, isRough };
  }

  #groupMarkers(markers: readonly Marker[], scheme: Scheme): Groups {
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
    const step = findRoundStep(GRID_STEP_MIN_PX / viewport.scale);
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
    // The axes cross in the middle of the official map.
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

  /** Computes the place of each marker on the screen. Returns how many are visible. */
  #locateMarkers({ viewport, size, motion }: Scene, grid: ScreenGrid): number {
    const { markers, positions } = motion;
    if (this.#isVisible.length < markers.length) {
      this.#isVisible = new Uint8Array(markers.length);
      this.#screen = new Float64Array(markers.length * 2);
    }
    grid.clear(size.width, size.height, markers.length);
    let visible = 0;
    for (let index = 0; index < markers.length; index += 1) {
      const x = ((positions[index * 2] ?? 0) - viewport.x) * viewport.scale + size.width / 2;
      const y = ((positions[index * 2 + 1] ?? 0) - viewport.y) * viewport.scale + size.height / 2;
      const isVisible =
        x > -CALL_RADIUS && y > -CALL_RADIUS && x < size.width + CALL_RADIUS && y < size.height + CALL_RADIUS;
      this.#screen[index * 2] = x;
      this.#screen[index * 2 + 1] = y;
      this.#isVisible[index] = isVisible ? 1 : 0;
      if (!isVisible) continue;
      visible += 1;
      grid.add(index, x, y);
    }
    return visible;
  }

  #drawPlayers(colour: string, indexes: readonly number[]): void {
    const context = this.#context;
    context.fillStyle = colour;
    context.beginPath();
    for (const index of indexes) {
      if (!this.#isVisible[index]) continue;
      const x = this.#screen[index * 2] ?? 0;
      const y = this.#screen[index * 2 + 1] ?? 0;
      context.moveTo(x + PLAYER_RADIUS, y);
      context.arc(x, y, PLAYER_RADIUS, 0, CIRCLE);
    }
    context.stroke();
    context.fill();
  }

  /** A diamond with a hole, so that calls differ from players by shape and not only by colour. */
  #drawCalls(colour: string, indexes: readonly number[]): void {
    const context = this.#context;
    context.fillStyle = colour;
    context.beginPath();
    for (const index of indexes) {
      if (!this.#isVisible[index]) continue;
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
    if (index === undefined || !this.#isVisible[index]) return;
    const context = this.#context;
    context.strokeStyle = colour;
    context.lineWidth = 2.5;
    context.beginPath();
    context.arc(this.#screen[index * 2] ?? 0, this.#screen[index * 2 + 1] ?? 0, RING_RADIUS, 0, CIRCLE);
    context.stroke();
  }

  #drawLabels(scene: Scene, groups: Groups, palette: Palette, visible: number): number {
    const context = this.#context;
    const { selected, hovered } = scene;
    setLabelStyle(context);
    context.textBaseline = "middle";
    context.lineJoin = "round";
    this.#labels.clear(scene.size, scene.covered);
    const isCrowded = visible > NAMES_MAX;
    this.#chosen = this.#placeChosenLabels(scene, groups);
    this.#drawChosenLabels(groups, palette);
    for (const index of groups.labels) {
      if (this.#labels.count >= MARKER_LABELS_MAX) break;
      const marker = groups.of[index];
      if (index === selected || index === hovered || !marker) continue;
      if (isCrowded && rankOf(marker) === NAME_RANK) break;
      const left = this.#findPlace(marker, index, scene.size.width);
      if (left !== undefined) this.#drawLabel(marker, palette, left, this.#screen[index * 2 + 1] ?? 0);
    }
    return this.#labels.count;
  }

  /** They take their places first, and are left out only when all of them are taken or under a button. */
  #placeChosenLabels({ selected, hovered, size, covered }: Scene, groups: Groups): PlacedLabel[] {
    return Array.from(new Set([selected, hovered])).flatMap((index) => {
      const marker = index === undefined ? undefined : groups.of[index];
      if (index === undefined || !marker || !this.#isVisible[index]) return [];
      const at = { x: this.#screen[index * 2] ?? 0, y: this.#screen[index * 2 + 1] ?? 0 };
      const width = this.#measureLabel(marker);
      const place = listChosenPlaces(at, width, LABEL_GAP, size, covered).find(({ left, middle }) =>
        this.#labels.reserve(left, middle, width),
      );
      return place ? [{ index, ...place }] : [];
    });
  }

  /** Drawn twice: below the players with all labels, and again over them. */
  #drawChosenLabels(groups: Groups, palette: Palette): void {
    this.#context.lineWidth = 3;
    this.#context.strokeStyle = palette.outline;
    for (const { index, left, middle } of this.#chosen) {
      const marker = groups.of[index];
      if (marker) this.#drawLabel(marker, palette, left, middle);
    }
  }

  /** On the right of the marker, or on the left when the right side is taken or too narrow. */
  #findPlace(marker: Marker, index: number, edge: number): number | undefined {
    if (!this.#isVisible[index]) return undefined;
    const width = this.#measureLabel(marker);
    const x = this.#screen[index * 2] ?? 0;
    const middle = this.#screen[index * 2 + 1] ?? 0;
    const sides = [x + LABEL_GAP, x - LABEL_GAP - width];
    if (x + LABEL_GAP + width > edge) sides.reverse();
    return sides.find((side) => this.#labels.reserve(side, middle, width));
  }

  #drawLabel(marker: Marker, palette: Palette, left: number, middle: number): void {
    const context = this.#context;
    const text = marker.label;
    context.strokeText(text, left, middle);
    context.fillStyle = palette.text;
    context.fillText(text, left, middle);
    const stars = starsOf(marker);
    if (stars === "") return;
    const textWidth = this.#measure(text);
    context.strokeText(stars, left + textWidth, middle);
    context.fillStyle = palette.wanted;
    context.fillText(stars, left + textWidth, middle);
  }

  #measureLabel(marker: Marker): number {
    const stars = starsOf(marker);
    return this.#measure(marker.label) + (stars === "" ? 0 : this.#measure(stars));
  }

  #measure(text: string): number {
    const known = this.#widths.get(text);
    if (known !== undefined) return known;
    if (this.#widths.size >= CACHED_WIDTHS_MAX) this.#widths.clear();
    const { width } = this.#context.measureText(text);
    this.#widths.set(text, width);
    return width;
  }
}

const NAME_RANK = 3;

function setLabelStyle(context: CanvasRenderingContext2D): void {
  context.font = LABEL_FONT;
  context.textAlign = "left";
}

function starsOf(marker: Marker): string {
  return marker.kind === "player" && marker.stars > 0 ? ` ★${marker.stars}` : "";
}

function rankOf(marker: Marker): number {
  if (marker.kind === "call") return 0;
  if (marker.stars > 0) return 1;
  return marker.callsign === "" ? NAME_RANK : 2;
}

/** The smallest 1, 2 or 5 times a power of ten that is at least `atLeast`. */
export function findRoundStep(atLeast: number): number {
  const power = 10 ** Math.floor(Math.log10(atLeast));
  for (const factor of [1, 2, 5]) {
    if (power * factor >= atLeast) return power * factor;
  }
  return power * 10;
}
