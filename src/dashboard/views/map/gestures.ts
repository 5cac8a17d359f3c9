// Turns mouse, touch, wheel and keyboard events on the canvas into calls of the map engine.
import { type MapEngine, ZOOM_STEP } from "./map-engine.ts";
import type { Point } from "./viewport.ts";

const MOUSE_REACH = 14;
const FINGER_REACH = 24;
/** A shorter move is a click with an unsteady hand. */
const DRAG_MIN_PX = 5;
const KEY_PAN_PX = 60;
const WHEEL_LINE_PX = 16;
const WHEEL_ZOOM = 0.0016;
/** A pinch on a touch pad arrives as wheel events with Ctrl, in much smaller steps. */
const PAD_PINCH_ZOOM = 0.01;
const FINGERS_MAX = 2;

/** The mouse counts as a finger while its button is down. */
type Finger = { readonly start: Point; at: Point };

/** Listens from its construction until `stop`. */
export class Gestures {
  readonly #canvas: HTMLElement;
  readonly #engine: MapEngine;
  readonly #stopped = new AbortController();
  readonly #fingers = new Map<number, Finger>();
  /** Whether the fingers have dragged or pinched, so that lifting them is not a click. */
  #hasMoved = false;

  constructor(canvas: HTMLElement, engine: MapEngine) {
    this.#canvas = canvas;
    this.#engine = engine;
    const { signal } = this.#stopped;
    canvas.addEventListener("pointerdown", (event) => this.#press(event), { signal });
    canvas.addEventListener("pointermove", (event) => this.#move(event), { signal });
    canvas.addEventListener("pointerup", (event) => this.#lift(event), { signal });
    canvas.addEventListener("pointercancel", (event) => this.#lift(event), { signal });
    canvas.addEventListener("pointerleave", () => engine.hoverAt(undefined, 0), { signal });
    canvas.addEventListener("wheel", (event) => this.#zoomByWheel(event), { signal, passive: false });
    canvas.addEventListener("keydown", (event) => this.#handleKey(event), { signal });
  }

  stop(): void {
    this.#stopped.abort();
  }

  #press(event: PointerEvent): void {
    if (event.button !== 0 || this.#fingers.size === FINGERS_MAX) return;
    // A second finger is the start of a pinch.
    this.#hasMoved = this.#fingers.size > 0;
    this.#canvas.setPointerCapture(event.pointerId);
    const at = this.#pointOf(event);
    this.#fingers.set(event.pointerId, { start: at, at });
  }

  #move(event: PointerEvent): void {
    const at = this.#pointOf(event);
    const finger = this.#fingers.get(event.pointerId);
    if (!finger) {
      if (event.pointerType !== "touch") this.#engine.hoverAt(at, MOUSE_REACH);
      return;
    }
    const moved = Math.hypot(at.x - finger.start.x, at.y - finger.start.y);
    if (!this.#hasMoved && moved < DRAG_MIN_PX) return;
    if (!this.#hasMoved) {
      this.#hasMoved = true;
      this.#engine.hoverAt(undefined, 0);
    }
    const before = measureFingers(this.#fingers);
    finger.at = at;
    const after = measureFingers(this.#fingers);
    this.#engine.drag(after.middle.x - before.middle.x, after.middle.y - before.middle.y);
    if (before.spread > 0 && after.spread > 0) {
      this.#engine.zoomAround(after.middle, after.spread / before.spread);
    }
  }

  #lift(event: PointerEvent): void {
    const finger = this.#fingers.get(event.pointerId);
    if (!finger) return;
    this.#fingers.delete(event.pointerId);
    if (event.type !== "pointerup" || this.#hasMoved) return;
    const isPicking = event.ctrlKey || event.metaKey || event.shiftKey;
    this.#engine.selectAt(finger.at, event.pointerType === "touch" ? FINGER_REACH : MOUSE_REACH, isPicking);
  }

  #zoomByWheel(event: WheelEvent): void {
    event.preventDefault();
    const px = event.deltaMode === WheelEvent.DOM_DELTA_PIXEL ? event.deltaY : event.deltaY * WHEEL_LINE_PX;
    const factor = Math.exp(-px * (event.ctrlKey ? PAD_PINCH_ZOOM : WHEEL_ZOOM));
    this.#engine.zoomAround(this.#pointOf(event), factor);
  }

  #handleKey(event: KeyboardEvent): void {
    // Shortcuts of the browser must keep working.
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const act = KEYS[event.key];
    if (!act) return;
    event.preventDefault();
    act(this.#engine);
  }

  #pointOf({ clientX, clientY }: MouseEvent): Point {
    const { left, top } = this.#canvas.getBoundingClientRect();
    return { x: clientX - left, y: clientY - top };
  }
}

const KEYS: Readonly<Record<string, (engine: MapEngine) => void>> = {
  ArrowLeft: (engine) => engine.drag(KEY_PAN_PX, 0),
  ArrowRight: (engine) => engine.drag(-KEY_PAN_PX, 0),
  ArrowUp: (engine) => engine.drag(0, KEY_PAN_PX),
  ArrowDown: (engine) => engine.drag(0, -KEY_PAN_PX),
  "+": (engine) => engine.zoom(ZOOM_STEP),
  "=": (engine) => engine.zoom(ZOOM_STEP),
  "-": (engine) => engine.zoom(1 / ZOOM_STEP),
  _: (engine) => engine.zoom(1 / ZOOM_STEP),
  "0": (engine) => engine.fit(),
};

/** The middle between the fingers, and their distance; 0 for one finger. */
function measureFingers(fingers: ReadonlyMap<number, Finger>): { middle: Point; spread: number } {
  const [first, second] = Array.from(fingers.values(), ({ at }) => at);
  if (!first) return { middle: { x: 0, y: 0 }, spread: 0 };
  if (!second) return { middle: first, spread: 0 };
  return {
    middle: { x: (first.x + second.x) / 2, y: (first.y + second.y) / 2 },
    spread: Math.hypot(second.x - first.x, second.y - first.y),
  };
}
