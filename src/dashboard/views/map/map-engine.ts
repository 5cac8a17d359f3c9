// The state of the map: markers, viewport, selected and followed marker. It draws only when something has changed, at most
// once per frame. The canvas and the clock are passed in, and it knows nothing of React.
import { EMPTY_GROUND } from "./ground.ts";
import type { Marker } from "./markers.ts";
import { CALL_RADIUS, type PlacedMarker, type Scene } from "./painter.ts";
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
  /** The user has clicked a marker, or no marker. `isPicking`: with Ctrl or Shift, to pick several. */
  readonly onSelect: (key: string | undefined, isPicking: boolean) => void;
  /** The user has dragged the map, or the followed marker is gone. */
  readonly onFollowEnd: () => void;
  /** Called in every frame with the point of the hovered or highlighted marker; undefined when it is not visible. */
  readonly onHoveredPoint: (point: Point | undefined, size: Size) => void;
};

/** What the view sets. `isAnimated` is false for users who prefer reduced motion. */
export type MapInput = Pick<Scene, "scheme" | "ground" | "backdrop" | "covered" | "selected" | "picked"> & {
  readonly isAnimated: boolean;
  /** The marker that has the focus or the pointer in the list beside the map. */
  readonly highlighted: string | undefined;
};

/** A marker, where it is drawn now and where it was when it began to move. */
type MovingMarker = Point & { readonly marker: Marker; readonly from: Point };

/** How long a marker takes to its new position. */
export const GLIDE_MS = 1_200;
/** The time constant of an animated viewport: after it, about two thirds of the way are done. */
const VIEWPORT_EASE_MS = 110;
export const ZOOM_STEP = 1.5;
/** The animation ends when the viewport is this near to its target. */
const NEAR_PX = 0.5;
const NEAR_RATIO = 1.002;
/** Following a marker zooms in to at least this scale, so that the streets around it are visible. */
const FOLLOW_SCALE_MIN = 0.35;

export class MapEngine {
  readonly #paint: (scene: Scene) => void;
  readonly #host: FrameHost;
  readonly #listener: MapListener;
  #input: MapInput = {
    scheme: "light",
    isAnimated: true,
    ground: EMPTY_GROUND,
    backdrop: undefined,
    covered: [],
    selected: undefined,
    picked: new Set(),
    highlighted: undefined,
  };
  #size: Size = { width: 0, height: 0 };
  #ratio = 1;
  #markers: readonly MovingMarker[] = [];
  #movedAt = 0;
  #isMoving = false;
  /** The visible markers of the last frame. */
  #placed: readonly PlacedMarker[] = [];
  #viewport = WHOLE_MAP;
  /** Where the viewport moves to; undefined when it does not move. */
  #target: Viewport | undefined;
  /** Whether the viewport follows all markers, until the user moves it. */
  #isFitting = true;
  #hasFitted = false;
  #followed: string | undefined;
  #hovered: string | undefined;
  #frame: number | undefined;
  #lastFrameAt: number | undefined;

  constructor(paint: (scene: Scene) => void, host: FrameHost, listener: MapListener) {
    this.#paint = paint;
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

  set(change: Partial<MapInput>): void {
    this.#input = { ...this.#input, ...change };
    this.#requestFrame();
  }

  resize(size: Size, ratio: number): void {
    this.#size = size;
    this.#ratio = ratio;
    if (this.#isFitting) this.#fitViewport(false);
    // A resized canvas is empty, so draw now and not in the next frame.
    this.stop();
    this.#draw(this.#host.now());
  }

  /** A known marker moves from where it is drawn to its new position. */
  setMarkers(markers: readonly Marker[]): void {
    const before = new Map(this.#input.isAnimated ? this.#markers.map((each) => [each.marker.key, each]) : []);
    this.#movedAt = this.#host.now();
    this.#markers = markers.map((marker) => {
      const { x, y } = before.get(marker.key) ?? marker;
      return { marker, x, y, from: { x, y } };
    });
    this.#isMoving = this.#markers.some(({ x, y, marker }) => x !== marker.x || y !== marker.y);
    if (this.#isFitting && (!this.#hasFitted || needsNewFit(this.#viewport, this.#size, listFitted(markers)))) {
      this.#fitViewport(this.#hasFitted);
    }
    if (!this.#find(this.#followed)) this.#endFollowing();
    this.#requestFrame();
  }

  /** Keeps the marker in the middle until it is gone, the user drags the map, or this is called with undefined. */
  follow(key: string | undefined): void {
    if (key === this.#followed) return;
    this.#followed = key;
    const scale = Math.max(this.#viewport.scale, FOLLOW_SCALE_MIN);
    this.#target = key === undefined ? undefined : { ...this.#viewport, scale };
    if (key !== undefined) this.#isFitting = false;
    this.#requestFrame();
  }

  fit(): void {
    this.#endFollowing();
    this.#isFitting = true;
    this.#fitViewport(true);
    this.#requestFrame();
  }

  /** Zooms around the middle, step by step. */
  zoom(factor: number): void {
    this.#isFitting = false;
    this.#moveTo(zoomAt(this.#target ?? this.#viewport, this.#size, this.#middle(), factor));
    this.#requestFrame();
  }

  /** Zooms around a point at once, for fingers and the wheel. */
  zoomAround(point: Point, factor: number): void {
    const around = this.#followed === undefined ? point : this.#middle();
    this.#moveAtOnce(zoomAt(this.#viewport, this.#size, around, factor));
  }

  drag(dx: number, dy: number): void {
    this.#endFollowing();
    this.#moveAtOnce(panBy(this.#viewport, dx, dy));
  }

  /** `reach` is the largest distance from the marker in pixels. */
  hoverAt(point: Point | undefined, reach: number): void {
    const key = point && this.#findNearest(point, reach);
    if (key === this.#hovered) return;
    this.#hovered = key;
    this.#listener.onHover(key);
    this.#requestFrame();
  }

  selectAt(point: Point, reach: number, isPicking = false): void {
    this.#listener.onSelect(this.#findNearest(point, reach), isPicking);
  }

  #find(key: string | undefined): MovingMarker | undefined {
    return key === undefined ? undefined : this.#markers.find(({ marker }) => marker.key === key);
  }

  /** The key of the nearest marker; of two at the same point, the one that is drawn over the other. */
  #findNearest(point: Point, reach: number): string | undefined {
    let best: { readonly key: string; readonly distance: number } | undefined;
    for (const { x, y, marker } of this.#placed) {
      const distance = Math.hypot(x - point.x, y - point.y);
      if (distance <= (best?.distance ?? reach)) best = { key: marker.key, distance };
    }
    return best?.key;
  }

  #middle(): Point {
    return { x: this.#size.width / 2, y: this.#size.height / 2 };
  }

  #fitViewport(isAnimated: boolean): void {
    if (this.#size.width === 0 || this.#markers.length === 0) return;
    this.#hasFitted = true;
    const targets = listFitted(this.#markers.map(({ marker }) => marker));
    this.#moveTo(fitTo(targets, this.#size), isAnimated);
  }

  #moveTo(target: Viewport, isAnimated = true): void {
    const isGliding = isAnimated && this.#input.isAnimated;
    this.#target = isGliding ? target : undefined;
    if (!isGliding) this.#viewport = target;
  }

  #moveAtOnce(viewport: Viewport): void {
    this.#isFitting = false;
    this.#moveTo(viewport, false);
    this.#requestFrame();
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
    const size = this.#size;
    if (size.width === 0) return;
    if (this.#isMoving) this.#stepMarkers(now);
    this.#stepViewport(Math.min(Math.max(now - (this.#lastFrameAt ?? now - 16), 0), 100));
    this.#placed = this.#markers
      .map(({ marker, ...at }) => ({ ...toScreen(this.#viewport, size, at), marker }))
      .filter((point) => isInside(point, size, CALL_RADIUS));
    const { highlighted, ...input } = this.#input;
    const hovered = this.#hovered ?? highlighted;
    const scene = { viewport: this.#viewport, size, ratio: this.#ratio, placed: this.#placed, hovered };
    this.#paint({ ...input, ...scene });
    const point = hovered === undefined ? undefined : this.#placed.find(({ marker }) => marker.key === hovered);
    this.#listener.onHoveredPoint(point && isInside(point, size, 0) ? point : undefined, size);
    const hasNext = this.#isMoving || this.#target !== undefined;
    this.#lastFrameAt = hasNext ? now : undefined;
    if (hasNext) this.#requestFrame();
  }

  #stepMarkers(now: number): void {
    const share = Math.min(Math.max((now - this.#movedAt) / GLIDE_MS, 0), 1);
    const eased = 1 - (1 - share) ** 3;
    this.#isMoving = share < 1;
    this.#markers = this.#markers.map((each) => ({ ...each, ...mix(each.from, each.marker, eased) }));
  }

  /** Moves the viewport one step toward its target, or toward the followed marker. */
  #stepViewport(elapsedMs: number): void {
    const followed = this.#find(this.#followed);
    // Once the viewport has arrived, it moves exactly with the marker.
    const at = followed && { x: followed.x, y: followed.y };
    if (this.#target) this.#target = { ...this.#target, ...at };
    else this.#viewport = { ...this.#viewport, ...at };
    const target = this.#target;
    if (!target) return;
    const share = this.#input.isAnimated ? 1 - Math.exp(-elapsedMs / VIEWPORT_EASE_MS) : 1;
    const from = this.#viewport;
    const scale = from.scale * (target.scale / from.scale) ** share;
    const next = { ...mix(from, target, share), scale };
    const distancePx = Math.hypot(target.x - next.x, target.y - next.y) * scale;
    const ratio = Math.max(scale / target.scale, target.scale / scale);
    const hasArrived = distancePx < NEAR_PX && ratio < NEAR_RATIO;
    this.#viewport = hasArrived ? target : next;
    if (hasArrived) this.#target = undefined;
  }
}

/** A kill fades soon, so the viewport does not follow it. */
function listFitted(markers: readonly Marker[]): readonly Marker[] {
  return markers.filter(({ kind }) => kind !== "kill");
}

function mix(from: Point, to: Point, share: number): Point {
  return { x: from.x + (to.x - from.x) * share, y: from.y + (to.y - from.y) * share };
}

/** Whether a point is on the screen, or at most this far outside. */
function isInside({ x, y }: Point, { width, height }: Size, margin: number): boolean {
  return x >= -margin && y >= -margin && x <= width + margin && y <= height + margin;
}
