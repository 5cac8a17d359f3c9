// Places of labels: apart from each other, inside of the map, and not under its buttons.
import { describe, expect, test } from "bun:test";
import { type Box, LABELS_MAX, LabelLayout, listPositions } from "./label-layout.ts";

const PHONE = { width: 356, height: 472 };
/** The buttons on the right, and the notice of a followed player on the left. */
const BUTTONS: Box = { left: 298, top: 8, right: 348, bottom: 152 };
const NOTICE: Box = { left: 8, top: 8, right: 190, bottom: 44 };

function layOut(covered: readonly Box[] = []): LabelLayout {
  return new LabelLayout(PHONE, covered);
}

describe("a label", () => {
  test("takes a place once", () => {
    const layout = layOut();
    expect(layout.reserve(100, 100, 60)).toBe(true);
    expect(layout.reserve(150, 108, 60)).toBe(false);
    expect(layout.reserve(150, 130, 60)).toBe(true);
  });

  test("never lies under a button or a notice", () => {
    const layout = layOut([BUTTONS, NOTICE]);
    expect(layout.reserve(270, 60, 40)).toBe(false);
    expect(layout.reserve(20, 30, 40)).toBe(false);
    expect(layout.reserve(150, 60, 40)).toBe(true);
    expect(layout.reserve(300, 170, 40)).toBe(true);
  });

  test("never crosses the edge of the map", () => {
    const layout = layOut();
    for (const [left, middle] of [
      [-5, 100],
      [340, 100],
      [100, 3],
      [100, 470],
    ] as const)
      expect(layout.reserve(left, middle, 40)).toBe(false);
  });

  test("that is upright takes the place that it covers", () => {
    const layout = layOut();
    expect(layout.reserveAround(100, 200, 80, true)).toBe(true);
    expect(layout.reserve(90, 170, 30)).toBe(false);
    expect(layout.reserve(115, 170, 30)).toBe(true);
    expect(layout.reserveAround(300, 200, 80, false)).toBe(true);
    expect(layout.reserve(270, 205, 10)).toBe(false);
  });

  test("is refused when there are too many", () => {
    const layout = new LabelLayout({ width: 1e6, height: 100 }, [BUTTONS]);
    let placed = 0;
    for (let n = 0; n < LABELS_MAX + 20; n += 1) if (layout.reserve(1000 + n * 50, 50, 20)) placed += 1;
    expect(placed).toBe(LABELS_MAX);
  });
});

test("the label of a chosen marker finds a place clear of the buttons, wherever the marker is", () => {
  for (let x = 0; x <= PHONE.width; x += 12) {
    for (let y = 8; y <= PHONE.height - 8; y += 12) {
      const layout = layOut([BUTTONS, NOTICE]);
      const places = listPositions({ x, y }, 90, 10, PHONE, [BUTTONS, NOTICE]);
      expect(places.some(({ left, middle }) => layout.reserve(left, middle, 90))).toBe(true);
    }
  }
});
