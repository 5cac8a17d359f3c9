import { describe, expect, test } from "bun:test";
import { HOUR_MS } from "../../core/durations.ts";
import { drawBars, listRecentHours } from "./key-fields.ts";

const NOW = 500_000 * HOUR_MS + 1_234;

describe("the last 24 hours of a key", () => {
  test("hours without requests are empty, older ones are left out, the current one is last", () => {
    const hours = [
      { hour: (500_000 - 24) * HOUR_MS, requests: 99 },
      { hour: (500_000 - 23) * HOUR_MS, requests: 5 },
      { hour: 500_000 * HOUR_MS, requests: 7 },
    ];
    const recent = listRecentHours(hours, NOW);
    expect(recent).toHaveLength(24);
    expect(recent[0]).toBe(5);
    expect(recent[23]).toBe(7);
    expect(recent.slice(1, 23).every((requests) => requests === 0)).toBe(true);
  });

  test("bars are drawn against the busiest hour, and the smallest number is visible", () => {
    expect(drawBars([0, 1, 400, 800])).toBe("·▁▄█");
    expect(drawBars([0, 0])).toBe("··");
  });
});
