import { expect, test } from "bun:test";
import { isMatchingKey, judgeKeyState, type KeyState, type StateFields } from "./key-state.ts";

const NOW = 1_800_000_000_000;
const USABLE: StateFields = { revokedAt: null, expiresAt: null, isSuspended: false };
const SUSPENDED: StateFields = { ...USABLE, isSuspended: true };

test.each<[string, StateFields, boolean, KeyState]>([
  ["a usable key", USABLE, false, "active"],
  ["a key that expires later", { ...USABLE, expiresAt: NOW + 1 }, false, "active"],
  ["a blocked key", USABLE, true, "blocked"],
  ["a key at its very end", { ...USABLE, expiresAt: NOW }, false, "expired"],
  ["a suspended key", SUSPENDED, false, "suspended"],
  ["a suspended key that is blocked", SUSPENDED, true, "suspended"],
  ["a suspended, blocked key that has expired", { ...SUSPENDED, expiresAt: NOW - 1 }, true, "expired"],
  ["a revoked key to which all apply", { ...SUSPENDED, revokedAt: NOW, expiresAt: NOW - 1 }, true, "revoked"],
])("%s", (_, key, isBlocked, state) => {
  expect(judgeKeyState(key, isBlocked, NOW)).toBe(state);
});

test("a key is found by any part of its label, in upper or lower case of any alphabet, and by its state", () => {
  const key = { ...USABLE, label: "Бот Älpha_50%" };
  for (const label of ["бот", "БОТ Ä", "äLPHA", "_50%", "%", ""]) {
    expect(isMatchingKey({ label, now: NOW }, key, false)).toBe(true);
  }
  for (const label of ["alpha", "b", "Älpha 50"]) expect(isMatchingKey({ label, now: NOW }, key, false)).toBe(false);
  expect(isMatchingKey({ state: "active", now: NOW }, key, false)).toBe(true);
  expect(isMatchingKey({ state: "active", now: NOW }, key, true)).toBe(false);
  expect(isMatchingKey({ label: "бот", state: "blocked", now: NOW }, key, true)).toBe(true);
  expect(isMatchingKey({ label: "other", state: "blocked", now: NOW }, key, true)).toBe(false);
});
