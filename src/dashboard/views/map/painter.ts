// Draws one frame of the map: the grid, the ground, calls, kills, labels where there is room, and the players over everything.
import { type Scheme, teamColour } from "../../team-colours.ts";
import type { GroundLayer, GroundScene } from "./ground-layer.ts";
import { type Box, LabelLayout, listPositions } from "./label-layout.ts";
import type { Marker } from "./markers.ts";
import { PALETTES, type Palette } from "./palette.ts";
import { type Point, toScreen, toWorld } from "./viewport.ts";

/** A marker and its point on the screen. */
export type PlacedMarker = Point & { readonly marker: Marker };

export type Scene = GroundScene & {
  /** The visible markers. */
  readonly placed: readonly PlacedMarker[];
  /** The key of the selected marker. */
  readonly selected: string | undefined;
  /** The keys of the markers that are picked for a command. */
  readonly picked: ReadonlySet<string>;
  /** The key of the hovered or highlighted marker. */
  readonly hovered: string | undefined;
  /** The parts of the canvas that lie under buttons and notices. */
  readonly covered: readonly Box[];
};

const PLAYER_RADIUS = 6;
export const CALL_RADIUS = 10;
const RING_RADIUS = 11;
const CALLING_RADIUS = 15;
const KILL_RADIUS = 6;
/** How much of a kill is left at each step. */
const KILL_ALPHAS = [1, 0.75, 0.5, 0.3];
const FONTS = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif";
const LABEL_FONT = `600 12px ${FONTS}`;
const GROUND_FONT = `500 11px ${FONTS}`;
const LABEL_GAP = 10;
/** From the edge of a ring to the label. */
const RING_GAP = 3;
/** The most labels of markers. */
export const MARKER_LABELS_MAX = 120;
/** So many markers at most are tried: in a crowd there is no room for most labels. */
const MARKER_TRIES_MAX = 300;
/** The most names of streets and postal codes. */
const GROUND_LABELS_MAX = 50;
/** Two names of one street are at least this far apart. */
const REPEAT_PX = 420;
/** From this scale on, postal codes are shown. */
const POSTAL_SCALE_MIN = 0.3;
/** A name is shown when its street is at least this part as long. */
const ROOM_SHARE = 0.8;
const GRID_STEP_MIN_PX = 70;
const CACHED_WIDTHS_MAX = 4_000;

export class Painter {
  readonly #context: CanvasRenderingContext2D;
  readonly #groundLayer: Pick<GroundLayer, "draw">;
  readonly #widths = new Map<string, number>();

  constructor(context: CanvasRenderingContext2D, groundLayer: Pick<GroundLayer, "draw">) {
    this.#context = context;
    this.#groundLayer = groundLayer;
  }

  paint(scene: Scene): void {
    const { size, ratio, placed, covered } = scene;
    const context = this.#context;
    const palette = PALETTES[scene.scheme];
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = palette.ground;
    context.fillRect(0, 0, size.width, size.height);
    this.#drawGrid(scene, palette);
    this.#groundLayer.draw(context, scene);
    for (const each of placed) {
      if (each.marker.kind === "call") this.#drawCall(each, scene.scheme);
      else if (each.marker.kind === "kill") this.#drawKill(each, each.marker.step, palette);
    }
    // Labels are drawn below the players, so that no label covers a player.
    const layout = new LabelLayout(size, covered);
    const isChosen = ({ marker: { key } }: PlacedMarker) => key === scene.selected || key === scene.hovered;
    this.#setFont(LABEL_FONT, "left", palette);
    const chosen = placed.filter(isChosen).flatMap((each) => {
      const width = this.#measureLabel(each.marker);
      const positions = listPositions(each, width, RING_RADIUS + RING_GAP, size, covered);
      const free = positions.find(({ left, middle }) => layout.reserve(left, middle, width));
      return free ? [{ ...free, marker: each.marker }] : [];
    });
    layout.cover(placed.map(boxOf));
    this.#drawLabels(scene, layout, palette, isChosen);
    this.#setFont(GROUND_FONT, "center", palette);
    this.#drawGroundLabels(scene, layout);
    for (const each of placed) if (each.marker.kind === "player") this.#drawPlayer(each, scene.scheme, palette);
    for (const each of placed) if (isCalling(each.marker)) this.#drawRing(each, palette.calling, CALLING_RADIUS);
    for (const each of placed) if (each.marker.key === scene.hovered) this.#drawRing(each, palette.text);
    for (const each of placed) {
      const { key } = each.marker;
      if (key === scene.selected || scene.picked.has(key)) this.#drawRing(each, palette.selected);
    }
    this.#setFont(LABEL_FONT, "left", palette);
    for (const { marker, left, middle } of chosen) this.#drawLabel(marker, palette, left, middle);
  }

  #setFont(font: string, align: CanvasTextAlign, palette: Palette): void {
    const context = this.#context;
    context.font = font;
    context.textAlign = align;
    context.textBaseline = "middle";
    context.lineJoin = "round";
    context.lineWidth = 3;
    context.strokeStyle = palette.outline;
    context.fillStyle = palette.place;
  }

  #drawGrid({ viewport, size }: Scene, palette: Palette): void {
    const { scale } = viewport;
    const step = findRoundStep(GRID_STEP_MIN_PX / scale);
    const { x: left, y: top } = toWorld(viewport, size, { x: 0, y: 0 });
    const xs: number[] = [];
    for (let x = Math.ceil(left / step) * step; (x - left) * scale < size.width; x += step) xs.push(x);
    const ys: number[] = [];
    for (let y = Math.ceil(top / step) * step; (y - top) * scale < size.height; y += step) ys.push(y);
    const draw = (columns: readonly number[], rows: readonly number[], colour: string) => {
      const context = this.#context;
      context.lineWidth = 1;
      context.strokeStyle = colour;
      context.beginPath();
      for (const x of columns) {
        const at = Math.round((x - left) * scale) + 0.5;
        context.moveTo(at, 0);
        context.lineTo(at, size.height);
      }
      for (const y of rows) {
        const at = Math.round((y - top) * scale) + 0.5;
        context.moveTo(0, at);
        context.lineTo(size.width, at);
      }
      context.stroke();
    };
    draw(xs, ys, palette.line);
    // The axes cross in the middle of the official map.
    draw([0], [0], palette.axis);
  }

  #drawPlayer({ x, y, marker }: PlacedMarker, scheme: Scheme, palette: Palette): void {
    const context = this.#context;
    context.lineWidth = 2;
    context.strokeStyle = palette.outline;
    context.fillStyle = teamColour(marker.team, scheme);
    context.beginPath();
    context.arc(x, y, PLAYER_RADIUS, 0, Math.PI * 2);
    context.stroke();
    context.fill();
  }

  /** A diamond with a hole, so that calls differ from players by shape and not only by colour. */
  #drawCall({ x, y, marker }: PlacedMarker, scheme: Scheme): void {
    const context = this.#context;
    context.fillStyle = teamColour(marker.team, scheme);
    context.beginPath();
    for (const radius of [CALL_RADIUS, CALL_RADIUS * 0.45]) {
      context.moveTo(x, y - radius);
      context.lineTo(x + radius, y);
      context.lineTo(x, y + radius);
      context.lineTo(x - radius, y);
      context.closePath();
    }
    context.fill("evenodd");
  }

  /** A cross, fainter the older it is. */
  #drawKill({ x, y }: Point, step: number, palette: Palette): void {
    const context = this.#context;
    context.globalAlpha = KILL_ALPHAS[step] ?? 1;
    for (const [width, colour] of [
      [5, palette.outline],
      [2.5, palette.kill],
    ] as const) {
      context.lineWidth = width;
      context.strokeStyle = colour;
      context.beginPath();
      for (const side of [1, -1]) {
        context.moveTo(x - KILL_RADIUS, y - KILL_RADIUS * side);
        context.lineTo(x + KILL_RADIUS, y + KILL_RADIUS * side);
      }
      context.stroke();
    }
    context.globalAlpha = 1;
  }

  #drawRing({ x, y }: Point, colour: string, radius = RING_RADIUS): void {
    const context = this.#context;
    context.strokeStyle = colour;
    context.lineWidth = 2.5;
    context.beginPath();
    context.arc(x, y, radius, 0, Math.PI * 2);
    context.stroke();
  }

  /** The most important labels first, where there is room and no marker. */
  #drawLabels(scene: Scene, layout: LabelLayout, palette: Palette, isChosen: (each: PlacedMarker) => boolean): void {
    const { placed, size } = scene;
    const ranked = placed.filter((each) => !isChosen(each) && each.marker.label !== "");
    ranked.sort((a, b) => rankOf(a.marker) - rankOf(b.marker));
    for (const each of ranked.slice(0, MARKER_TRIES_MAX)) {
      if (layout.count >= MARKER_LABELS_MAX) return;
      const { marker } = each;
      const width = this.#measureLabel(marker);
      const ring = isCalling(marker) ? CALLING_RADIUS : scene.picked.has(marker.key) ? RING_RADIUS : 0;
      const gap = ring === 0 ? LABEL_GAP : ring + RING_GAP;
      const free = listPositions(each, width, gap, size).find(({ left, middle }) => {
        return layout.reserve(left, middle, width);
      });
      if (free) this.#drawLabel(marker, palette, free.left, free.middle);
    }
  }

  #drawLabel(marker: Marker, palette: Palette, left: number, middle: number): void {
    const context = this.#context;
    const stars = starsOf(marker);
    context.fillStyle = palette.text;
    context.strokeText(marker.label, left, middle);
    context.fillText(marker.label, left, middle);
    if (stars === "") return;
    const starsLeft = left + this.#measure(marker.label);
    context.fillStyle = palette.wanted;
    context.strokeText(stars, starsLeft, middle);
    context.fillText(stars, starsLeft, middle);
  }

  /** The names of streets, and of postal codes when the scale is large enough, where the markers leave room. */
  #drawGroundLabels(scene: Scene, layout: LabelLayout): void {
    const { scale } = scene.viewport;
    const countMax = layout.count + GROUND_LABELS_MAX;
    for (const { name, anchors, length } of scene.ground.streets) {
      if (length * scale < this.#measure(name) * ROOM_SHARE) continue;
      const drawn: Point[] = [];
      for (const anchor of anchors) {
        const isNear = drawn.some(({ x, y }) => Math.hypot(x - anchor.x, y - anchor.y) * scale < REPEAT_PX);
        if (layout.count === countMax || isNear) continue;
        if (this.#drawName(scene, layout, name, anchor, anchor.isUpright)) drawn.push(anchor);
      }
    }
    if (scale < POSTAL_SCALE_MIN) return;
    for (const code of scene.ground.postalCodes) {
      if (layout.count < countMax) this.#drawName(scene, layout, code.name, code, false);
    }
  }

  /** Returns false when there is no room for the name. */
  #drawName({ viewport, size }: Scene, layout: LabelLayout, name: string, at: Point, isUpright: boolean): boolean {
    const context = this.#context;
    const { x, y } = toScreen(viewport, size, at);
    if (!layout.reserveAround(x, y, this.#measure(name), isUpright)) return false;
    context.save();
    context.translate(x, y);
    if (isUpright) context.rotate(-Math.PI / 2);
    context.strokeText(name, 0, 0);
    context.fillText(name, 0, 0);
    context.restore();
    return true;
  }

  #measureLabel(marker: Marker): number {
    const stars = starsOf(marker);
    return this.#measure(marker.label) + (stars === "" ? 0 : this.#measure(stars));
  }

  /** With the current font. Measuring is slow, so the widths are kept. */
  #measure(text: string): number {
    const key = `${this.#context.font} ${text}`;
    const known = this.#widths.get(key);
    if (known !== undefined) return known;
    if (this.#widths.size >= CACHED_WIDTHS_MAX) this.#widths.clear();
    const { width } = this.#context.measureText(text);
    this.#widths.set(key, width);
    return width;
  }
}

/** What a marker covers; labels are drawn below players and over everything else. */
function boxOf({ x, y }: Point): Box {
  return { left: x - PLAYER_RADIUS, top: y - PLAYER_RADIUS, right: x + PLAYER_RADIUS, bottom: y + PLAYER_RADIUS };
}

function isCalling(marker: Marker): boolean {
  return marker.kind === "player" && marker.isCalling;
}

function starsOf(marker: Marker): string {
  return marker.kind === "player" && marker.stars > 0 ? ` ★${marker.stars}` : "";
}

function rankOf(marker: Marker): number {
  if (marker.kind !== "player" || marker.isCalling) return 0;
  if (marker.stars > 0) return 1;
  return marker.callsign === "" ? 3 : 2;
}

/** The smallest 1, 2 or 5 times a power of ten that is at least `atLeast`. */
export function findRoundStep(atLeast: number): number {
  const power = 10 ** Math.floor(Math.log10(atLeast));
  return power * ([1, 2, 5].find((factor) => power * factor >= atLeast) ?? 10);
}
