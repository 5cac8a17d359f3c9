// Finding the key of a request: cached headers are never used after their key is gone, and the cache has a maximum size.
import { describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import type { Refusal } from "../../core/errors.ts";
import { type ApiKey, DEFAULT_RIGHTS, ROLE_FORBIDDEN } from "../../core/keys/api-key.ts";
import { hashToken, mintToken } from "../../core/keys/token.ts";
import { Authenticator, INVALID_TOKEN, MISSING_TOKEN } from "./authenticate.ts";

const NOW = 1_800_000_000_000;
const NO_HANDLES = { openHandle: () => undefined };

function makeKey(expiresAt: number | null = null): ApiKey {
  const { ipAllow: _, ...rights } = DEFAULT_RIGHTS;
  const grant = { ...rights, may: 0, allowedFrom: null, isSuspended: false };
  return { keyId: "key_1", serverId: "srv_1", label: "bot", grant, expiresAt, person: null };
}

function setUp(keys = new Map<string, ApiKey>()) {
  const lookups: string[] = [];
  const store = {
    version: 0,
    find(tokenHash: string) {
      lookups.push(tokenHash);
      return keys.get(tokenHash);
    },
  };
  return { authenticator: new Authenticator(store, NO_HANDLES), keys, lookups, store };
}

function addToken(keys: Map<string, ApiKey>, key = makeKey()): string {
  const token = mintToken(randomBytes);
  keys.set(hashToken(token), key);
  return token;
}

describe("authenticate", () => {
  test("finds the key of a valid header with one lookup for any number of requests", () => {
    const { authenticator, keys, lookups } = setUp();
    const token = addToken(keys);
    for (let i = 0; i < 3; i++)
      expect(authenticator.authenticate(`Bearer ${token}`, NOW)).toMatchObject({ keyId: "key_1" });
    expect(lookups).toEqual([hashToken(token)]);
  });

  test("a cached header is refused once its key is gone or expired", () => {
    const { authenticator, keys, store } = setUp();
    const [revoked, expiring] = [addToken(keys), addToken(keys, makeKey(NOW + 1))];
    for (const token of [revoked, expiring])
      expect(authenticator.authenticate(`Bearer ${token}`, NOW)).toHaveProperty("keyId");
    expect(authenticator.authenticate(`Bearer ${expiring}`, NOW + 1)).toBe(INVALID_TOKEN);
    keys.delete(hashToken(revoked));
    store.version++;
    expect(authenticator.authenticate(`Bearer ${revoked}`, NOW)).toBe(INVALID_TOKEN);
  });

  test("a token with a wrong checksum is refused without a lookup", () => {
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

  test("unknown tokens, and unusual spellings of valid headers, are not cached", () => {
    const { authenticator, keys } = setUp();
    for (let i = 0; i < 1_000; i++) authenticator.authenticate(`Bearer ${mintToken(randomBytes)}`, NOW);
    const token = addToken(keys);
    for (let spaces = 2; spaces < 400; spaces++) authenticator.authenticate(`Bearer${" ".repeat(spaces)}${token}`, NOW);
    expect(authenticator.size).toBe(0);
    authenticator.authenticate(`Bearer ${token}`, NOW);
    expect(authenticator.size).toBe(1);
  });

  test("a full cache is cleared, at most once a minute", () => {
    const max = 10;
    const { keys, store } = setUp();
    const authenticator = new Authenticator(store, NO_HANDLES, undefined, max);
    const authenticateNew = (times: number, now: number) => {
      for (let i = 0; i < times; i++)
        expect(authenticator.authenticate(`Bearer ${addToken(keys)}`, now)).toHaveProperty("keyId");
      return authenticator.size;
    };
    expect(authenticateNew(max, NOW)).toBe(max);
    expect(authenticateNew(1, NOW)).toBe(1);
    expect(authenticateNew(max * 2, NOW + 59_999)).toBe(max);
    expect(authenticateNew(1, NOW + 60_000)).toBe(1);
  });

  test("a new key that was revoked between its lookup and its answer is refused, and not cached", async () => {
    const { keys } = setUp();
    const token = addToken(keys);
    const answers: (ApiKey | undefined)[] = [makeKey(), undefined];
    const store = {
      version: 0,
      async find() {
        store.version = 1;
        return answers.shift();
      },
    };
    const authenticator = new Authenticator(store, NO_HANDLES);
    expect(await authenticator.authenticate(`Bearer ${token}`, NOW)).toBe(INVALID_TOKEN);
    expect(authenticator.size).toBe(0);
  });
});

describe("the token of a person", () => {
  const TOKEN = "gts_5tqX0PpV3mYbL1nKcD7w.srv.0mwh6wq80.x";
  const HEADER = `Bearer ${TOKEN}`;

  function setUpPerson(find: (token: string) => Promise<ApiKey | Refusal>) {
    const store = { version: 0, find: () => undefined };
    let lookups = 0;
    const findCaller = (token: string) => {
      lookups++;
      return find(token);
    };
    const authenticator = new Authenticator(store, NO_HANDLES, { findCaller });
    return { authenticator, store, countLookups: () => lookups };
  }

  test("is looked up once for any number of requests, and again after any change", async () => {
    const { authenticator, store, countLookups } = setUpPerson(async () => makeKey());
    for (let i = 0; i < 3; i++) expect(await authenticator.authenticate(HEADER, NOW)).toMatchObject({ keyId: "key_1" });
    expect(countLookups()).toBe(1);
    expect(authenticator.sessions).toBe(1);
    store.version++;
    await authenticator.authenticate(HEADER, NOW);
    expect(countLookups()).toBe(2);
  });

  test("is refused from the millisecond in which it expires, although it is cached", async () => {
    const { authenticator } = setUpPerson(async () => makeKey(NOW + 1));
    expect(await authenticator.authenticate(HEADER, NOW)).toMatchObject({ keyId: "key_1" });
    expect(await authenticator.authenticate(HEADER, NOW + 1)).toBe(INVALID_TOKEN);
  });

  test("a refusal is not cached, and nobody is a person where there are none", async () => {
    const { authenticator, countLookups } = setUpPerson(async () => ROLE_FORBIDDEN);
    for (let i = 0; i < 2; i++) expect(await authenticator.authenticate(HEADER, NOW)).toBe(ROLE_FORBIDDEN);
    expect(countLookups()).toBe(2);
    expect(await setUp().authenticator.authenticate(HEADER, NOW)).toBe(INVALID_TOKEN);
  });

  test("a person who was signed out between the lookup and its answer is refused, and not cached", async () => {
    const answers: (() => Promise<ApiKey | Refusal>)[] = [async () => makeKey(), async () => INVALID_TOKEN];
    const { authenticator, store } = setUpPerson(async () => {
      const answer = await answers.shift()?.();
      store.version = 1;
      return answer ?? INVALID_TOKEN;
    });
    expect(await authenticator.authenticate(HEADER, NOW)).toBe(INVALID_TOKEN);
    expect(authenticator.sessions).toBe(0);
  });
});
