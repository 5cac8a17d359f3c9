// The options of the long runs: what is understood, and what is refused with a sentence.
import { expect, test } from "bun:test";
import { readOptions } from "./long-run.ts";

const RUN = {
  name: "walk",
  about: "walks",
  options: {
    count: { kind: "number", about: "how many steps", usual: 10, min: 1, max: 1_000 },
    hours: { kind: "number", about: "how long", usual: 0.5, min: 0, max: 24, isFraction: true },
    slowly: { kind: "flag", about: "walk slowly" },
  },
} as const;

test("what is not given has its usual value, and a seed is chosen", () => {
  const asked = readOptions(RUN, []);
  expect(asked).toEqual({
    values: { count: 10, hours: 0.5, slowly: false },
    seed: expect.any(Number),
    isJson: false,
  });
});

test("what is given is used", () => {
  const asked = readOptions(RUN, ["--count", "3", "--hours", "0.25", "--slowly", "--json", "--seed", "7"]);
  expect(asked).toEqual({ values: { count: 3, hours: 0.25, slowly: true }, seed: 7, isJson: true });
});

test.each([
  ["--count", "0", '--count takes a whole number from 1 to 1000, not "0"'],
  ["--count", "1.5", '--count takes a whole number from 1 to 1000, not "1.5"'],
  ["--count", "many", '--count takes a whole number from 1 to 1000, not "many"'],
  ["--hours", "25", '--hours takes a number from 0 to 24, not "25"'],
  ["--hours", "", '--hours takes a number from 0 to 24, not ""'],
])("%s %s is refused", (option, value, complaint) => {
  expect(readOptions(RUN, [option, value])).toEqual({ complaint });
});

test("an unknown option is refused", () => {
  expect(readOptions(RUN, ["--fast"])).toEqual({ complaint: expect.stringContaining("--fast") });
});

test("help names every option", () => {
  const asked = readOptions(RUN, ["--help"]);
  const help = "help" in asked ? asked.help : "";
  for (const option of ["--count N", "--hours N", "--slowly", "--seed N", "--json"]) expect(help).toContain(option);
});
