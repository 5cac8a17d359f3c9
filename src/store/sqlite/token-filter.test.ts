// The filter contains every added token, and few others.
import { expect, test } from "bun:test";
import { hashToken } from "../../core/token.ts";
import { TokenFilter } from "./token-filter.ts";

const KEYS = 100_000;

test("every added token passes, and about one in eighty of the others", () => {
  const filter = new TokenFilter();
  for (let i = 0; i < KEYS; i++) filter.add(hashToken(`known ${i}`));
  let falsePositives = 0;
  for (let i = 0; i < KEYS; i++) {
    if (!filter.mayContain(hashToken(`known ${i}`))) throw new Error(`token ${i} is missing`);
    if (filter.mayContain(hashToken(`unknown ${i}`))) falsePositives++;
  }
  expect(falsePositives / KEYS).toBeCloseTo(KEYS / 2 ** 23, 2);
});

test("an empty filter contains no token", () => {
  const filter = new TokenFilter();
  for (let i = 0; i < 1_000; i++) expect(filter.mayContain(hashToken(`unknown ${i}`))).toBe(false);
});
