// Remembering results of a pure function never changes them, and never grows beyond its ceiling.
import { expect, test } from "bun:test";
import fc from "fast-check";
import { memoize } from "./memo.ts";

function countCalls<T>(compute: (text: string) => T) {
  const calls: string[] = [];
  const counted = (text: string) => {
    calls.push(text);
    return compute(text);
  };
  return { calls, counted };
}

test("a text that was seen is not worked out again", () => {
  const { calls, counted } = countCalls((text) => text.length);
  const remembered = memoize(counted, 10, 10);
  expect([remembered("abc"), remembered("abc"), remembered("abc")]).toEqual([3, 3, 3]);
  expect(calls).toEqual(["abc"]);
});

test("false, 0 and null are remembered like any other result", () => {
  for (const result of [false, 0, null, ""]) {
    const { calls, counted } = countCalls(() => result);
    const remembered = memoize<unknown>(counted, 10, 10);
    expect([remembered("a"), remembered("a")]).toEqual([result, result]);
    expect(calls).toHaveLength(1);
  }
});

test("a text of the greatest length is kept, a longer one is answered and not kept", () => {
  const { calls, counted } = countCalls((text) => text.length);
  const remembered = memoize(counted, 10, 4);
  remembered("1234");
  remembered("1234");
  expect([remembered("12345"), remembered("12345")]).toEqual([5, 5]);
  expect(calls).toEqual(["1234", "12345", "12345"]);
});

test("never more texts are kept than the ceiling allows", () => {
  const { calls, counted } = countCalls((text) => text);
  const remembered = memoize(counted, 100, 20);
  for (let i = 0; i < 1_000; i++) remembered(`text ${i}`);
  calls.length = 0;
  for (let i = 0; i < 1_000; i++) {
    const before = calls.length;
    remembered(`text ${999 - i}`);
    if (calls.length > before) break;
  }
  // The newest are asked for first: as many as were kept are answered before one has to be worked out.
  expect(calls).toHaveLength(1);
  const answeredFromMemory = 999 - Number(calls[0]?.slice("text ".length));
  expect(answeredFromMemory).toBeLessThanOrEqual(100);
  expect(answeredFromMemory).toBeGreaterThan(0);
});

test("a failure is passed on and not remembered", () => {
  let isBroken = true;
  const remembered = memoize(
    (text) => {
      if (isBroken) throw new Error("broken");
      return text;
    },
    10,
    10,
  );
  expect(() => remembered("a")).toThrow("broken");
  isBroken = false;
  expect(remembered("a")).toBe("a");
});

test("names that objects inherit are texts like any other", () => {
  const remembered = memoize((text) => `<${text}>`, 10, 50);
  for (const text of ["__proto__", "constructor", "toString", ""]) expect(remembered(text)).toBe(`<${text}>`);
});

test("for any sequence of texts the answers are those of the function itself", () => {
  const text = fc.string({ maxLength: 3, unit: fc.constantFrom("a", "b") });
  fc.assert(
    fc.property(fc.array(text), fc.integer({ min: 1, max: 4 }), fc.nat(3), (texts, entriesMax, lengthMax) => {
      const remembered = memoize((given) => `${given}!`, entriesMax, lengthMax);
      for (const given of texts) expect(remembered(given)).toBe(`${given}!`);
    }),
  );
});
