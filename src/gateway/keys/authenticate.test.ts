// Whose request it is, and that remembering headers never outlives a key nor grows without end.
import { describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { type ApiKey, DEFAULT_RIGHTS } from "../../core/api-key.ts";
import { hashToken, mintToken } from "../../core/token.ts";
import { Authenticator, INVALID_TOKEN, MISSING_TOKEN } from "./authenticate.ts";

const NOW = 1_800_000_000_000;

function makeKey(expiresAt: number | null = null): ApiKey {
  const { ipAllow: _, ...rights } = DEFAULT_RIGHTS;
  const grant = { ...rights, allowedFrom: null, isSuspended: false };
  return { keyId: "key_1", serverId: "srv_1", grant, expiresAt };
}

function setUp(keys = new Map<string, ApiKey>()) {
  const lookups: string[] = [];
  const store = {
    version: 0,
    find(tokenHash: string) {
      lookups.push(tokenHash);
      return keys.get(tokenHash);
    },
    findNew: () => undefined,
  };
  return { authenticator: new Authenticator(store), keys, lookups, store };
}

function addToken(keys: Map<string, ApiKey>, key = makeKey()): string {
  const token = mintToken(randomBytes);
  keys.set(hashToken(token), key);
  return token;
}

describe("authenticate", () => {
  test("finds the key behind a valid header, with one lookup for however many requests", () => {
    const { authenticator, keys, lookups } = setUp();
    const token = addToken(keys);
    for (let i = 0; i < 3; i++)
      expect(authenticator.authenticate(`Bearer ${token}`, NOW)).toMatchObject({ keyId: "key_1" });
    expect(lookups).toEqual([hashToken(token)]);
  });

  test("a remembered header is refused once its key is gone or expired", () => {
    const { authenticator, keys, store } = setUp();
    const [revoked, mortal] = [addToken(keys), addToken(keys, makeKey(NOW + 1))];
    for (const token of [revoked, mortal])
      expect(authenticator.authenticate(`Bearer ${token}`, NOW)).toHaveProperty("keyId");
    expect(authenticator.authenticate(`Bearer ${mortal}`, NOW + 1)).toBe(INVALID_TOKEN);
    keys.delete(hashToken(revoked));
    store.version++;
    expect(authenticator.authenticate(`Bearer ${revoked}`, NOW)).toBe(INVALID_TOKEN);
  });

  test("a token whose checksum is wrong is refused without a lookup", () => {
    const { authenticator, lookups } = setUp();
    const token = mintToken(randomBytes);
    const wrong = token.slice(0, -1) + (token.endsWith("0") ? "1" : "0");
    for (const header of [
      `Bearer ${wrong}`,
      "Bearer x",
      `Bearer ${"x".repeat(300)}`,
      "Bearer ÿÿ",
      "Bearer a, Bearer b",
    ]) {
      expect(authenticator.authenticate(header, NOW)).toBe(INVALID_TOKEN);
    }
    expect(authenticator.authenticate(null, NOW)).toBe(MISSING_TOKEN);
    expect(lookups).toEqual([]);
  });

  test("invented tokens, and odd spellings of valid ones, are not remembered", () => {
    const { authenticator, keys } = setUp();
    for (let i = 0; i < 1_000; i++) authenticator.authenticate(`Bearer ${mintToken(randomBytes)}`, NOW);
    const token = addToken(keys);
    for (let spaces = 2; spaces < 400; spaces++)
      authenticator.authenticate(`Bearer${" ".repeat(spaces)}${token}`, NOW);
    expect(authenticator.size).toBe(0);
    authenticator.authenticate(`Bearer ${token}`, NOW);
    expect(authenticator.size).toBe(1);
  });

  test("the memory has a ceiling, starts over when it is reached, and does so once a minute at most", () => {
    const max = 10;
    const { keys, store } = setUp();
    const authenticator = new Authenticator(store, max);
    const meet = (times: number, now: number) => {
      for (let i = 0; i < times; i++)
        expect(authenticator.authenticate(`Bearer ${addToken(keys)}`, now)).toHaveProperty("keyId");
      return authenticator.size;
    };
    expect(meet(max, NOW)).toBe(max);
    expect(meet(1, NOW)).toBe(1);
    expect(meet(max * 2, NOW + 59_999)).toBe(max);
    expect(meet(1, NOW + 60_000)).toBe(1);
  });
});
