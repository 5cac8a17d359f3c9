import { expect, test } from "bun:test";
import { parseMomentRoute, writeMomentRoute } from "./moment-route.ts";

test("the address of a moment leads back to it, and nothing else is taken for one", () => {
  expect(writeMomentRoute(1_794_722_400_000.7)).toBe("activity/at-1794722400000");
  expect(parseMomentRoute("at-1794722400000")).toBe(1_794_722_400_000);
  for (const id of ["", "77", "at-", "at--1", "at-1e3", "at-9999999999999999"])
    expect(parseMomentRoute(id)).toBeUndefined();
});
