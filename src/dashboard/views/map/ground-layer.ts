// Draws streets and the picture into a canvas of its own, larger than the screen, and copies it from there while the map is
// dragged.
import type { MapCorners } from "../../../core/maps/map-image.ts";
import type { Scheme } from "../../team-colours.ts";
import type { Ground } from "./ground.ts";
import { PALETTES } from "./palette.ts";
import { type Size, toScreen, type Viewport } from "./viewport.ts";

/** The picture that an operator has set, and what it shows. */
export type Backdrop = MapCorners & { readonly picture: CanvasImageSource };

export type GroundScene = {
  readonly viewport: Viewport;
  readonly size: Size;
  readonly ratio: number;
  readonly scheme: Scheme;
  readonly ground: Ground;
  readonly backdrop: Backdrop | undefined;
};

/** How much larger than the screen the layer is. */
const LAYER_FACTOR = 1.5;
/** Soft shapes need no more. */
const LAYER_RATIO_MAX = 2;
const STREET_WIDTH = 20;
const STREET_WIDTH_MIN_PX = 2.5;
const STREET_WIDTH_MAX_PX = 22;
/** A picture is drawn softly, so that markers and names stand out. */
const BACKDROP_ALPHA: Readonly<Record<Scheme, number>> = { light: 0.85, dark: 0.6 };
/** A picture has its own streets. */
const STREETS_OVER_BACKDROP_ALPHA = 0.3;

export class GroundLayer {
  readonly #canvas: HTMLCanvasElement;
  /** What the canvas shows, around the middle of its viewport. */
  #drawn: GroundScene | undefined;

  constructor(canvas: HTMLCanvasElement) {
    this.#canvas = canvas;
  }

  draw(context: CanvasRenderingContext2D, scene: GroundScene): void {
    const { size, ratio, viewport } = scene;
    if (scene.ground.pieces.length === 0 && !scene.backdrop) return;
    const extent = { width: size.width * LAYER_FACTOR, height: size.height * LAYER_FACTOR };
    if (!this.#drawn || !isUsable(this.#drawn, scene)) this.#drawn = this.#redraw(scene, extent);
    const middle = toScreen(viewport, size, this.#drawn.viewport);
    const snap = (value: number) => Math.round(value * ratio) / ratio;
    const [left, top] = [snap(middle.x - extent.width / 2), snap(middle.y - extent.height / 2)];
    context.drawImage(this.#canvas, left, top, extent.width, extent.height);
  }

  #redraw(scene: GroundScene, extent: Size): GroundScene {
    const { viewport, scheme, backdrop } = scene;
    const ratio = Math.min(scene.ratio, LAYER_RATIO_MAX);
    this.#canvas.width = Math.ceil(extent.width * ratio);
    this.#canvas.height = Math.ceil(extent.height * ratio);
    const context = this.#canvas.getContext("2d");
    if (!context) return scene;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    if (backdrop) {
      context.globalAlpha = BACKDROP_ALPHA[scheme];
      const from = toScreen(viewport, extent, { x: backdrop.left, y: backdrop.top });
      const to = toScreen(viewport, extent, { x: backdrop.right, y: backdrop.bottom });
      context.drawImage(backdrop.picture, from.x, from.y, to.x - from.x, to.y - from.y);
      context.globalAlpha = STREETS_OVER_BACKDROP_ALPHA;
    }
    drawStreets(context, scene, extent);
    return scene;
  }
}

/** Whether the layer shows the same ground in the same way, and reaches over the whole screen. */
function isUsable(drawn: GroundScene, scene: GroundScene): boolean {
  const names = ["size", "ratio", "scheme", "ground", "backdrop"] as const;
  const { x, y, scale } = scene.viewport;
  if (names.some((name) => drawn[name] !== scene[name]) || drawn.viewport.scale !== scale) return false;
  const margin = (LAYER_FACTOR - 1) / 2 / scale;
  const isNear = (a: number, b: number, length: number) => Math.abs(a - b) <= length * margin;
  return isNear(drawn.viewport.x, x, scene.size.width) && isNear(drawn.viewport.y, y, scene.size.height);
}

/** All streets are one line, so that crossings are not darker. */
function drawStreets(context: CanvasRenderingContext2D, { ground, viewport, scheme }: GroundScene, extent: Size): void {
  const width = STREET_WIDTH * viewport.scale;
  context.lineWidth = Math.min(Math.max(width, STREET_WIDTH_MIN_PX), STREET_WIDTH_MAX_PX);
  context.lineCap = "round";
  context.lineJoin = "round";
  context.strokeStyle = PALETTES[scheme].street;
  context.beginPath();
  for (const piece of ground.pieces) {
    const [from, to] = [toScreen(viewport, extent, piece[0]), toScreen(viewport, extent, piece[1])];
    context.moveTo(from.x, from.y);
    context.lineTo(to.x, to.y);
  }
  context.stroke();
}
