// Draws the ground into a canvas of its own, larger than the screen, and copies it from there: streets and a picture are
// drawn once for a scale, not in every frame.
import type { MapCorners } from "../../../core/map-image.ts";
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

/** How much larger than the screen the layer is, so that dragging needs no new one at once. */
const LAYER_FACTOR = 1.5;
/** Soft shapes need no more. */
const LAYER_RATIO_MAX = 2;
/** While the scale changes, the layer is stretched by at most this much. */
const STRETCH_MAX = 1.6;
const STREET_WIDTH = 20;
const STREET_WIDTH_MIN_PX = 2.5;
const STREET_WIDTH_MAX_PX = 22;
/** A picture is drawn softly, so that markers and names stand out. */
const BACKDROP_ALPHA: Readonly<Record<Scheme, number>> = { light: 0.85, dark: 0.6 };
/** A picture has its own streets. */
const STREETS_OVER_BACKDROP_ALPHA = 0.3;

type Layer = GroundScene & { readonly canvas: HTMLCanvasElement; readonly extent: Size };

export class GroundLayer {
  readonly #createCanvas: () => HTMLCanvasElement;
  #layer: Layer | undefined;
  #lastScale = 0;

  constructor(createCanvas: () => HTMLCanvasElement) {
    this.#createCanvas = createCanvas;
  }

  /** Returns true when the ground is stretched, and another frame would draw it sharp. */
  draw(context: CanvasRenderingContext2D, scene: GroundScene): boolean {
    if (scene.ground.pieces.length === 0 && !scene.backdrop) return false;
    const layer = this.#layer && this.#isUsable(this.#layer, scene) ? this.#layer : this.#redraw(scene);
    this.#layer = layer;
    this.#lastScale = scene.viewport.scale;
    const stretch = scene.viewport.scale / layer.viewport.scale;
    const middle = toScreen(scene.viewport, scene.size, layer.viewport);
    const [width, height] = [layer.extent.width * stretch, layer.extent.height * stretch];
    const snap = (value: number) => Math.round(value * scene.ratio) / scene.ratio;
    context.drawImage(layer.canvas, snap(middle.x - width / 2), snap(middle.y - height / 2), width, height);
    return stretch !== 1;
  }

  #isUsable(layer: Layer, { viewport, size, ratio, scheme, ground, backdrop }: GroundScene): boolean {
    const isSame =
      layer.ground === ground &&
      layer.backdrop === backdrop &&
      layer.scheme === scheme &&
      layer.ratio === ratio &&
      layer.size.width === size.width &&
      layer.size.height === size.height;
    if (!isSame) return false;
    const stretch = viewport.scale / layer.viewport.scale;
    // The scale rests: time to draw sharp.
    if (stretch !== 1 && viewport.scale === this.#lastScale) return false;
    if (stretch > STRETCH_MAX || stretch < 1 / STRETCH_MAX) return false;
    const reach = (extent: number, length: number) => (extent * stretch - length) / 2;
    const offX = Math.abs(layer.viewport.x - viewport.x) * viewport.scale;
    const offY = Math.abs(layer.viewport.y - viewport.y) * viewport.scale;
    return offX <= reach(layer.extent.width, size.width) && offY <= reach(layer.extent.height, size.height);
  }

  #redraw(scene: GroundScene): Layer {
    const canvas = this.#layer?.canvas ?? this.#createCanvas();
    const { size, viewport, scheme, backdrop } = scene;
    const ratio = Math.min(scene.ratio, LAYER_RATIO_MAX);
    const extent = { width: size.width * LAYER_FACTOR, height: size.height * LAYER_FACTOR };
    canvas.width = Math.ceil(extent.width * ratio);
    canvas.height = Math.ceil(extent.height * ratio);
    const context = canvas.getContext("2d");
    if (context) {
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      if (backdrop) {
        context.globalAlpha = BACKDROP_ALPHA[scheme];
        const from = toScreen(viewport, extent, { x: backdrop.left, y: backdrop.top });
        const to = toScreen(viewport, extent, { x: backdrop.right, y: backdrop.bottom });
        context.drawImage(backdrop.picture, from.x, from.y, to.x - from.x, to.y - from.y);
        context.globalAlpha = STREETS_OVER_BACKDROP_ALPHA;
      }
      drawStreets(context, scene, extent);
    }
    return { ...scene, canvas, extent };
  }
}

/** All streets are one line, so that crossings are not darker. */
function drawStreets(context: CanvasRenderingContext2D, scene: GroundScene, extent: Size): void {
  const { pieces } = scene.ground;
  const { x, y, scale } = scene.viewport;
  const [midX, midY] = [extent.width / 2, extent.height / 2];
  context.lineWidth = Math.min(Math.max(STREET_WIDTH * scale, STREET_WIDTH_MIN_PX), STREET_WIDTH_MAX_PX);
  context.lineCap = "round";
  context.lineJoin = "round";
  context.strokeStyle = PALETTES[scene.scheme].street;
  context.beginPath();
  for (let at = 0; at < pieces.length; at += 4) {
    context.moveTo(((pieces[at] ?? 0) - x) * scale + midX, ((pieces[at + 1] ?? 0) - y) * scale + midY);
    context.lineTo(((pieces[at + 2] ?? 0) - x) * scale + midX, ((pieces[at + 3] ?? 0) - y) * scale + midY);
  }
  context.stroke();
}
