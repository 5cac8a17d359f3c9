// The map between two frames: what is shown, where, and who is followed. Draws when something has changed, once a frame at
// most, and rests otherwise. Knows the canvas and the clock only as they are handed in, and nothing of React.
import type { Scheme } from "../../team-colours.ts";
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
  /** As the browser's own: calls once, with a time in milliseconds. */
  readonly requestFrame: (draw: (now: number) => void) => number;
  readonly cancelFrame: (id: number) => void;
  /** The same clock as that of the frames. */
  readonly now: () => number;
};

export type MapListener = {
  /** The marker under the pointer is another one now. */
  readonly onPoint: (key: string | undefined) => void;
  /** Somebody has picked a marker on the map, or the empty ground. */
  readonly onChoose: (key: string | undefined) => void;
  /** The reader has dragged the map away, or who was followed is gone. */
  readonly onFollowEnd: () => void;
  /** Where on the screen the pointed marker is, in every frame; undefined when it is out of sight. */
  readonly onPointedAt: (place: Point | undefined, size: Size) => void;
};

/** The time in which a journey of the view is two thirds done. */
const JOURNEY_MS = 110;
const ZOOM_STEP = 1.5;
/** Nearer than this a journey is over. */
const NEAR_PX = 0.5;
const NEAR_RATIO = 1.002;
/** Who follows a player wants to see the streets around. */
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
  #isGentle = true;
  #viewport = WHOLE_MAP;
  /** Where the view is going. */
  #target: Viewport | undefined;
  /** Whether the view keeps to what is there, until the reader moves it. */
  #isFitting = true;
  #hasFitted = false;
  #chosen: string | undefined;
  #followed: string | undefined;
  #pointed: string | undefined;
  /** Pointed at by the list, not by the pointer. */
  #listed: string | undefined;
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
    if (this.#isFitting) this.#fitNow(false);
    // A canvas of a new size is empty: waiting for the next frame would show that.
    this.stop();
    this.#draw(this.#host.now());
  }

  setScheme(scheme: Scheme): void {
    this.#scheme = scheme;
    this.#change();
  }

  /** False for those who want nothing to move by itself. */
  setGentle(isGentle: boolean): void {
    this.#isGentle = isGentle;
  }

  setMarkers(markers: readonly Marker[]): void {
    this.#motion.show(markers, this.#host.now(), this.#isGentle);
    if (this.#isFitting && (!this.#hasFitted || needsNewFit(this.#viewport, this.#size, markers))) {
      this.#fitNow(this.#hasFitted);
    }
    if (this.#followed !== undefined && this.#motion.find(this.#followed) === undefined) {
      this.#endFollowing();
    }
    this.#change();
  }

  setChosen(key: string | undefined): void {
    this.#chosen = key;
    this.#change();
  }

  setListed(key: string | undefined): void {
    this.#listed = key;
    this.#change();
  }

  /** Keeps the marker in the middle until it is gone, the reader drags the map, or it is called with nothing. */
  follow(key: string | undefined): void {
    if (key === this.#followed) return;
    this.#followed = key;
    this.#target = undefined;
    if (key !== undefined) {
      this.#isFitting = false;
      const scale = Math.max(this.#viewport.scale, FOLLOW_SCALE_MIN);
      this.#target = { ...this.#viewport, scale };
    }
    this.#change();
  }

  fit(): void {
    this.#endFollowing();
    this.#isFitting = true;
    this.#fitNow(true);
    this.#change();
  }

  zoomIn(): void {
    this.#zoomStep(ZOOM_STEP);
  }

  zoomOut(): void {
    this.#zoomStep(1 / ZOOM_STEP);
  }

  /** With the finger or the wheel: at once, and around the place where that is. */
  zoomAround(place: Point, factor: number): void {
    this.#isFitting = false;
    const around = this.#followed === undefined ? place : this.#middle();
    this.#viewport = zoomAt(this.#viewport, this.#size, around, factor);
    this.#target = undefined;
    this.#change();
  }

  drag(dx: number, dy: number): void {
    this.#isFitting = false;
    this.#target = undefined;
    this.#endFollowing();
    this.#viewport = panBy(this.#viewport, dx, dy);
    this.#change();
  }

  /** `reach`: how far off a finger or a pointer may be. */
  pointAt(place: Point | undefined, reach: number): void {
    this.#point(place && this.#findKey(place, reach));
  }

  chooseAt(place: Point, reach: number): void {
    this.#listener.onChoose(this.#findKey(place, reach));
  }

  #findKey(place: Point, reach: number): string | undefined {
    const index = this.#grid.findNearest(place.x, place.y, reach);
    return index === undefined ? undefined : this.#motion.markers[index]?.key;
  }

  #point(key: string | undefined): void {
    if (key === this.#pointed) return;
    this.#pointed = key;
    this.#listener.onPoint(key);
    this.#change();
  }

  #zoomStep(factor: number): void {
    this.#isFitting = false;
    this.#goTo(zoomAt(this.#target ?? this.#viewport, this.#size, this.#middle(), factor));
    this.#change();
  }

  #middle(): Point {
    return { x: this.#size.width / 2, y: this.#size.height / 2 };
  }

  #fitNow(isJourney: boolean): void {
    const { markers } = this.#motion;
    if (this.#size.width === 0 || markers.length === 0) return;
    this.#hasFitted = true;
    const best = fitTo(markers, this.#size);
    if (isJourney) this.#goTo(best);
    else {
      this.#viewport = best;
      this.#target = undefined;
    }
  }

  #goTo(target: Viewport): void {
    this.#target = this.#isGentle ? target : undefined;
    if (!this.#isGentle) this.#viewport = target;
  }

  #endFollowing(): void {
    if (this.#followed === undefined) return;
    this.#followed = undefined;
    this.#listener.onFollowEnd();
  }

  #change(): void {
    if (this.#frame !== undefined || this.#size.width === 0) return;
    this.#frame = this.#host.requestFrame((now) => this.#draw(now));
  }

  #draw(now: number): void {
    this.#frame = undefined;
    if (this.#size.width === 0) return;
    const elapsedMs = Math.min(Math.max(now - (this.#lastFrameAt ?? now - 16), 0), 100);
    this.#motion.step(now);
    this.#travel(elapsedMs);
    const pointed = this.#motion.find(this.#pointed ?? this.#listed);
    const scene = {
      viewport: this.#viewport,
      size: this.#size,
      ratio: this.#ratio,
      motion: this.#motion,
      scheme: this.#scheme,
      chosen: this.#motion.find(this.#chosen),
      pointed,
    };
    this.#painter.paint(scene, this.#grid);
    this.#listener.onPointedAt(this.#placeOf(pointed), this.#size);
    const isBusy = this.#motion.isMoving || this.#target !== undefined;
    this.#lastFrameAt = isBusy ? now : undefined;
    if (isBusy) this.#change();
  }

  #placeOf(index: number | undefined): Point | undefined {
    if (index === undefined) return undefined;
    const { positions } = this.#motion;
    const { width, height } = this.#size;
    const at = { x: positions[index * 2] ?? 0, y: positions[index * 2 + 1] ?? 0 };
    const place = toScreen(this.#viewport, this.#size, at);
    const isSeen = place.x >= 0 && place.y >= 0 && place.x <= width && place.y <= height;
    return isSeen ? place : undefined;
  }

  /** One step of the view toward where it is going; with somebody to follow, they are where it is going. */
  #travel(elapsedMs: number): void {
    const index = this.#motion.find(this.#followed);
    if (index !== undefined) {
      const { positions } = this.#motion;
      const [x, y] = [positions[index * 2] ?? 0, positions[index * 2 + 1] ?? 0];
      // Arrived: from here on the view moves exactly as they do.
      if (this.#target) this.#target = { ...this.#target, x, y };
      else this.#viewport = { ...this.#viewport, x, y };
    }
    const target = this.#target;
    if (!target) return;
    const share = this.#isGentle ? 1 - Math.exp(-elapsedMs / JOURNEY_MS) : 1;
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
