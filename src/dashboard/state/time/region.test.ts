import { describe, expect, test } from "bun:test";
import { findRegion } from "./use-format.ts";

describe("the locale of times and numbers", () => {
  test.each([
    ["en", ["en-GB", "en"], "en-GB"],
    ["en", ["ru-RU", "en-AU", "en-US"], "en-AU"],
    ["ru", ["en-GB", "ru-RU"], "ru-RU"],
    ["en", ["de-DE", "de"], "en-DE"],
    ["en", ["est"], "en"],
    ["en", [], "en"],
    ["en", ["en-US@posix"], "en"],
    ["ru", ["C", "en-GB"], "ru-GB"],
  ] as const)("for the language %p and the browser's %p is %p", (language, preferred, region) => {
    expect(findRegion(language, preferred)).toBe(region);
  });

  test("decides how hours and days are written", () => {
    const write = (...preferred: string[]) =>
      new Intl.DateTimeFormat(findRegion("en", preferred), {
        dateStyle: "medium",
        timeStyle: "medium",
        timeZone: "UTC",
      }).format(Date.UTC(2026, 10, 15, 21, 43, 20));
    expect(write("en-GB")).toBe("15 Nov 2026, 21:43:20");
    expect(write("de-DE")).toBe("15 Nov 2026, 21:43:20");
    expect(write("en-US").replaceAll(/\s/g, " ")).toBe("Nov 15, 2026, 9:43:20 PM");
  });
});
