import { expect, test } from "bun:test";
import { judgeKeyState, type KeyState } from "./key-state.ts";

const NOW = 1_800_000_000_000;
const USABLE = { revoked_at: null, expires_at: null, suspended: false };

test.each<[string, Parameters<typeof judgeKeyState>[0], KeyState]>([
  ["a usable key", USABLE, "active"],
  ["a key that expires later", { ...USABLE, expires_at: NOW + 1 }, "active"],
  ["a key at its very end", { ...USABLE, expires_at: NOW }, "expired"],
  ["a suspended key", { ...USABLE, suspended: true }, "suspended"],
  ["a suspended key that has expired", { ...USABLE, suspended: true, expires_at: NOW - 1 }, "expired"],
  ["a revoked key", { revoked_at: NOW, expires_at: NOW - 1, suspended: true }, "revoked"],
])("%s", (_, key, state) => {
  expect(judgeKeyState(key, NOW)).toBe(state);
});
