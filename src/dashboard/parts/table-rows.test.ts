import { describe, expect, test } from "bun:test";
import { cutText, splitUnseen } from "./game-text.tsx";
import { chooseRows, createSearch, listOptions, nameRows, sortRows } from "./table-rows.ts";

type Row = { readonly name?: string; readonly count?: number };
const COLUMNS = [
  { id: "name", readValue: ({ name }: Row) => name },
  { id: "count", readValue: ({ count }: Row) => count },
];
const TEAM = { id: "team", readValue: ({ name }: Row) => name };

describe("sorting", () => {
  const sortNames = (names: readonly (string | undefined)[], isDescending = false) =>
    sortRows(
      names.map((name) => (name === undefined ? {} : { name })),
      COLUMNS,
      { column: "name", isDescending },
      "en",
    ).map(({ name }) => name);

  test("blanks come last in either order", () => {
    expect(sortNames(["b", undefined, "a", ""])).toEqual(["a", "b", undefined, ""]);
    expect(sortNames(["b", undefined, "a", ""], true)).toEqual(["b", "a", undefined, ""]);
  });

  test("digits count as numbers, of any length, and case does not matter", () => {
    expect(sortNames(["p10", "P2", "p1"])).toEqual(["p1", "P2", "p10"]);
    expect(sortNames(["90071992547409932", "90071992547409931", "5"])).toEqual([
      "5",
      "90071992547409931",
      "90071992547409932",
    ]);
  });

  test("numbers are compared as numbers, and what is given is not changed", () => {
    const rows = [{ count: 10 }, { count: 9 }, { count: Number.NaN }];
    const sorted = sortRows(rows, COLUMNS, { column: "count", isDescending: false }, "en");
    expect(sorted.map(({ count }) => count)).toEqual([9, 10, Number.NaN]);
    expect(rows[0]).toEqual({ count: 10 });
  });
});

describe("searching", () => {
  test("every word must be there, in any column and order, whatever its case and accents", () => {
    const matches = createSearch("  ÉLAN 7 ");
    expect(matches(() => ["elan", 17])).toBe(true);
    expect(matches(() => ["elan", undefined])).toBe(false);
    expect(createSearch("  ")(() => [])).toBe(true);
  });

  test("a choice and a search narrow together", () => {
    const rows = [
      { name: "a", count: 1 },
      { name: "b", count: 1 },
      { name: "a", count: 2 },
    ];
    expect(chooseRows(rows, COLUMNS, [TEAM], { team: "a" }, "2")).toEqual([{ name: "a", count: 2 }]);
  });

  test("an option that nobody has any more can still be seen and left", () => {
    expect(listOptions([{ name: "b" }, { name: "a" }, {}, { name: "b" }], TEAM, "gone")).toEqual([
      "a",
      "b",
      "gone",
    ]);
  });

  test("there is a ceiling on options", () => {
    const rows = Array.from({ length: 200 }, (_, index) => ({ name: `team ${index}` }));
    expect(listOptions(rows, TEAM, "")).toHaveLength(50);
  });
});

test("rows that call themselves the same get different keys", () => {
  const keys = nameRows(["x", "x", "y"], (row) => row).map(({ key }) => key);
  expect(new Set(keys).size).toBe(3);
});

describe("text from the game", () => {
  test("is cut between characters, never inside one", () => {
    expect(cutText("😀😀😀", 2)).toEqual({ text: "😀😀", isCut: true });
    expect(cutText("😀😀", 2)).toEqual({ text: "😀😀", isCut: false });
    expect(cutText("a".repeat(100_000), 3)).toEqual({ text: "aaa", isCut: true });
  });

  test("shows the number of what cannot be seen", () => {
    expect(splitUnseen("a\u202eb\u200b")).toEqual([
      { text: "a", isUnseen: false },
      { text: "202E", isUnseen: true },
      { text: "b", isUnseen: false },
      { text: "200B", isUnseen: true },
    ]);
    expect(splitUnseen("Ad\u200dmin").map(({ isUnseen }) => isUnseen)).toEqual([false, true, false]);
  });

  test("leaves joiners where they have a meaning", () => {
    for (const text of ["👨\u200d👩\u200d👧", "می\u200cخواهم", "क्\u200dष"]) {
      expect(splitUnseen(text)).toEqual([{ text, isUnseen: false }]);
    }
  });
});
