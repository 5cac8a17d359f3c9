import { describe, expect, test } from "bun:test";
import { fitTo, needsNewFit, panBy, SCALE_MAX, SCALE_MIN, toScreen, toWorld, WHOLE_MAP, zoomAt } from "./viewport.ts";

const SIZE = { width: 800, height: 600 };

describe("the viewport", () => {
  test("shows all points after a fit, in any arrangement", () => {
    for (const points of [
      [{ x: 0, y: 0 }],
      [
        { x: -1500, y: -20 },
        { x: 1500, y: 20 },
      ],
      Array.from({ length: 50 }, (_, n) => ({ x: 4000 + n * 37, y: -9000 + ((n * 71) % 3000) })),
    ]) {
      const viewport = fitTo(points, SIZE);
      for (const point of points) {
        const { x, y } = toScreen(viewport, SIZE, point);
        expect(x >= 0 && x <= SIZE.width && y >= 0 && y <= SIZE.height).toBe(true);
      }
      expect(needsNewFit(viewport, SIZE, points)).toBe(false);
    }
  });

  test("ignores an outlier far away when it fits", () => {
    const crowd = Array.from({ length: 20 }, (_, n) => ({ x: n * 100, y: n * 50 }));
    expect(fitTo([...crowd, { x: 900_000, y: 900_000 }], SIZE)).toEqual(fitTo(crowd, SIZE));
  });

  test("shows the whole map when there are no points", () => {
    expect(fitTo([], SIZE)).toEqual(WHOLE_MAP);
  });

  test("keeps the point under the pointer while zooming", () => {
    const at = { x: 130, y: 470 };
    const before = toWorld(WHOLE_MAP, SIZE, at);
    const after = toWorld(zoomAt(WHOLE_MAP, SIZE, at, 3), SIZE, at);
    expect(after.x).toBeCloseTo(before.x, 6);
    expect(after.y).toBeCloseTo(before.y, 6);
  });

  test("has a largest and a smallest scale", () => {
    expect(zoomAt(WHOLE_MAP, SIZE, { x: 0, y: 0 }, 1e12).scale).toBe(SCALE_MAX);
    expect(zoomAt(WHOLE_MAP, SIZE, { x: 0, y: 0 }, 1e-12).scale).toBe(SCALE_MIN);
  });

  test("moves to the left when it is dragged to the right", () => {
    expect(panBy({ x: 0, y: 0, scale: 2 }, 10, 4)).toEqual({ x: -5, y: -2, scale: 2 });
  });

  test("needs a new fit when a point leaves it", () => {
    const viewport = fitTo([{ x: 0, y: 0 }], SIZE);
    expect(needsNewFit(viewport, SIZE, [{ x: 5000, y: 0 }])).toBe(true);
  });
});
