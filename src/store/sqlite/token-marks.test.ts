// No token that was added is ever turned away, and most that were not are.
import { expect, test } from "bun:test";
import { hashToken } from "../../core/token.ts";
import { TokenMarks } from "./token-marks.ts";

const KEYS = 100_000;

test("every token that was added may be known, and of those that were not about one in eighty", () => {
  const marks = new TokenMarks();
  for (let i = 0; i < KEYS; i++) marks.add(hashToken(`known ${i}`));
  let mistaken = 0;
  for (let i = 0; i < KEYS; i++) {
    if (!marks.mayHave(hashToken(`known ${i}`))) throw new Error(`token ${i} was turned away`);
    if (marks.mayHave(hashToken(`invented ${i}`))) mistaken++;
  }
  expect(mistaken / KEYS).toBeCloseTo(KEYS / 2 ** 23, 2);
});

test("without any token there is nothing to look for", () => {
  const marks = new TokenMarks();
  for (let i = 0; i < 1_000; i++) expect(marks.mayHave(hashToken(`invented ${i}`))).toBe(false);
});
