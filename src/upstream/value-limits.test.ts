// The values of an answer are counted before they are parsed and checked.
import { describe, expect, test } from "bun:test";
import { ALL_SECTIONS_INFO, BASE_INFO } from "../../test/fake-game-api.ts";
import { ServerInfoParser } from "./parse-server-info.ts";
import { ELEMENTS_MAX, hasOversizedPart, hasTooManyValues, VALUES_MAX } from "./value-limits.ts";

const parser = new ServerInfoParser({ keepsUnknown: false });
const parse = (changes: object) => parser.parse(JSON.stringify({ ...BASE_INFO, ...changes }));

function makeList(length: number): number[] {
  return Array.from({ length }, (_, index) => index);
}

function makeMap(length: number): Record<string, string> {
  return Object.fromEntries(makeList(length).map((id) => [String(id), "A"]));
}

describe("a text", () => {
  test("with VALUES_MAX commas and brackets passes, with one more it does not", () => {
    const list = `[${"1,".repeat(VALUES_MAX - 1)}1]`;
    expect(hasTooManyValues(list)).toBe(false);
    expect(hasTooManyValues(`[${list}]`)).toBe(true);
  });

  test("of nothing but opening brackets does not pass", () => {
    expect(hasTooManyValues("[".repeat(VALUES_MAX + 1))).toBe(true);
    expect(hasTooManyValues("{".repeat(VALUES_MAX + 1))).toBe(true);
  });

  test("of four million characters with few values passes", () => {
    expect(hasTooManyValues(JSON.stringify({ Name: "x".repeat(4_000_000) }))).toBe(false);
    expect(hasTooManyValues(JSON.stringify({ Name: '\\",['.repeat(VALUES_MAX) }))).toBe(false);
  });
});

describe("an answer with a list or map of ELEMENTS_MAX elements is parsed, with one more it is absurd", () => {
  const [call] = ALL_SECTIONS_INFO.EmergencyCalls;
  const forms: Readonly<Record<string, (length: number) => object>> = {
    Queue: (length) => ({ Queue: makeList(length) }),
    "Players that are integers": (length) => ({ Players: makeList(length) }),
    CoOwnerIds: (length) => ({ CoOwnerIds: makeList(length) }),
    Staff: (length) => ({ Staff: makeMap(length) }),
    "a map of Staff": (length) => ({ Staff: { Mods: makeMap(length) } }),
    "the players of a call": (length) => ({ EmergencyCalls: [{ ...call, Players: makeList(length) }] }),
  };
  test.each(Object.entries(forms))("%s", (_name, make) => {
    expect(parse(make(ELEMENTS_MAX))).toBeDefined();
    expect(parse(make(ELEMENTS_MAX + 1))).toBeUndefined();
  });
});

test("an unknown list counts only where it is kept", () => {
  const text = JSON.stringify({ ...BASE_INFO, Unknown: makeList(ELEMENTS_MAX + 1) });
  expect(parser.parse(text)).toBeDefined();
  expect(new ServerInfoParser({ keepsUnknown: true }).parse(text)).toBeUndefined();
});

test("nesting that is deeper than any answer is not followed", () => {
  let nested: unknown = makeList(ELEMENTS_MAX + 1);
  for (let depth = 0; depth < 10; depth++) nested = [nested];
  expect(hasOversizedPart(nested)).toBe(false);
});
