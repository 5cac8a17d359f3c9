import { describe, expect, test } from "bun:test";
import {
  fitTo,
  needsNewFit,
  panBy,
  SCALE_MAX,
  SCALE_MIN,
  toScreen,
  toWorld,
  WHOLE_MAP,
  zoomAt,
} from "./viewport.ts";

const SIZE = { width: 800, height: 600 };

describe("the part of the world that is shown", () => {
  test("everybody is inside after a fit, whatever the shape of the crowd", () => {
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

  test("one who is far outside of the world does not shrink everybody else to a dot", () => {
    const crowd = Array.from({ length: 20 }, (_, n) => ({ x: n * 100, y: n * 50 }));
    expect(fitTo([...crowd, { x: 900_000, y: 900_000 }], SIZE)).toEqual(fitTo(crowd, SIZE));
  });

  test("with nobody there, the whole map is shown", () => {
    expect(fitTo([], SIZE)).toEqual(WHOLE_MAP);
  });

  test("what is under the pointer stays there while zooming", () => {
    const at = { x: 130, y: 470 };
    const before = toWorld(WHOLE_MAP, SIZE, at);
    const after = toWorld(zoomAt(WHOLE_MAP, SIZE, at, 3), SIZE, at);
    expect(after.x).toBeCloseTo(before.x, 6);
    expect(after.y).toBeCloseTo(before.y, 6);
  });

  test("zooming ends at both ends", () => {
    expect(zoomAt(WHOLE_MAP, SIZE, { x: 0, y: 0 }, 1e12).scale).toBe(SCALE_MAX);
    expect(zoomAt(WHOLE_MAP, SIZE, { x: 0, y: 0 }, 1e-12).scale).toBe(SCALE_MIN);
  });

  test("dragging to the right shows what was on the left", () => {
    expect(panBy({ x: 0, y: 0, scale: 2 }, 10, 4)).toEqual({ x: -5, y: -2, scale: 2 });
  });

  test("who walks out of the view asks for a new fit", () => {
    const viewport = fitTo([{ x: 0, y: 0 }], SIZE);
    expect(needsNewFit(viewport, SIZE, [{ x: 5000, y: 0 }])).toBe(true);
  });
});
