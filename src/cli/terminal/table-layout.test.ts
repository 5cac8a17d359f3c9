import { describe, expect, test } from "bun:test";
import { type Column, chooseColumns, fitColumns, shorten, wrap } from "./table-layout.ts";

const COLUMNS: readonly Column[] = [{ title: "ID", isWhole: true }, { title: "LABEL" }, { title: "STATE" }];
const ROWS = [["key_0123456789abcdef", "a label that goes on and on and on", "active"]];

describe("the columns of a table", () => {
  test("are as wide as their content when there is room", () => {
    expect(fitColumns(COLUMNS, ROWS, 80)).toEqual([20, 34, 6]);
  });

  test("give way until a row fits, ids never", () => {
    expect(fitColumns(COLUMNS, ROWS, 50)).toEqual([20, 20, 6]);
    expect(fitColumns(COLUMNS, ROWS, 36)).toEqual([20, 6, 6]);
  });

  test("are undefined when no column can shrink any more", () => {
    expect(fitColumns(COLUMNS, ROWS, 34)).toBeUndefined();
  });

  test("are as wide as their titles when there are no rows", () => {
    expect(fitColumns(COLUMNS, [], 80)).toEqual([2, 5, 5]);
  });
});

describe("an extra column", () => {
  const columns: readonly Column[] = [...COLUMNS, { title: "CHANGE", isExtra: true }, { title: "BY", isExtra: true }];
  const rows = [[...(ROWS[0] ?? []), "a change that takes room", "me"]];

  test("is printed where every column stays readable", () => {
    expect(chooseColumns(columns, rows, 200)).toEqual([0, 1, 2, 3, 4]);
    expect(chooseColumns(columns, rows, Number.POSITIVE_INFINITY)).toEqual([0, 1, 2, 3, 4]);
  });

  test("is left out where they would not, and a narrower one is not", () => {
    expect(chooseColumns(columns, rows, 60)).toEqual([0, 1, 2, 4]);
    expect(chooseColumns(columns, rows, 40)).toEqual([0, 1, 2]);
  });
});

describe("text for a column", () => {
  test("is shortened by display width, not by code units", () => {
    expect(shorten("abcdef", 6)).toBe("abcdef");
    expect(shorten("abcdefg", 6)).toBe("abcde…");
    expect(shorten("我的城市很大", 6)).toBe("我的…");
    expect(shorten("👩‍🚒👩‍🚒👩‍🚒👩‍🚒", 5)).toBe("👩‍🚒👩‍🚒…");
  });

  test("is never wider than its column, even when characters are wider together than one by one", () => {
    const text = "\u2668\u11e0\u2676\u200d\u{1f469}\u{1f3fd}\u{1f1eb}\u200c\u200d\u{1f3fe}\ufe4c\u{1f467}";
    expect(Bun.stringWidth(shorten(text, 11))).toBeLessThanOrEqual(11);
  });

  test("is wrapped between words; a word that is too long stays whole", () => {
    expect(wrap("one two three", 7)).toEqual(["one two", "three"]);
    expect(wrap("a verylongword b", 5)).toEqual(["a", "verylongword", "b"]);
    expect(wrap("", 5)).toEqual([""]);
  });
});
