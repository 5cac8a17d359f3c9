import { expect, test } from "bun:test";
import { formatSeconds } from "./human-units.ts";

test("a length has its two largest units, and never a unit of nothing", () => {
  const shown = [0, 45, 60, 312, 3_600, 3_605, 7_500, 86_400, 90_000, 400 * 86_400 + 59].map(formatSeconds);
  expect(shown).toEqual(["0s", "45s", "1m", "5m 12s", "1h", "1h", "2h 5m", "1d", "1d 1h", "400d"]);
});
