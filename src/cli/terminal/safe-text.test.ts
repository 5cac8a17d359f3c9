import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { escapeUnsafe } from "./safe-text.ts";

describe("text for a terminal", () => {
  test.each([
    ["colours", "\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"],
    ["a window title", "\x1b]0;mine\x07", "\\x1b]0;mine\\x07"],
    ["one-byte escape sequences", "\x9b2J", "\\x9b2J"],
    ["line breaks and tabs", "a\r\nb\tc", "a\\r\\nb\\tc"],
    ["line and paragraph separators", "a\u2028b\u2029c", "a\\u{2028}b\\u{2029}c"],
    ["a turned reading direction", "abc\u202egnp\u2066x", "abc\\u{202e}gnp\\u{2066}x"],
    ["invisible characters", "a\u200bb\ufeffc\u{e0041}", "a\\u{200b}b\\u{feff}c\\u{e0041}"],
    ["half a character", "a\ud800b", "a\\u{d800}b"],
    ["delete and null", "\x7f\0", "\\x7f\\x00"],
  ])("%s are shown, not obeyed", (_, text, shown) => {
    expect(escapeUnsafe(text)).toBe(shown);
  });

  test("ordinary text of any script stays as it is", () => {
    for (const text of ["My town #1", "Мой город", "我的城市", "👩‍🚒 crew", "می‌خواهم", 'back\\slash "quote"']) {
      expect(escapeUnsafe(text)).toBe(text);
    }
  });

  test("nothing that controls a terminal is left in any text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(escapeUnsafe(text)).not.toMatch(/[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u2028\u2029]/);
      }),
    );
  });
});
