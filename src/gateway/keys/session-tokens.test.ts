import { expect, test } from "bun:test";
import { SECRET_TEXTS } from "../../core/token.ts";
import { SessionTokens } from "./session-tokens.ts";

const NOW = 1_800_000_000_000;
const TOKENS = new SessionTokens("a secret");
const DEVICE = { deviceId: "dev_5tqX0PpV3mYbL1nKcD7w", expiresAt: NOW + 1_000 };

test("a token names its device until it expires, to the millisecond, and only with the same secret", () => {
  const token = TOKENS.mint(DEVICE);
  expect(TOKENS.open(token, NOW + 999)).toEqual(DEVICE);
  expect(new SessionTokens("a secret").open(token, NOW)).toEqual(DEVICE);
  expect(TOKENS.open(token, NOW + 1_000)).toBeUndefined();
  expect(new SessionTokens("another").open(token, NOW)).toBeUndefined();
});

test("a token with any other character is refused", () => {
  const token = TOKENS.mint(DEVICE);
  for (let place = 0; place < token.length; place++) {
    for (const other of "0aZ_-") {
      const altered = token.slice(0, place) + other + token.slice(place + 1);
      if (altered !== token) expect(TOKENS.open(altered, NOW)).toBeUndefined();
    }
  }
  for (const other of ["", "gts_", `${token}A`, ` ${token}`, token.slice(0, -1), `${token}\n`])
    expect(TOKENS.open(other, NOW)).toBeUndefined();
});

test("a token is recognised as a secret", () => {
  const token = TOKENS.mint(DEVICE);
  expect(`Bearer ${token}.`.replace(SECRET_TEXTS, "x")).toBe("Bearer x.");
});
