// Keys of other servers are recognised, and what is held is bounded.
import { expect, test } from "bun:test";
import { KNOWN_KEYS_MAX, KnownKeys } from "./secret-patterns.ts";

test("a key and its long parts are known, in either case; its short parts and other texts are not", () => {
  const keys = new KnownKeys();
  keys.add("short-LongerPart99");
  expect(["short-longerpart99", "LONGERPART99"].map((text) => keys.has(text))).toEqual([true, true]);
  expect(["short", "short-LongerPart98", ""].map((text) => keys.has(text))).toEqual([false, false, false]);
});

test("beyond the maximum the oldest key is forgotten", () => {
  const keys = new KnownKeys();
  for (let i = 0; i <= KNOWN_KEYS_MAX; i++) keys.add(`key-Number${i}`);
  expect(keys.has("key-Number0")).toBe(false);
  expect(keys.has("key-Number1")).toBe(true);
  expect(keys.has(`key-Number${KNOWN_KEYS_MAX}`)).toBe(true);
});
