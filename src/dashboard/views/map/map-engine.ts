// The state of the map: markers, viewport, selected and followed marker. It draws only when something has changed, at most
// once per frame. The canvas and the clock are passed in, and it knows nothing of React.
import type { Scheme } from "../../team-colours.ts";
import { EMPTY_GROUND, type Ground } from "./ground.ts";
import type { Backdrop } from "./ground-layer.ts";
import type { Box } from "./label-layout.ts";
import type { Marker } from "./markers.ts";
import { Motion } from "./motion.ts";
import type { Painter } from "./painter.ts";
import { ScreenGrid } from "./screen-grid.ts";
import {
  fitTo,
  needsNewFit,
  type Point,
  panBy,
  type Size,
  toScreen,
  type Viewport,
  WHOLE_MAP,
  zoomAt,
} from "./viewport.ts";

export type FrameHost = {
  /** Like requestAnimationFrame: calls `draw` once, with a time in milliseconds. */
  readonly requestFrame: (draw: (now: number) => void) => number;
  readonly cancelFrame: (id: number) => void;
  /** The clock of the frames. */
  readonly now: () => number;
};

export type MapListener = {
  /** The marker under the pointer has changed. */
  readonly onHover: (key: string | undefined) => void;
  /** The user has clicked a marker, or no marker. */
  readonly onSelect: (key: string | undefined) => void;
  /** The user has dragged the map, or the followed marker is gone. */
  readonly onFollowEnd: () => void;
  /** Called in every frame with the place of the hovered or highlighted marker; undefined when it is not visible. */
  readonly onHoveredPlace: (place: Point | undefined, size: Size) => void;
};

/** The time constant of an animated viewport: after it, about two thirds of the way are done. */
const VIEWPORT_EASE_MS = 110;
const ZOOM_STEP = 1.5;
/** The animation ends when the viewport is this near to its target. */
const NEAR_PX = 0.5;
const NEAR_RATIO = 1.002;
/** Following a marker zooms in to at least this scale, so that the streets around it are visible. */
const FOLLOW_SCALE_MIN = 0.35;

export class MapEngine {
  readonly #painter: Pick<Painter, "paint">;
  readonly #host: FrameHost;
  readonly #listener: MapListener;
  readonly #motion = new Motion();
  readonly #grid = new ScreenGrid();
  #size: Size = { width: 0, height: 0 };
  #ratio = 1;
  #scheme: Scheme = "light";
  #isAnimated = true;
  #viewport = WHOLE_MAP;
  /** Where the viewport moves to; undefined when it does not move. */
  #target: Viewport | undefined;
  /** Whether the viewport follows all markers, until the user moves it. */
  #isFitting = true;
  #hasFitted = false;
  #selected: string | undefined;
  #followed: string | undefined;
  #hovered: string | undefined;
  /** Set by the list beside the map. */
  #highlighted: string | undefined;
  #covered: readonly Box[] = [];
  #ground = EMPTY_GROUND;
  #backdrop: Backdrop | undefined;
  #frame: number | undefined;
  #lastFrameAt: number | undefined;

  constructor(painter: Pick<Painter, "paint">, host: FrameHost, listener: MapListener) {
    this.#painter = painter;
    this.#host = host;
    this.#listener = listener;
  }

  get viewport(): Viewport {
    return this.#viewport;
  }

  stop(): void {
    if (this.#frame !== undefined) this.#host.cancelFrame(this.#frame);
    this.#frame = undefined;
  }

  resize(size: Size, ratio: number): void {
    this.#size = size;
    this.#ratio = ratio;
    if (this.#isFitting) this.#fitViewport(false);
    // A resized canvas is empty, so draw now and not in the next frame.
    this.stop();
    this.#draw(this.#host.now());
  }

  setScheme(scheme: Scheme): void {
    this.#scheme = scheme;
    this.#requestFrame();
  }

  /** False for users who prefer reduced motion. */
  setAnimated(isAnimated: boolean): void {
    this.#isAnimated = isAnimated;
  }

  setMarkers(markers: readonly Marker[]): void {
    this.#motion.update(markers, this.#host.now(), this.#isAnimated);
    if (this.#isFitting && (!this.#hasFitted || needsNewFit(this.#viewport, this.#size, markers))) {
      this.#fitViewport(this.#hasFitted);
    }
    if (this.#followed !== undefined && this.#motion.find(this.#followed) === undefined) {
      this.#endFollowing();
    }
    this.#requestFrame();
  }

  /** The parts of the canvas under buttons and notices, where no label is to be. */
  setCovered(covered: readonly Box[]): void {
    if (areSameBoxes(covered, this.#covered)) return;
    this.#covered = covered;
    this.#requestFrame();
  }

  /** What is drawn below the markers. */
  setGround(ground: Ground, backdrop: Backdrop | undefined): void {
    if (ground === this.#ground && backdrop === this.#backdrop) return;
    this.#ground = ground;
    this.#backdrop = backdrop;
    this.#requestFrame();
  }

  setSelected(key: string | undefined): void {
    this.#selected = key;
    this.#requestFrame();
  }

  setHighlighted(key: string | undefined): void {
    this.#highlighted = key;
    this.#requestFrame();
  }

  /** Keeps the marker in the middle until it is gone, the user drags the map, or this is called with undefined. */
  follow(key: string | undefined): void {
    if (key === this.#followed) return;
    this.#followed = key;
    this.#target = undefined;
    if (key !== undefined) {
      this.#isFitting = false;
      const scale = Math.max(this.#viewport.scale, FOLLOW_SCALE_MIN);
      this.#target = { ...this.#viewport, scale };
    }
    this.#requestFrame();
  }

  fit(): void {
    this.#endFollowing();
    this.#isFitting = true;
    this.#fitViewport(true);
    this.#requestFrame();
  }

  zoomIn(): void {
    this.#zoomStep(ZOOM_STEP);
  }

  zoomOut(): void {
    this.#zoomStep(1 / ZOOM_STEP);
  }

  /** Zooms around a place at once, for fingers and the wheel. */
  zoomAround(place: Point, factor: number): void {
    this.#isFitting = false;
    const around = this.#followed === undefined ? place : this.#middle();
    this.#viewport = zoomAt(this.#viewport, this.#size, around, factor);
    this.#target = undefined;
    this.#requestFrame();
  }

  drag(dx: number, dy: number): void {
    this.#isFitting = false;
    this.#target = undefined;
    this.#endFollowing();
    this.#viewport = panBy(this.#viewport, dx, dy);
    this.#requestFrame();
  }

  /** `reach` is the largest distance from the marker in pixels. */
  hoverAt(place: Point | undefined, reach: number): void {
    this.#hover(place && this.#findKey(place, reach));
  }

  selectAt(place: Point, reach: number): void {
    this.#listener.onSelect(this.#findKey(place, reach));
  }

  #findKey(place: Point, reach: number): string | undefined {
    const index = this.#grid.findNearest(place.x, place.y, reach);
    return index === undefined ? undefined : this.#motion.markers[index]?.key;
  }

  #hover(key: string | undefined): void {
    if (key === this.#hovered) return;
    this.#hovered = key;
    this.#listener.onHover(key);
    this.#requestFrame();
  }

  #zoomStep(factor: number): void {
    this.#isFitting = false;
    this.#moveTo(zoomAt(this.#target ?? this.#viewport, this.#size, this.#middle(), factor));
    this.#requestFrame();
  }

  #middle(): Point {
    return { x: this.#size.width / 2, y: this.#size.height / 2 };
  }

  #fitViewport(isAnimated: boolean): void {
    const { markers } = this.#motion;
    if (this.#size.width === 0 || markers.length === 0) return;
    this.#hasFitted = true;
    const best = fitTo(markers, this.#size);
    if (isAnimated) this.#moveTo(best);
    else {
      this.#viewport = best;
      this.#target = undefined;
    }
  }

  #moveTo(target: Viewport): void {
    this.#target = this.#isAnimated ? target : undefined;
    if (!this.#isAnimated) this.#viewport = target;
  }

  #endFollowing(): void {
    if (this.#followed === undefined) return;
    this.#followed = undefined;
    this.#listener.onFollowEnd();
  }

  #requestFrame(): void {
    if (this.#frame !== undefined || this.#size.width === 0) return;
    this.#frame = this.#host.requestFrame((now) => this.#draw(now));
  }

  #draw(now: number): void {
    this.#frame = undefined;
    if (this.#size.width === 0) return;
    const elapsedMs = Math.min(Math.max(now - (this.#lastFrameAt ?? now - 16), 0), 100);
    this.#motion.step(now);
    this.#stepViewport(elapsedMs);
    const hovered = this.#motion.find(this.#hovered ?? this.#highlighted);
    const scene = {
      viewport: this.#viewport,
      size: this.#size,
      ratio: this.#ratio,
      motion: this.#motion,
      scheme: this.#scheme,
      selected: this.#motion.find(this.#selected),
      hovered,
      covered: this.#covered,
      ground: this.#ground,
      backdrop: this.#backdrop,
    };
    const { isRough } = this.#painter.paint(scene, this.#grid);
    this.#listener.onHoveredPlace(this.#placeOf(hovered), this.#size);
    const isMoving = this.#motion.isMoving || this.#target !== undefined;
    this.#lastFrameAt = isMoving ? now : undefined;
    if (isMoving || isRough) this.#requestFrame();
  }

  #placeOf(index: number | undefined): Point | undefined {
    if (index === undefined) return undefined;
    const { positions } = this.#motion;
    const { width, height } = this.#size;
    const at = { x: positions[index * 2] ?? 0, y: positions[index * 2 + 1] ?? 0 };
    const place = toScreen(this.#viewport, this.#size, at);
    const isVisible = place.x >= 0 && place.y >= 0 && place.x <= width && place.y <= height;
    return isVisible ? place : undefined;
  }

  /** Moves the viewport one step toward its target, or toward the followed marker. */
  #stepViewport(elapsedMs: number): void {
    const index = this.#motion.find(this.#followed);
    if (index !== undefined) {
      const { positions } = this.#motion;
      const [x, y] = [positions[index * 2] ?? 0, positions[index * 2 + 1] ?? 0];
      // Once the viewport has arrived, it moves exactly with the marker.
      if (this.#target) this.#target = { ...this.#target, x, y };
      else this.#viewport = { ...this.#viewport, x, y };
    }
    const target = this.#target;
    if (!target) return;
    const share = this.#isAnimated ? 1 - Math.exp(-elapsedMs / VIEWPORT_EASE_MS) : 1;
    const from = this.#viewport;
    const scale = from.scale * (target.scale / from.scale) ** share;
    const next = { x: from.x + (target.x - from.x) * share, y: from.y + (target.y - from.y) * share, scale };
    const distancePx = Math.hypot(target.x - next.x, target.y - next.y) * scale;
    const ratio = Math.max(scale / target.scale, target.scale / scale);
    const hasArrived = distancePx < NEAR_PX && ratio < NEAR_RATIO;
    this.#viewport = hasArrived ? target : next;
    if (hasArrived) this.#target = undefined;
  }
}

function areSameBoxes(some: readonly Box[], others: readonly Box[]): boolean {
  if (some.length !== others.length) return false;
  return some.every((box, index) => {
    const other = others[index];
    const { left, top, right, bottom } = box;
    return left === other?.left && top === other.top && right === other.right && bottom === other.bottom;
  });
}
