import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { repeat } from "../../../test/long.ts";
import { parseExactJson } from "./exact-json.ts";

/** Forces the exact way: a long integer stands before the text. */
function parseExactly(text: string): unknown {
  return (parseExactJson(`[9007199254740993,${text}]`) as unknown[])[1];
}

describe("an integer", () => {
  test("that a double cannot hold is a bigint, however it is written", () => {
    expect(parseExactJson('{"OwnerId":1234567890123456789}')).toEqual({ OwnerId: 1234567890123456789n });
    expect(parseExactJson("[-9007199254740993, 9007199254740993.0, 1e20, 1.5e17]")).toEqual([
      -9007199254740993n,
      9007199254740993n,
      100000000000000000000n,
      150000000000000000n,
    ]);
  });

  test("that a double can hold is a number", () => {
    expect(parseExactJson("[9007199254740991,-9007199254740991,1e3,1.0,0]")).toEqual([
      9007199254740991, -9007199254740991, 1000, 1, 0,
    ]);
  });

  test("with any digits is exact", () => {
    fc.assert(
      fc.property(fc.bigInt(), (value) => {
        const parsed = parseExactJson(`{"a":[${value}]}`) as { a: (number | bigint)[] };
        expect(String(parsed.a[0])).toBe(String(value));
        expect(typeof parsed.a[0]).toBe(Number.isSafeInteger(Number(value)) ? "number" : "bigint");
      }),
      { numRuns: repeat({ usual: 200, long: 5_000 }) },
    );
  });

  test("with a million digits or a huge exponent takes no long time", () => {
    expect(parseExactJson("1".repeat(1_000_000))).toBe(Number.POSITIVE_INFINITY);
    expect(parseExactJson("[1e999999999,12345678901234567e-99999999]")).toEqual([Number.POSITIVE_INFINITY, 0]);
  });
});

test("everything else is what JSON.parse makes of it", () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      const isLarge = (value: unknown) => typeof value === "number" && Number.isInteger(value);
      fc.pre(!/\d{16}|[eE]/.test(text) || !isLarge(JSON.parse(text)));
      const bare = JSON.parse(text, (_name, value) => (isLarge(value) ? 0 : value));
      const exact = JSON.parse(
        JSON.stringify(parseExactly(text), (_name, value) => {
          return isLarge(value) || typeof value === "bigint" ? 0 : value;
        }),
      );
      expect(exact).toEqual(JSON.parse(JSON.stringify(bare)));
    }),
    { numRuns: repeat({ usual: 60, long: 10_000 }) },
  );
});

test("texts keep digits, quotes, escapes and line separators", () => {
  const texts = ["1234567890123456789", '\\"', "\\\\", '"', "a\\", "\u2028", "😀", "", "\u0000"];
  expect(parseExactly(JSON.stringify(texts))).toEqual(texts);
});

test("a field named __proto__ stays a field", () => {
  const parsed = parseExactly('{"__proto__":{"isAdmin":true},"a":1}') as object;
  expect(Object.keys(parsed)).toEqual(["__proto__", "a"]);
  expect("isAdmin" in parsed).toBe(false);
});

test("what is not JSON is refused", () => {
  const broken = ["", "{", "[1,]", '{"a":1,}', '{"a"}', "{a:1}", '"', '"\\', '"\\x"', "01", "1.", "-", "tru", "1 2"];
  for (const text of [...broken, '"\n"', "[1 2]", '{"a":1 "b":2}', "\u00a01", "NaN", "]"]) {
    expect(() => parseExactly(text)).toThrow(SyntaxError);
  }
});

test("what is nested too deeply is refused, and does not end the program", () => {
  expect(() => parseExactly("[".repeat(100_000))).toThrow("nested too deeply");
  expect(parseExactly(`${"[".repeat(90)}${"]".repeat(90)}`)).toBeArray();
});
