// Turns what hands do on the canvas (mouse, fingers, wheel, keys) into what the map understands.
import type { MapEngine } from "./map-engine.ts";
import type { Point } from "./viewport.ts";

const MOUSE_REACH = 14;
const FINGER_REACH = 24;
/** Less is a hand that is not quite still. */
const DRAG_MIN_PX = 5;
const KEY_PAN_PX = 60;
const WHEEL_LINE_PX = 16;
const WHEEL_ZOOM = 0.0016;
/** A pinch on a touch pad arrives as a wheel with Ctrl, in much smaller steps. */
const PAD_PINCH_ZOOM = 0.01;
const FINGERS_MAX = 2;

type Finger = { readonly start: Point; at: Point };

/** Returns how to stop listening. */
export function listenToGestures(canvas: HTMLElement, engine: MapEngine): () => void {
  const fingers = new Map<number, Finger>();
  let hasMoved = false;
  const ended = new AbortController();
  const { signal } = ended;
  const placeOf = ({ clientX, clientY }: MouseEvent): Point => {
    const { left, top } = canvas.getBoundingClientRect();
    return { x: clientX - left, y: clientY - top };
  };

  canvas.addEventListener(
    "pointerdown",
    (event) => {
      if (event.button !== 0 || fingers.size === FINGERS_MAX) return;
      if (fingers.size === 0) hasMoved = false;
      else hasMoved = true;
      canvas.setPointerCapture(event.pointerId);
      const at = placeOf(event);
      fingers.set(event.pointerId, { start: at, at });
    },
    { signal },
  );

  canvas.addEventListener(
    "pointermove",
    (event) => {
      const at = placeOf(event);
      const finger = fingers.get(event.pointerId);
      if (!finger) {
        if (event.pointerType !== "touch") engine.pointAt(at, MOUSE_REACH);
        return;
      }
      const moved = Math.hypot(at.x - finger.start.x, at.y - finger.start.y);
      if (!hasMoved && moved < DRAG_MIN_PX) return;
      if (!hasMoved) {
        hasMoved = true;
        engine.pointAt(undefined, 0);
      }
      const before = measureFingers(fingers);
      finger.at = at;
      const after = measureFingers(fingers);
      engine.drag(after.middle.x - before.middle.x, after.middle.y - before.middle.y);
      if (before.spread > 0 && after.spread > 0) {
        engine.zoomAround(after.middle, after.spread / before.spread);
      }
    },
    { signal },
  );

  const lift = (event: PointerEvent) => {
    const finger = fingers.get(event.pointerId);
    if (!finger) return;
    fingers.delete(event.pointerId);
    if (event.type !== "pointerup" || hasMoved) return;
    engine.chooseAt(finger.at, event.pointerType === "touch" ? FINGER_REACH : MOUSE_REACH);
  };
  canvas.addEventListener("pointerup", lift, { signal });
  canvas.addEventListener("pointercancel", lift, { signal });
  canvas.addEventListener("pointerleave", () => engine.pointAt(undefined, 0), { signal });

  canvas.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      const px = event.deltaMode === WheelEvent.DOM_DELTA_PIXEL ? event.deltaY : event.deltaY * WHEEL_LINE_PX;
      engine.zoomAround(placeOf(event), Math.exp(-px * (event.ctrlKey ? PAD_PINCH_ZOOM : WHEEL_ZOOM)));
    },
    { signal, passive: false },
  );

  canvas.addEventListener(
    "keydown",
    (event) => {
      // The browser's own shortcuts stay the browser's.
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const act = KEYS[event.key];
      if (!act) return;
      event.preventDefault();
      act(engine);
    },
    { signal },
  );

  return () => ended.abort();
}

const KEYS: Readonly<Record<string, (engine: MapEngine) => void>> = {
  ArrowLeft: (engine) => engine.drag(KEY_PAN_PX, 0),
  ArrowRight: (engine) => engine.drag(-KEY_PAN_PX, 0),
  ArrowUp: (engine) => engine.drag(0, KEY_PAN_PX),
  ArrowDown: (engine) => engine.drag(0, -KEY_PAN_PX),
  "+": (engine) => engine.zoomIn(),
  "=": (engine) => engine.zoomIn(),
  "-": (engine) => engine.zoomOut(),
  _: (engine) => engine.zoomOut(),
  "0": (engine) => engine.fit(),
};

function measureFingers(fingers: ReadonlyMap<number, Finger>): { middle: Point; spread: number } {
  const [first, second] = Array.from(fingers.values(), ({ at }) => at);
  if (!first) return { middle: { x: 0, y: 0 }, spread: 0 };
  if (!second) return { middle: first, spread: 0 };
  return {
    middle: { x: (first.x + second.x) / 2, y: (first.y + second.y) / 2 },
    spread: Math.hypot(second.x - first.x, second.y - first.y),
  };
}
