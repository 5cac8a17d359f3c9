import { expect, test } from "bun:test";
import { findRowsInView, listSpans } from "./row-spans.ts";

const ROW = 36;
const WINDOW = 720;

test("the rows in view are in the page, with some more on both sides", () => {
  for (const scrolled of [0, 1, 5_000, 90_000, 179_280]) {
    const { from, to } = findRowsInView(-scrolled, WINDOW, ROW, 5_000);
    const [first, last] = [Math.floor(scrolled / ROW), Math.floor((scrolled + WINDOW - 1) / ROW)];
    expect(from).toBeLessThanOrEqual(Math.max(0, first - 12));
    expect(to).toBeGreaterThanOrEqual(Math.min(5_000, last + 12));
    expect(to - from).toBeLessThan(60);
  }
});

test("scrolling by one row seldom changes the span", () => {
  const spans = new Set<string>();
  for (let row = 1_000; row < 1_060; row++) {
    spans.add(JSON.stringify(findRowsInView(-row * ROW, WINDOW, ROW, 5_000)));
  }
  expect(spans.size).toBeLessThanOrEqual(21);
});

test("a span never leaves the rows, wherever the table is", () => {
  expect(findRowsInView(0, WINDOW, ROW, 3)).toEqual({ from: 0, to: 3 });
  expect(findRowsInView(0, WINDOW, ROW, 0)).toEqual({ from: 0, to: 0 });
  // The table is below or above the window.
  expect(findRowsInView(10_000, WINDOW, ROW, 5_000)).toEqual({ from: 0, to: 0 });
  expect(findRowsInView(-1_000_000, WINDOW, ROW, 100)).toEqual({ from: 100, to: 100 });
});

test("a kept row outside of the view is a span of its own, in the order of the rows", () => {
  const inView = { from: 100, to: 140 };
  expect(listSpans(inView, undefined, 500)).toEqual([inView]);
  expect(listSpans(inView, 120, 500)).toEqual([inView]);
  expect(listSpans(inView, 3, 500)).toEqual([{ from: 3, to: 4 }, inView]);
  expect(listSpans(inView, 400, 500)).toEqual([inView, { from: 400, to: 401 }]);
  // There are fewer rows than before.
  expect(listSpans(inView, 400, 120)).toEqual([{ from: 100, to: 120 }]);
  expect(listSpans(inView, undefined, 50)).toEqual([]);
});
