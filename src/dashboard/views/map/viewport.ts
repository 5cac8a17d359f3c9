// The part of the world that the map shows: the point in the middle and a scale. In the world as on the screen, x grows to
// the right and y grows down. Pure.

export type Point = { readonly x: number; readonly y: number };
export type Size = { readonly width: number; readonly height: number };

export type Viewport = {
  /** The world coordinates of the middle. */
  readonly x: number;
  readonly y: number;
  /** Pixels per unit of the world. */
  readonly scale: number;
};

export const SCALE_MIN = 1e-4;
export const SCALE_MAX = 50;
/** The largest distance of the middle from the origin. */
const COORDINATE_MAX = 1e7;
/** The smallest part of the world that a fit shows, for players who are alone or all in one place. */
const SPAN_MIN = 400;
const PADDING = 48;
/** A point this many times further out than the median is an outlier, such as a player who fell out of the map. */
const OUTLIER_FACTOR = 12;

export const WHOLE_MAP: Viewport = { x: 0, y: 0, scale: 0.2 };

export function toScreen({ x, y, scale }: Viewport, { width, height }: Size, point: Point): Point {
  return { x: (point.x - x) * scale + width / 2, y: (point.y - y) * scale + height / 2 };
}

export function toWorld({ x, y, scale }: Viewport, { width, height }: Size, point: Point): Point {
  return { x: (point.x - width / 2) / scale + x, y: (point.y - height / 2) / scale + y };
}

export function panBy(viewport: Viewport, dx: number, dy: number): Viewport {
  return limitCoordinates({ ...viewport, x: viewport.x - dx / viewport.scale, y: viewport.y - dy / viewport.scale });
}

/** Zooms and keeps the point under `at` in its place. */
export function zoomAt(viewport: Viewport, size: Size, at: Point, factor: number): Viewport {
  const scale = clamp(viewport.scale * factor, SCALE_MIN, SCALE_MAX);
  const fixed = toWorld(viewport, size, at);
  return limitCoordinates({
    x: fixed.x - (at.x - size.width / 2) / scale,
    y: fixed.y - (at.y - size.height / 2) / scale,
    scale,
  });
}

/** The viewport with the largest scale that shows all points except outliers. */
export function fitTo(points: readonly Point[], size: Size): Viewport {
  const kept = dropOutliers(points);
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
  return limitCoordinates({ x: (left + right) / 2, y: (top + bottom) / 2, scale: clamp(scale, SCALE_MIN, SCALE_MAX) });
}

/** Whether a point is outside of the viewport, or the viewport is far too wide for the points. */
export function needsNewFit(viewport: Viewport, size: Size, points: readonly Point[]): boolean {
  const best = fitTo(points, size);
  if (best.scale > viewport.scale * 2) return true;
  return dropOutliers(points).some((point) => {
    const { x, y } = toScreen(viewport, size, point);
    return x < 0 || y < 0 || x > size.width || y > size.height;
  });
}

function dropOutliers(points: readonly Point[]): readonly Point[] {
  if (points.length < 4) return points;
  const middle = { x: medianOf(points.map(({ x }) => x)), y: medianOf(points.map(({ y }) => y)) };
  const distances = points.map(({ x, y }) => Math.hypot(x - middle.x, y - middle.y));
  const reach = Math.max(medianOf(distances), SPAN_MIN) * OUTLIER_FACTOR;
  return points.filter((_, index) => (distances[index] ?? 0) <= reach);
}

function medianOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

function limitCoordinates({ x, y, scale }: Viewport): Viewport {
  return { x: clamp(x, -COORDINATE_MAX, COORDINATE_MAX), y: clamp(y, -COORDINATE_MAX, COORDINATE_MAX), scale };
}

function clamp(value: number, min: number, max: number): number {
  return Math.min(Math.max(value, min), max);
}
