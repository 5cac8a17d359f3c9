// A memoized function returns the same results as the function itself, and its cache has a maximum size.
import { expect, test } from "bun:test";
import fc from "fast-check";
import { memoize } from "./memoize.ts";

function countCalls<T>(compute: (text: string) => T) {
  const calls: string[] = [];
  const counted = (text: string) => {
    calls.push(text);
    return compute(text);
  };
  return { calls, counted };
}

test("a result is computed once for the same text", () => {
  const { calls, counted } = countCalls((text) => text.length);
  const memoized = memoize(counted, 10, 10);
  expect([memoized("abc"), memoized("abc"), memoized("abc")]).toEqual([3, 3, 3]);
  expect(calls).toEqual(["abc"]);
});

test("false, 0 and null are cached like any other result", () => {
  for (const result of [false, 0, null, ""]) {
    const { calls, counted } = countCalls(() => result);
    const memoized = memoize<unknown>(counted, 10, 10);
    expect([memoized("a"), memoized("a")]).toEqual([result, result]);
    expect(calls).toHaveLength(1);
  }
});

test("a text of the maximum length is cached, a longer one is not", () => {
  const { calls, counted } = countCalls((text) => text.length);
  const memoized = memoize(counted, 10, 4);
  memoized("1234");
  memoized("1234");
  expect([memoized("12345"), memoized("12345")]).toEqual([5, 5]);
  expect(calls).toEqual(["1234", "12345", "12345"]);
});

test("no more than `entriesMax` results are cached", () => {
  const { calls, counted } = countCalls((text) => text);
  const memoized = memoize(counted, 100, 20);
  for (let i = 0; i < 1_000; i++) memoized(`text ${i}`);
  calls.length = 0;
  for (let i = 0; i < 1_000; i++) {
    const before = calls.length;
    memoized(`text ${999 - i}`);
    if (calls.length > before) break;
  }
  // Newest first: the loop stops at the first text that is not in the cache.
  expect(calls).toHaveLength(1);
  const cachedCount = 999 - Number(calls[0]?.slice("text ".length));
  expect(cachedCount).toBeLessThanOrEqual(100);
  expect(cachedCount).toBeGreaterThan(0);
});

test("an exception is passed on and not cached", () => {
  let isBroken = true;
  const memoized = memoize(
    (text) => {
      if (isBroken) throw new Error("broken");
      return text;
    },
    10,
    10,
  );
  expect(() => memoized("a")).toThrow("broken");
  isBroken = false;
  expect(memoized("a")).toBe("a");
});

test("names of inherited properties are texts like any other", () => {
  const memoized = memoize((text) => `<${text}>`, 10, 50);
  for (const text of ["__proto__", "constructor", "toString", ""]) expect(memoized(text)).toBe(`<${text}>`);
});

test("for any sequence of texts the results are those of the function itself", () => {
  const text = fc.string({ maxLength: 3, unit: fc.constantFrom("a", "b") });
  fc.assert(
    fc.property(fc.array(text), fc.integer({ min: 1, max: 4 }), fc.nat(3), (texts, entriesMax, lengthMax) => {
      const memoized = memoize((given) => `${given}!`, entriesMax, lengthMax);
      for (const given of texts) expect(memoized(given)).toBe(`${given}!`);
    }),
  );
});
