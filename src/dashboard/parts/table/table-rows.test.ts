import { describe, expect, test } from "bun:test";
import { cutText, splitInvisible } from "../text/game-text.tsx";
import { createSearch, filterRows, groupRows, keyRows, listOptions, sortRows } from "./table-rows.ts";

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

  test("blanks come last in both orders", () => {
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

  test("numbers are compared as numbers, and the given rows are not changed", () => {
    const rows = [{ count: 10 }, { count: 9 }, { count: Number.NaN }];
    const sorted = sortRows(rows, COLUMNS, { column: "count", isDescending: false }, "en");
    expect(sorted.map(({ count }) => count)).toEqual([9, 10, Number.NaN]);
    expect(rows[0]).toEqual({ count: 10 });
  });
});

describe("searching", () => {
  test("every word must match, in any column and order, with any case and accents", () => {
    const matches = createSearch("  ÉLAN 7 ");
    expect(matches(() => ["elan", 17])).toBe(true);
    expect(matches(() => ["elan", undefined])).toBe(false);
    expect(createSearch("  ")(() => [])).toBe(true);
  });

  test("a filter and a search are combined", () => {
    const rows = [
      { name: "a", count: 1 },
      { name: "b", count: 1 },
      { name: "a", count: 2 },
    ];
    expect(filterRows(rows, COLUMNS, [TEAM], { team: "a" }, "2")).toEqual([{ name: "a", count: 2 }]);
  });

  test("the current option stays in the list when no row has it any more", () => {
    expect(listOptions([{ name: "b" }, { name: "a" }, {}, { name: "b" }], TEAM, "gone")).toEqual(["a", "b", "gone"]);
  });

  test("there are at most fifty options", () => {
    const rows = Array.from({ length: 200 }, (_, index) => ({ name: `team ${index}` }));
    expect(listOptions(rows, TEAM, "")).toHaveLength(50);
  });
});

test("rows with the same name get different keys", () => {
  const keys = keyRows(["x", "x", "y"], (row) => row).map(({ key }) => key);
  expect(new Set(keys).size).toBe(3);
});

test("rows of one group that follow each other are under one heading", () => {
  const rows = keyRows(["a1", "a2", "b1", "a3"], (row) => row);
  const groups = groupRows(rows, (row) => row.charAt(0));
  expect(groups.map(({ key, rows: ofGroup }) => [key, ofGroup.map(({ row }) => row)])).toEqual([
    ["a", ["a1", "a2"]],
    ["b", ["b1"]],
    ["a", ["a3"]],
  ]);
  expect(groupRows(rows)).toEqual([{ key: "", rows }]);
});

describe("text from the game", () => {
  test("is cut between characters, never inside one", () => {
    expect(cutText("😀😀😀", 2)).toEqual({ text: "😀😀", isCut: true });
    expect(cutText("😀😀", 2)).toEqual({ text: "😀😀", isCut: false });
    expect(cutText("a".repeat(100_000), 3)).toEqual({ text: "aaa", isCut: true });
  });

  test("shows the code points of invisible characters", () => {
    expect(splitInvisible("a\u202eb\u200b")).toEqual([
      { text: "a", isInvisible: false },
      { text: "202E", isInvisible: true },
      { text: "b", isInvisible: false },
      { text: "200B", isInvisible: true },
    ]);
    expect(splitInvisible("Ad\u200dmin").map(({ isInvisible }) => isInvisible)).toEqual([false, true, false]);
  });

  test("keeps joiners where they have a meaning", () => {
    for (const text of ["👨\u200d👩\u200d👧", "می\u200cخواهم", "क्\u200dष"]) {
      expect(splitInvisible(text)).toEqual([{ text, isInvisible: false }]);
    }
  });
});
