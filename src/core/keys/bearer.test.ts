// Which headers mean 5007 (no bearer token was sent) and which mean 5008 (a malformed one was sent).
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { timeProcessor } from "../../../test/processor-time.ts";
import { AUTHORIZATION_LENGTH_MAX, parseBearer } from "./bearer.ts";

const kindOf = (header: string | null) => parseBearer(header).kind;

describe("no token, 5007", () => {
  test.each([
    ["no header", null],
    ["an empty header", ""],
    ["blanks", "   "],
    ["the scheme alone", "Bearer"],
    ["the scheme and blanks", "Bearer   "],
    ["the scheme in small letters alone", "bearer"],
    ["another scheme", "Basic dXNlcjpwYXNz"],
    ["another scheme with padding", "Basic dXNlcjpwYXNzdw=="],
    ["another scheme alone", "Negotiate"],
    ["a scheme that only begins like Bearer", "BearerX abc"],
    ["a token glued to the scheme", "Bearergth_abc"],
    ["a token without a scheme", "gth_abc"],
    ["Digest with its own commas", 'Digest username="a", realm="b", nonce="c", uri="/", response="d"'],
    ["Digest without blanks after its commas", 'Digest username="a",realm="b",nonce="c"'],
    ["Digest with blanks around the equals signs", 'Digest username = "a", realm = "b"'],
    ["Digest with a comma and blanks inside a quoted value", 'Digest username="Doe, John Smith", realm="b"'],
    ["a signature scheme with commas", "AWS4-HMAC-SHA256 Credential=a/b, SignedHeaders=host;date, Signature=c"],
  ])("%s", (_, header) => {
    expect(kindOf(header)).toBe("missing");
  });
});

describe("a malformed token, 5008", () => {
  test.each([
    ["two tokens after one scheme", "Bearer a b"],
    ["two tokens, the scheme in small letters", "bearer a b"],
    ["two tokens with a tab between them", "Bearer a\tb"],
    ["two Bearer headers", "Bearer a, Bearer b"],
    ["the same header twice", "Bearer a, Bearer a"],
    ["two headers joined without a blank", "Bearer a,Bearer b"],
    ["three headers", "Bearer a, Bearer b, Bearer c"],
    ["Bearer, then Basic", "Bearer a, Basic b"],
    ["Basic, then Bearer", "Basic dXNlcg==, Bearer a"],
    ["Basic twice", "Basic YQ, Basic Yg"],
    ["Digest, then Bearer", 'Digest username="a", realm="b", Bearer c'],
    ["Bearer, then Digest", 'Bearer a, Digest username="b", realm="c"'],
    ["an empty Bearer, then a good one", "Bearer, Bearer a"],
    ["a good Bearer, then an empty one", "Bearer a, Bearer"],
    ["an empty header, then a Bearer", ", Bearer a"],
    ["a Bearer, then an empty header", "Bearer a, "],
    ["a list of tokens", "Bearer a,b"],
    ["a blank beyond ASCII after the token", "Bearer gth_x\u00a0"],
    ["one before the token", "Bearer \u00a0gth_x"],
    ["one instead of the blank", "Bearer\u00a0gth_x"],
    ["one before the scheme", "\u00a0Bearer gth_x"],
    ["nothing but one", "Bearer \u00a0"],
    ["a Bearer after characters beyond ASCII", "Basic \u00e9, Bearer a"],
    ["a Bearer after a long header", `Basic ${"x".repeat(AUTHORIZATION_LENGTH_MAX)}, Bearer a`],
  ])("%s", (_, header) => {
    expect(kindOf(header)).toBe("malformed");
  });
});

describe("a token", () => {
  test.each(["Bearer gth_x", "bearer gth_x", "BEARER gth_x", "bEaReR gth_x", "Bearer   gth_x", "  Bearer gth_x  "])(
    "%p carries the token gth_x",
    (header) => {
      expect(parseBearer(header)).toEqual({ kind: "token", token: "gth_x" });
    },
  );

  test("a token keeps its upper and lower case", () => {
    expect(parseBearer("Bearer GtH_AbC.~+/=")).toEqual({ kind: "token", token: "GtH_AbC.~+/=" });
  });

  test("any token without blanks and commas is accepted, with the scheme in any case", () => {
    const scheme = fc.mixedCase(fc.constant("bearer"));
    const token = fc.stringMatching(/^[!-+\--~]+$/);
    fc.assert(
      fc.property(scheme, token, (name, text) => {
        expect(parseBearer(`${name} ${text}`)).toEqual({ kind: "token", token: text });
      }),
    );
  });

  test("two tokens are never parsed as one, however they are joined", () => {
    const token = fc.stringMatching(/^[0-9A-Za-z_]{1,40}$/);
    const joint = fc.constantFrom(" ", "  ", "\t", ",", ", ", " ,", ", Bearer ", ",bearer ");
    fc.assert(
      fc.property(token, joint, token, (first, between, second) => {
        expect(kindOf(`Bearer ${first}${between}${second}`)).toBe("malformed");
      }),
    );
  });

  test("no header makes the parser throw", () => {
    fc.assert(fc.property(fc.string({ unit: "binary" }), (header) => kindOf(header).length > 0));
  });

  test("a header of 100,000 commas and blanks is parsed quickly", () => {
    const spentMs = timeProcessor();
    for (const piece of [",", ", ", " ", ",a ", ", a", "a\t,"]) kindOf(`Basic ${piece.repeat(100_000)}`);
    expect(spentMs()).toBeLessThan(500);
  });
});

test("an unfinished quoted string in the longest header that is parsed is parsed quickly", () => {
  const hostile = 'x "'.padEnd(AUTHORIZATION_LENGTH_MAX, '\\"');
  const spentMs = timeProcessor();
  for (let i = 0; i < 5_000; i++) expect(parseBearer(hostile).kind).toBe("missing");
  // Linear matching takes a tenth of this, quadratic matching several seconds.
  expect(spentMs()).toBeLessThan(1_000);
});

test.each([
  ['Digest username="a, Bearer b', "malformed"],
  ['Digest username="a\\", Bearer b', "malformed"],
  ['Digest username="a\\", Bearer b"', "missing"],
  ['Digest username="a\\\\", Bearer b', "malformed"],
  ['Digest username="a, b\\', "missing"],
])("commas after an unfinished quoted string separate values: %s", (header, kind) => {
  expect<string>(parseBearer(header).kind).toBe(kind);
});

test("a header of 16 kB that is made to be slow to match is parsed quickly", () => {
  const hostile = [`x "${'\\"'.repeat(8_000)}`, `x${", a".repeat(5_000)}`, `Bearer ${" ".repeat(16_000)}x`];
  const spentMs = timeProcessor();
  for (const header of hostile) expect(parseBearer(header).kind).not.toBe("token");
  // Linear matching takes milliseconds, quadratic matching takes seconds.
  expect(spentMs()).toBeLessThan(1_000);
});
