// Numbers are kept as they were written, and large integers are integers too.
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { spelledInteger } from "../../test/integer-spellings.ts";
import { timeProcessor } from "../../test/processor-time.ts";
import { isJsonInteger, isJsonNumber, isSameJson, parseExactJson, writeIntegers } from "./exact-json.ts";

const relay = (text: string) => JSON.stringify(parseExactJson(text));

describe("a number is relayed as it came", () => {
  test.each([
    "0",
    "-0",
    "1",
    "-1",
    "1234567890123456789",
    "-1234567890123456789",
    "9007199254740993",
    "18446744073709551616",
    `1${"0".repeat(400)}`,
    "1.0",
    "1.50",
    "0.1000",
    "1e3",
    "1E3",
    "1E+3",
    "1e-3",
    "1e400",
    "-1e400",
    "1e-400",
    "0.30000000000000004440892098500626",
  ])("%s", (text) => {
    expect(relay(text)).toBe(text);
    expect(relay(`{"a":[${text},{"b":${text}}]}`)).toBe(`{"a":[${text},{"b":${text}}]}`);
  });

  test("for any spelling of any number, in any place", () => {
    const digits = fc.stringMatching(/^(?:0|[1-9][0-9]{0,40})$/);
    const fraction = fc.option(fc.stringMatching(/^[0-9]{1,20}$/));
    const exponent = fc.option(fc.stringMatching(/^[+-]?[0-9]{1,4}$/));
    fc.assert(
      fc.property(fc.boolean(), digits, fraction, exponent, (isNegative, whole, part, power) => {
        const text = `${isNegative ? "-" : ""}${whole}${part === null ? "" : `.${part}`}${power === null ? "" : `e${power}`}`;
        expect(relay(`[{"x":${text}}]`)).toBe(`[{"x":${text}}]`);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe("everything else is plain JSON", () => {
  test("any value comes through unchanged", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(relay(JSON.stringify(value))).toBe(JSON.stringify(JSON.parse(JSON.stringify(value))));
      }),
    );
  });

  test("a field named __proto__ is a field, and changes no prototype", () => {
    const value = parseExactJson('{"__proto__":{"isAdmin":true},"a":1.0}') as Record<string, unknown>;
    expect(value.isAdmin).toBeUndefined();
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(JSON.stringify(value)).toBe('{"__proto__":{"isAdmin":true},"a":1.0}');
  });

  test("an object that looks like a kept number is an object", () => {
    const value = parseExactJson('{"rawJSON":"7"}');
    expect(isJsonNumber(value)).toBe(false);
    expect(isJsonInteger(value)).toBe(false);
    expect(JSON.stringify(value)).toBe('{"rawJSON":"7"}');
  });

  test.each(["", "{", "nul", "01", "1.", ".5", "+1", "NaN", "Infinity", "0x10", "[1,]", "{'a':1}", "1 2", '"a'])(
    "%p is refused as no JSON",
    (text) => {
      expect(() => parseExactJson(text)).toThrow(SyntaxError);
    },
  );
});

describe("an integer", () => {
  test.each([
    "0",
    "-0",
    "7",
    "-7",
    "1.0",
    "1.000",
    "-0.0",
    "0.0e-5",
    "1e3",
    "1E+3",
    "1.5e1",
    "12.50e1",
    "100e-2",
    "1e400",
  ])("%s is one", (text) => {
    expect(isJsonInteger(parseExactJson(text))).toBe(true);
  });

  test.each(["12345678901234567890", "-99999999999999999999999.0", `1${"0".repeat(500)}e-500`])(
    "%s is one, however long",
    (text) => {
      expect(isJsonInteger(parseExactJson(text))).toBe(true);
    },
  );

  test.each([
    "1.5",
    "-1.5",
    "0.1",
    "1e-1",
    "1.25e1",
    "15e-1",
    "1e-400",
    "9007199254740993.5",
    "12345678901234567890.1",
  ])("%s is none", (text) => {
    expect(isJsonInteger(parseExactJson(text))).toBe(false);
  });

  test.each(['"1"', "true", "null", "[]", "[1]", "{}"])("%s is not even a number", (text) => {
    expect(isJsonNumber(parseExactJson(text))).toBe(false);
    expect(isJsonInteger(parseExactJson(text))).toBe(false);
  });

  test("for any decimal, the answer is that of exact arithmetic", () => {
    const parts = fc.tuple(fc.bigInt(0n, 10n ** 30n), fc.nat(12), fc.integer({ min: -35, max: 35 }));
    fc.assert(
      fc.property(parts, fc.boolean(), ([digits, places, exponent], isNegative) => {
        const padded = digits.toString().padStart(places + 1, "0");
        const whole = padded.slice(0, padded.length - places);
        const fraction = places === 0 ? "" : `.${padded.slice(-places)}`;
        const text = `${isNegative ? "-" : ""}${whole}${fraction}e${exponent}`;
        const divisor = 10n ** BigInt(Math.max(0, places - exponent));
        expect(isJsonInteger(parseExactJson(text))).toBe(digits % divisor === 0n);
      }),
      { numRuns: 3_000 },
    );
  });
});

describe("the one spelling of an integer", () => {
  test.each([
    ["7.0", "7"],
    ["-7.00", "-7"],
    ["1e3", "1000"],
    ["1E+3", "1000"],
    ["12.50e1", "125"],
    ["0.5e1", "5"],
    ["100e-2", "1"],
    ["-0", "0"],
    ["-0.0", "0"],
    ["0e999999999", "0"],
    ["9007199254740993.0", "9007199254740993"],
    ["1e+21", "1000000000000000000000"],
    [`1${"0".repeat(500)}e-500`, "1"],
  ])("%s is written as %s", (text, written) => {
    expect(writeIntegers(text)).toBe(written);
  });

  test.each(["0", "7", "-7", "1800000000", "12345678901234567890", `1${"0".repeat(5_000)}`])(
    "%s is written so already, however long",
    (text) => {
      expect(writeIntegers(text)).toBe(text);
    },
  );

  test.each(["1.5", "1.50", "1e-1", "7.0000000000000000000001", "1e-400"])("%s is none", (text) => {
    expect(writeIntegers(text)).toBe(text);
  });

  test("is not written out for absurd exponents, at once", () => {
    const spentMs = timeProcessor();
    for (const text of ["1e400", "-1e400", "1e999999999", "1.5e999999999", `1e${"9".repeat(500)}`])
      expect(writeIntegers(`[${text},7.0]`)).toBe(`[${text},7]`);
    expect(spentMs()).toBeLessThan(1_000);
  });

  test("is found in lists and objects, and nothing inside of strings is one", () => {
    expect(writeIntegers('{"a.0":[7.0,"7.0",{"b":-0}],"c\\"":"\\\\","d":1e1}')).toBe(
      '{"a.0":[7,"7.0",{"b":0}],"c\\"":"\\\\","d":10}',
    );
    const escapes = `"${'\\",7.0,'.repeat(1_000_000)}"`;
    expect(writeIntegers(`[7.0,${escapes},7.0]`) === `[7,${escapes},7]`).toBe(true);
  });

  test("is the same for every spelling of it, and differs from that of every other integer", () => {
    fc.assert(
      fc.property(spelledInteger, spelledInteger, (a, b) => {
        expect(isJsonInteger(parseExactJson(a.spelled))).toBe(true);
        expect(writeIntegers(a.spelled)).toBe(a.plain);
        expect(isSameJson(`[${a.spelled}]`, `[${b.spelled}]`)).toBe(a.plain === b.plain);
      }),
      { numRuns: 3_000 },
    );
  });

  test("changes nothing in any other JSON", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        expect(JSON.parse(writeIntegers(text))).toEqual(JSON.parse(text, (_, one) => (one === 0 ? 0 : one)));
      }),
    );
  });
});

test("a number of a million digits is judged at once", () => {
  const number = parseExactJson(`1${"0".repeat(1_000_000)}1`);
  const spentMs = timeProcessor();
  expect(isJsonInteger(number)).toBe(true);
  expect(isJsonInteger(parseExactJson(`1.${"0".repeat(1_000_000)}1`))).toBe(false);
  // Milliseconds when it is linear, hours when it is not.
  expect(spentMs()).toBeLessThan(5_000);
});

test("whether a text needs the exact way is found out rightly, for every spelling of numbers", () => {
  const digits = fc.stringMatching(/^[0-9]{1,20}$/);
  const spelling = fc
    .tuple(
      fc.constantFrom("", "-"),
      fc.oneof(fc.constant("0"), fc.stringMatching(/^[1-9][0-9]{0,20}$/)),
      fc.option(digits),
      fc.option(fc.tuple(fc.constantFrom("e", "E", "e+", "E-"), fc.integer({ min: 0, max: 30 }))),
    )
    .map(([sign, whole, fraction, exponent]) => {
      return `${sign}${whole}${fraction === null ? "" : `.${fraction}`}${exponent === null ? "" : exponent.join("")}`;
    });
  fc.assert(
    fc.property(fc.array(spelling, { minLength: 1, maxLength: 3 }), (spellings) => {
      const text = `{"a":[${spellings.join(",")}],"b":${spellings[0]}}`;
      expect(JSON.stringify(parseExactJson(text))).toBe(text);
    }),
    { numRuns: 5_000 },
  );
  for (const spelled of [
    "0",
    "-0",
    "0.5",
    "-0.0",
    "0.000001",
    "0.0000001",
    "123456789012345",
    "1234567890123456",
    "9007199254740993",
    "1.25",
    "1.50",
    "100",
    "10.01",
  ])
    expect(JSON.stringify(parseExactJson(`[${spelled}]`))).toBe(`[${spelled}]`);
});
