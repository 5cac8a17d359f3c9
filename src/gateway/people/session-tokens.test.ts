import { expect, test } from "bun:test";
import { SECRET_TEXTS } from "../../core/keys/token.ts";
import { SessionTokens } from "./session-tokens.ts";

const NOW = 1_800_000_000_000;
const TOKENS = new SessionTokens("a secret");
const SESSION = { sessionId: "ses_5tqX0PpV3mYbL1nKcD7w", expiresAt: NOW + 1_000 };
const FOR_SERVER = { ...SESSION, serverId: "srv_Zb7Yq1x0PpV3mYbL1nKc" };
const FOR_ADMIN = { ...SESSION, serverId: null };

test("a token names its session and what it is for until it expires, to the millisecond, and only with the same secret", () => {
  for (const granted of [FOR_SERVER, FOR_ADMIN]) {
    const token = TOKENS.mint(granted);
    expect(TOKENS.open(token, NOW + 999)).toEqual(granted);
    expect(new SessionTokens("a secret").open(token, NOW)).toEqual(granted);
    expect(TOKENS.open(token, NOW + 1_000)).toBeUndefined();
    expect(new SessionTokens("another").open(token, NOW)).toBeUndefined();
  }
});

test("a token with any other character is refused, and so is one with a part of another", () => {
  for (const granted of [FOR_SERVER, FOR_ADMIN]) {
    const token = TOKENS.mint(granted);
    for (let place = 0; place < token.length; place++) {
      for (const other of "0aZ_-.") {
        const altered = token.slice(0, place) + other + token.slice(place + 1);
        if (altered !== token) expect(TOKENS.open(altered, NOW)).toBeUndefined();
      }
    }
    for (const other of ["", "gts_", `${token}A`, ` ${token}`, token.slice(0, -1), `${token}\n`])
      expect(TOKENS.open(other, NOW)).toBeUndefined();
  }
  const server = TOKENS.mint(FOR_SERVER);
  expect(TOKENS.open(server.replace("Zb7Yq1x0PpV3mYbL1nKc", "admin"), NOW)).toBeUndefined();
});

test("a token is recognised as a secret", () => {
  for (const granted of [FOR_SERVER, FOR_ADMIN])
    expect(`Bearer ${TOKENS.mint(granted)}.`.replace(SECRET_TEXTS, "x")).toBe("Bearer x.");
});
