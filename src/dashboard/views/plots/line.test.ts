import { expect, test } from "bun:test";
import { listLonePlaces } from "./line.ts";

test("a value between gaps is drawn as a dot", () => {
  expect(listLonePlaces([1, null, 2, 3, null, 0])).toEqual([0, 5]);
  expect(listLonePlaces([null, null])).toEqual([]);
});
