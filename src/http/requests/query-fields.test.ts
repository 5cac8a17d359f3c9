import { expect, test } from "bun:test";
import { Call, type Connection } from "../call.ts";
import { PARAMETERS_MAX, queryOf } from "./query-fields.ts";
import { Target } from "./target.ts";

function parse(query: string): URLSearchParams {
  return queryOf(new Call(new Request("http://h/"), new Target(undefined, "/", query), {} as Connection, () => 0));
}

test("parameters after the thousandth are ignored, so that they cost no time", () => {
  expect(parse(`${"a&".repeat(PARAMETERS_MAX - 1)}limit=1`).get("limit")).toBe("1");
  expect(parse(`${"a&".repeat(PARAMETERS_MAX)}limit=1`).get("limit")).toBeNull();
  expect(parse("&".repeat(60_000)).size).toBe(0);
  expect(parse("?a=1&b=2&").toString()).toBe("%3Fa=1&b=2");
});
