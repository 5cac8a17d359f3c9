// Draws the names of streets and postal codes where there is room, after the labels of the markers.
import type { Ground } from "./ground.ts";
import type { LabelLayout } from "./label-layout.ts";
import type { Palette } from "./palette.ts";
import { type Size, toScreen, type Viewport } from "./viewport.ts";

const FONT = "500 11px system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif";
/** The most of one frame. */
const GROUND_LABELS_MAX = 50;
/** Two names of one street are at least this far apart. */
const REPEAT_PX = 420;
/** From this scale on, postal codes are shown. */
const POSTAL_SCALE_MIN = 0.3;
const CACHED_WIDTHS_MAX = 2_000;
/** A name is shown when its street is at least this part as long. */
const ROOM_SHARE = 0.8;

type LabelScene = { readonly viewport: Viewport; readonly size: Size; readonly ground: Ground };

export class GroundLabels {
  readonly #widths = new Map<string, number>();
  #left = 0;

  draw(context: CanvasRenderingContext2D, layout: LabelLayout, scene: LabelScene, palette: Palette): void {
    const { ground, viewport } = scene;
    if (ground.streets.length === 0 && ground.postalCodes.length === 0) return;
    context.font = FONT;
    context.textAlign = "center";
    context.lineWidth = 3;
    context.strokeStyle = palette.outline;
    context.fillStyle = palette.place;
    this.#left = GROUND_LABELS_MAX;
    for (const street of ground.streets) this.#drawStreet(context, layout, scene, street);
    if (viewport.scale < POSTAL_SCALE_MIN) return;
    for (const { name, ...at } of ground.postalCodes) this.#drawName(context, layout, scene, name, at, false);
  }

  #drawStreet(
    context: CanvasRenderingContext2D,
    layout: LabelLayout,
    scene: LabelScene,
    { name, anchors, length }: Ground["streets"][number],
  ): void {
    const { scale } = scene.viewport;
    if (length * scale < this.#measure(context, name) * ROOM_SHARE) return;
    const drawn: { x: number; y: number }[] = [];
    for (const anchor of anchors) {
      const isNear = drawn.some(({ x, y }) => Math.hypot(x - anchor.x, y - anchor.y) * scale < REPEAT_PX);
      if (!isNear && this.#drawName(context, layout, scene, name, anchor, anchor.isUpright))
        drawn.push(anchor);
    }
  }

  #drawName(
    context: CanvasRenderingContext2D,
    layout: LabelLayout,
    { viewport, size }: LabelScene,
    name: string,
    at: { readonly x: number; readonly y: number },
    isUpright: boolean,
  ): boolean {
    const { x, y } = toScreen(viewport, size, at);
    if (this.#left === 0 || x < 0 || y < 0 || x > size.width || y > size.height) return false;
    if (!layout.reserveAround(x, y, this.#measure(context, name), isUpright)) return false;
    this.#left -= 1;
    if (isUpright) {
      context.save();
      context.translate(x, y);
      context.rotate(-Math.PI / 2);
    }
    const [textX, textY] = isUpright ? [0, 0] : [x, y];
    context.strokeText(name, textX, textY);
    context.fillText(name, textX, textY);
    if (isUpright) context.restore();
    return true;
  }

  #measure(context: CanvasRenderingContext2D, name: string): number {
    const known = this.#widths.get(name);
    if (known !== undefined) return known;
    if (this.#widths.size >= CACHED_WIDTHS_MAX) this.#widths.clear();
    const { width } = context.measureText(name);
    this.#widths.set(name, width);
    return width;
  }
}
