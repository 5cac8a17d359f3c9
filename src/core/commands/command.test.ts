// Which texts are valid commands and who may send them, by examples and against a simple implementation of the same rules.
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { isRefusal } from "../errors.ts";
import { isSameCommand, mayRun, parseCommand, parseIdempotencyKey } from "./command.ts";

/** The parsed text, or the code of the refusal. */
function judge(command: unknown): unknown {
  const outcome = parseCommand({ command });
  return isRefusal(outcome) ? outcome.refused.code : outcome.text;
}

describe("the text of a command", () => {
  test.each([
    [":h hello", ":h hello"],
    ["  :h hello \t", ":h hello"],
    ["\r\n:h hello\n", ":h hello"],
    ["\u2028:h\u2029", ":h"],
    ["\u00a0:h\ufeff", ":h"],
    [":h  two  spaces", ":h  two  spaces"],
    [":h 👩‍👩‍👧 ünï", ":h 👩‍👩‍👧 ünï"],
    [":h \u202e\u200b\ue000", ":h \u202e\u200b\ue000"],
    ["x", "x"],
    ["no colon", "no colon"],
  ])("%j is only trimmed", (given, text) => {
    expect(judge(given)).toBe(text);
  });

  test.each([
    ["no object", [null, true, 5, ":h", [], [":h"], [{ command: ":h" }]]],
    ["no string", [{}, { Command: ":h" }, { command: null }, { command: 5 }, { command: [":h"] }]],
    ["nothing after trimming", [{ command: "" }, { command: " \t\r\n\u2028\u00a0\ufeff" }]],
    ["only inherited", [Object.create({ command: ":h" })]],
  ])("5005: %s", (_, bodies) => {
    for (const body of bodies) {
      const outcome = parseCommand(body);
      expect(isRefusal(outcome) && outcome.refused).toEqual({
        code: 5005,
        status: 400,
        message: "missing_command",
      });
    }
  });

  test.each([
    ["a line feed", ":h a\nb"],
    ["a carriage return", ":h a\rb"],
    ["a tab", ":h\ta"],
    ["NUL", ":h \0"],
    ["ANSI colours", ":h \u001b[31mred"],
    ["DEL", ":h \u007f"],
    ["a C1 control", ":h \u0085x"],
    ["a line separator", ":h a\u2028b"],
    ["a paragraph separator", ":h a\u2029b"],
    ["half a surrogate pair, the first", ":h \ud83d"],
    ["half a surrogate pair, the second", ":h \ude00 x"],
    ["two halves in the wrong order", ":h \ude00\ud83d"],
    ["a control character at the edge, which trimming leaves", ":h \u0007"],
  ])("5104: %s", (_, text) => {
    const outcome = parseCommand({ command: text });
    if (!isRefusal(outcome)) throw new Error("accepted");
    expect(outcome.refused).toMatchObject({ code: 5104, status: 400 });
    expect(outcome.fields?.details).toEqual({ command: expect.any(String) });
  });

  test.each([
    ["letters", "a"],
    ["two bytes each", "ü"],
    ["two code units each", "😀"],
  ])("1,000 characters are allowed and 1,001 are not: %s", (_, character) => {
    expect(judge(character.repeat(1_000))).toBe(character.repeat(1_000));
    expect(judge(`  ${character.repeat(1_000)}\n`)).toBe(character.repeat(1_000));
    expect(judge(character.repeat(1_001))).toBe(5104);
  });

  test("a mix of long and short characters is counted in code points", () => {
    expect(judge("😀a".repeat(500))).toBe("😀a".repeat(500));
    expect(judge(`${"😀a".repeat(500)}b`)).toBe(5104);
  });

  test("other fields of the body are ignored", () => {
    expect(parseCommand({ command: ":h", priority: 1, __proto__: { x: 1 } })).toEqual({ text: ":h" });
  });

  test("every accepted text is one line of 1 to 1,000 code points, and parsing it again returns the same", () => {
    const piece = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom("\n", "\r", "\t", " ", "\0", "\u2028", "\ud800", "\udc00", "😀", ":h"),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), fc.integer({ min: 0, max: 1_100 }), (pieces, padding) => {
        const given = pieces.join("") + "x".repeat(padding);
        const judged = judge(given);
        const text = given.trim();
        const points = Array.from(text);
        const isSendable = points.every((point) => {
          const code = point.codePointAt(0) ?? 0;
          const isControl = code < 0x20 || (code >= 0x7f && code < 0xa0);
          return !isControl && code !== 0x2028 && code !== 0x2029 && !(code >= 0xd800 && code <= 0xdfff);
        });
        const expected = text === "" ? 5005 : isSendable && points.length <= 1_000 ? text : 5104;
        expect(judged).toBe(expected);
        if (typeof judged === "string") expect(judge(judged)).toBe(judged);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe("the Idempotency-Key", () => {
  test.each(["a", "0f8fad5b-d9cd-469f-a165-70867728950e", "!~", "x".repeat(255)])("%s is valid", (key) => {
    expect(parseIdempotencyKey(key)).toBe(key);
  });

  test("without the header there is none", () => {
    expect(parseIdempotencyKey(null)).toBeUndefined();
  });

  test.each(["", " ", "a b", "a, b", "x".repeat(256), "ü", "\u00a0", "a\tb", "a\n", "\u007f"])(
    "%j is 5104 and names the header",
    (key) => {
      const outcome = parseIdempotencyKey(key);
      if (typeof outcome !== "object") throw new Error("accepted");
      expect(outcome.refused).toMatchObject({ code: 5104, status: 400 });
      expect(outcome.fields?.details).toEqual({ "Idempotency-Key": expect.any(String) });
    },
  );
});

describe("the right to a command", () => {
  const cases: [readonly string[], string, boolean][] = [
    [[], ":h hi", false],
    [["*"], ":h hi", true],
    [["*"], "no colon", true],
    [[":h"], ":h", true],
    [[":h"], ":h hi", true],
    [[":h"], ":H hi", true],
    [[":KICK"], ":kick all", true],
    [[":h"], ":hint hi", false],
    [[":hint"], ":h int", false],
    [[":h"], ":h\u00a0hi", true],
    [[":h"], ":h\u3000hi", true],
    [[":h"], "say :h", false],
    [["h"], ":h hi", true],
    [["H"], ":h hi", true],
    [["h"], ":m hi", false],
    [["/h"], ":h hi", false],
    [[":h", ":m"], ":m all", true],
    [[":h", ":m"], ":kick all", false],
    [[""], ":h", false],
    [["**"], ":h", false],
  ];
  test.each(cases)("%j and %j: %j", (allowed, text, expected) => {
    expect(mayRun(allowed, text)).toBe(expected);
  });

  test("a name that is not on the list is never allowed, whatever follows it", () => {
    const word = fc.stringMatching(/^:[a-z]{1,8}$/);
    fc.assert(
      fc.property(fc.array(word, { maxLength: 4 }), word, fc.string(), (allowed, name, rest) => {
        expect(mayRun(allowed, `${name} ${rest}`)).toBe(allowed.includes(name));
        expect(mayRun(allowed, `${name.toUpperCase()} ${rest}`)).toBe(allowed.includes(name));
      }),
    );
  });
});

describe("the same text from the same key", () => {
  const NOW = 1_800_000_000_000;
  test.each([
    ["queued", null, true],
    ["sending", null, true],
    ["sent", NOW - 9_999, true],
    ["sent", NOW - 10_000, false],
    ["sent", NOW + 9_999, true],
    ["sent", NOW + 10_000, false],
    ["unknown", NOW - 599_999, true],
    ["unknown", NOW - 600_000, false],
    ["unknown", NOW + 600_000, false],
    ["failed", NOW, false],
    ["expired", NOW, false],
    ["cancelled", NOW, false],
  ] as const)("means a command that is %s, finished at %p: %p", (status, finishedAt, isSame) => {
    expect(isSameCommand({ status, finishedAt }, NOW)).toBe(isSame);
  });
});
