import { expect, test } from "bun:test";
import { countDisabled } from "./count-disabled.ts";

test("the notice of disabled webhooks is found among others", () => {
  expect(countDisabled([])).toBe(0);
  expect(countDisabled(["The game API has limited us; it is asked again in 3 s."])).toBe(0);
  const one = "1 webhook was disabled because of its receiver; enable it again when that is solved.";
  expect(countDisabled(["The archive is away.", one])).toBe(1);
  expect(countDisabled(["12 webhooks were disabled because of their receivers; enable them again."])).toBe(
    12,
  );
});
