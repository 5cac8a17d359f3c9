// Which sections a query requests: those with exactly `true` every time they are named, after URL decoding.
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { timeProcessor } from "../../test/processor-time.ts";
import { parseSections, toSectionNames, toSectionSet } from "./sections.ts";

const NAMES = [
  "Players",
  "Staff",
  "JoinLogs",
  "Queue",
  "KillLogs",
  "CommandLogs",
  "ModCalls",
  "EmergencyCalls",
  "Vehicles",
];

const requestedBy = (query: string): string[] => toSectionNames(parseSections(query));

describe("a section is included", () => {
  test.each(NAMES)("%s when it is requested with true", (name) => {
    expect(requestedBy(`${name}=true`)).toEqual([name]);
  });

  test("all nine, in the order of the specification, whatever the order in the query", () => {
    const query = NAMES.toReversed().map((name) => `${name}=true`);
    expect(requestedBy(query.join("&"))).toEqual(NAMES);
  });

  test.each([
    ["when every value given for it is true", "Queue=true&Queue=true&Queue=true"],
    ["when its name is percent-encoded", "%51ueue=true"],
    ["when its value is percent-encoded", "Queue=%74%72%75%65"],
    ["beside empty parameters", "&&Queue=true&&"],
    ["beside unknown parameters", "x=1&Queue=true&banana=&queue=false"],
    ["beside another one that is spoiled", "Queue=true&Staff=1"],
    ["beside a broken escape", "%=%ZZ&Queue=true&%E0%A4%A=1"],
  ])("%s", (_, query) => {
    expect(requestedBy(query)).toEqual(["Queue"]);
  });
});

describe("a section is omitted", () => {
  test.each([
    ["without a query", ""],
    ["for 1", "Players=1"],
    ["for TRUE", "Players=TRUE"],
    ["for True", "Players=True"],
    ["for yes", "Players=yes"],
    ["for banana", "Players=banana"],
    ["for false", "Players=false"],
    ["for an empty value", "Players="],
    ["for no value", "Players"],
    ["for a blank before true", "Players=+true"],
    ["for a blank after true", "Players=true%20"],
    ["for a null byte after true", "Players=true%00"],
    ["for a byte order mark before true", "Players=%EF%BB%BFtrue"],
    ["for a second equals sign", "Players==true"],
    ["for true and false", "Players=true&Players=false"],
    ["for false and true", "Players=false&Players=true"],
    ["for true and nothing", "Players=true&Players"],
    ["for a mix in two spellings of the name", "Players=true&%50layers=0"],
    ["for a name in small letters", "players=true"],
    ["for a name in capitals", "PLAYERS=true"],
    ["for a name with a blank", "Players%20=true"],
    ["for a name with brackets", "Players[]=true"],
    ["for a semicolon as separator", "x=1;Players=true"],
    ["for a name after a second question mark", "?Players=true"],
    ["for a double encoding", "%2550layers=true"],
  ])("%s, and that is no error", (_, query) => {
    expect(requestedBy(query)).toEqual([]);
  });

  test.each(["__proto__", "constructor", "toString", "hasOwnProperty", "0", "length"])(
    "a parameter named %s is ignored",
    (name) => {
      expect(requestedBy(`${name}=true&Staff=true`)).toEqual(["Staff"]);
      expect(toSectionSet([name])).toBe(0);
    },
  );
});

test("a query of 10,000 parameters is parsed completely and quickly", () => {
  const filler = Array.from({ length: 10_000 }, (_, i) => `p${i}=true`).join("&");
  const spentMs = timeProcessor();
  expect(requestedBy(`Staff=true&${filler}&Queue=true`)).toEqual(["Staff", "Queue"]);
  expect(requestedBy(`Staff=true&${filler}&Staff=no`)).toEqual([]);
  expect(spentMs()).toBeLessThan(500);
});

test("a set made from names gives the same names back, in the order of the specification", () => {
  fc.assert(
    fc.property(fc.shuffledSubarray(NAMES), (names) => {
      expect(toSectionNames(toSectionSet(names)) as string[]).toEqual(NAMES.filter((name) => names.includes(name)));
    }),
  );
});

/** A simple implementation: decodes the query as the URL standard says, then applies the rule. */
function expectedFrom(query: string): string[] {
  const pairs = query.split("&").map((part) => {
    const [name = "", ...rest] = part.split("=");
    return { name: decode(name), value: decode(rest.join("=")) };
  });
  return NAMES.filter((name) => {
    const values = pairs.filter((pair) => pair.name === name).map((pair) => pair.value);
    return values.length > 0 && values.every((value) => value === "true");
  });
}

function decode(text: string): string {
  const bytes: number[] = [];
  const source = Buffer.from(text.replaceAll("+", " "), "utf8");
  for (let i = 0; i < source.length; i++) {
    const hex = source.subarray(i + 1, i + 3).toString("latin1");
    const isEscape = source[i] === 0x25 && /^[0-9A-Fa-f]{2}$/.test(hex);
    bytes.push(isEscape ? Number.parseInt(hex, 16) : (source[i] ?? 0));
    if (isEscape) i += 2;
  }
  return Buffer.from(bytes).toString("utf8");
}

const escapeSome = (text: string) =>
  fc.array(fc.boolean(), { minLength: text.length, maxLength: text.length }).map((isEscaped) => {
    return [...text].map((char, i) => (isEscaped[i] ? `%${char.charCodeAt(0).toString(16)}` : char)).join("");
  });
const spelled = (...texts: string[]) =>
  fc.constantFrom(...texts).chain((text) => fc.oneof(fc.constant(text), escapeSome(text)));
const piece = fc.oneof(
  { weight: 5, arbitrary: fc.tuple(spelled(...NAMES), spelled("true")).map((pair) => pair.join("=")) },
  {
    weight: 2,
    arbitrary: fc.tuple(spelled(...NAMES), spelled("1", "TRUE", "", "true ", "tru")).map((pair) => pair.join("=")),
  },
  { weight: 1, arbitrary: spelled(...NAMES, "__proto__=true", "?Players=true", "%", "=", "==", "+") },
  { weight: 1, arbitrary: fc.string() },
);

test("for any query the sections are those of a simple implementation", () => {
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const query = pieces.join("&");
      expect(requestedBy(query)).toEqual(expectedFrom(query));
    }),
    { numRuns: 3_000, seed: 7 },
  );
});
