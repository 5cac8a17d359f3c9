import { describe, expect, test } from "bun:test";
import { listShownColumns, parseHiddenColumns } from "./column-menu.tsx";

describe("the stored choice", () => {
  test("is read as it was written", () => {
    const stored = { players: ["id", "place"], "operator-keys": [] };
    expect(parseHiddenColumns(JSON.stringify(stored))).toEqual(stored);
  });

  test("is ignored where it is not what this page writes", () => {
    for (const text of [null, "", "{", "7", '"players"', "[]", "[[1]]", "null", "true"]) {
      expect(parseHiddenColumns(text)).toEqual({});
    }
    const hostile = { players: ["id", 7, null, { id: "id" }, "<b>", "x".repeat(10_000)], staff: "id", "a b": ["id"] };
    expect(parseHiddenColumns(JSON.stringify(hostile))).toEqual({ players: ["id"] });
    const parsed = parseHiddenColumns('{"__proto__": ["id"], "constructor": {"prototype": ["id"]}}');
    expect(Object.keys(parsed)).toEqual([]);
    expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype);
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`t${"a".repeat(index)}`, []]));
    expect(Object.keys(parseHiddenColumns(JSON.stringify(many))).length).toBeLessThanOrEqual(50);
  });
});

describe("the shown columns", () => {
  const columns = [
    { id: "name" },
    { id: "id" },
    { id: "created", isHiddenAtFirst: true },
    { id: "buttons", isButtons: true },
  ];
  const show = (chosen?: readonly string[]) => listShownColumns(columns, chosen).map(({ id }) => id);

  test("are those of the table until the user chooses", () => {
    expect(show()).toEqual(["name", "id", "buttons"]);
    expect(show([])).toEqual(["name", "id", "created", "buttons"]);
    expect(show(["id", "nowhere"])).toEqual(["name", "created", "buttons"]);
  });

  test("always hold the first column and the buttons", () => {
    expect(show(["name", "id", "created", "buttons"])).toEqual(["name", "buttons"]);
  });
});
