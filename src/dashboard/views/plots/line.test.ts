import { expect, test } from "bun:test";
import { listLoneIndexes } from "./history-lines.ts";

test("a value between gaps is drawn as a dot", () => {
  expect(listLoneIndexes([1, null, 2, 3, null, 0])).toEqual([0, 5]);
  expect(listLoneIndexes([null, null])).toEqual([]);
});
