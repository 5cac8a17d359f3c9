// What part of the world the map shows: a point in its middle and a scale. World and screen grow the same way, right and
// down, so there is nothing to turn. Pure.

export type Point = { readonly x: number; readonly y: number };
export type Size = { readonly width: number; readonly height: number };

export type Viewport = {
  /** The point of the world in the middle. */
  readonly x: number;
  readonly y: number;
  /** Pixels for each unit of the world. */
  readonly scale: number;
};

export const SCALE_MIN = 1e-4;
export const SCALE_MAX = 50;
/** The world is seen from no further out than this, so that a lost view can find back. */
const REACH_MAX = 1e7;
/** Alone, or all in one place: nobody wants to look at that through a microscope. */
const SPAN_MIN = 400;
const PADDING = 48;
/** So many times further out than the usual player is a glitch, or somebody under the world. */
const STRAY_FACTOR = 12;

export const WHOLE_MAP: Viewport = { x: 0, y: 0, scale: 0.2 };

export function toScreen({ x, y, scale }: Viewport, { width, height }: Size, point: Point): Point {
  return { x: (point.x - x) * scale + width / 2, y: (point.y - y) * scale + height / 2 };
}

export function toWorld({ x, y, scale }: Viewport, { width, height }: Size, point: Point): Point {
  return { x: (point.x - width / 2) / scale + x, y: (point.y - height / 2) / scale + y };
}

export function panBy(viewport: Viewport, dx: number, dy: number): Viewport {
  return keepInReach({
    ...viewport,
    x: viewport.x - dx / viewport.scale,
    y: viewport.y - dy / viewport.scale,
  });
}

/** The point of the world that is at `at` stays there. */
export function zoomAt(viewport: Viewport, size: Size, at: Point, factor: number): Viewport {
  const scale = clamp(viewport.scale * factor, SCALE_MIN, SCALE_MAX);
  const fixed = toWorld(viewport, size, at);
  return keepInReach({
    x: fixed.x - (at.x - size.width / 2) / scale,
    y: fixed.y - (at.y - size.height / 2) / scale,
    scale,
  });
}

/** Shows all of the points but strays, as large as they fit. */
export function fitTo(points: readonly Point[], size: Size): Viewport {
  const kept = leaveOutStrays(points);
  if (kept.length === 0) return WHOLE_MAP;
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const { x, y } of kept) {
    left = Math.min(left, x);
    right = Math.max(right, x);
    top = Math.min(top, y);
    bottom = Math.max(bottom, y);
  }
  const room = (length: number) => Math.max(length - 2 * PADDING, length / 2, 1);
  const scale = Math.min(
    room(size.width) / Math.max(right - left, SPAN_MIN),
    room(size.height) / Math.max(bottom - top, SPAN_MIN),
  );
  return keepInReach({
    x: (left + right) / 2,
    y: (top + bottom) / 2,
    scale: clamp(scale, SCALE_MIN, SCALE_MAX),
  });
}

/** Whether somebody has left the view, or the view has become far too wide for what is there. */
export function needsNewFit(viewport: Viewport, size: Size, points: readonly Point[]): boolean {
  const best = fitTo(points, size);
  if (best.scale > viewport.scale * 2) return true;
  return leaveOutStrays(points).some((point) => {
    const { x, y } = toScreen(viewport, size, point);
    return x < 0 || y < 0 || x > size.width || y > size.height;
  });
}

function leaveOutStrays(points: readonly Point[]): readonly Point[] {
  if (points.length < 4) return points;
  const middle = { x: medianOf(points.map(({ x }) => x)), y: medianOf(points.map(({ y }) => y)) };
  const distances = points.map(({ x, y }) => Math.hypot(x - middle.x, y - middle.y));
  const reach = Math.max(medianOf(distances), SPAN_MIN) * STRAY_FACTOR;
  return points.filter((_, index) => (distances[index] ?? 0) <= reach);
}

function medianOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

function keepInReach({ x, y, scale }: Viewport): Viewport {
  return { x: clamp(x, -REACH_MAX, REACH_MAX), y: clamp(y, -REACH_MAX, REACH_MAX), scale };
}

function clamp(value: number, min: number, max: number): number {
  return Math.min(Math.max(value, min), max);
}
