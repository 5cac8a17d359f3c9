import { expect, test } from "bun:test";
import { drawLine } from "./spark.tsx";

test("the line of the day has a hole where nothing is known", () => {
  const line = drawLine([0, 10, null, 5, 5]);
  expect(line.match(/[ML]/g)?.join("")).toBe("MLML");
  expect(line.startsWith("M0.0 39.0L60.0 1.0M180.0")).toBe(true);
  expect(drawLine([null])).toBe("");
});
