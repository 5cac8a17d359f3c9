import { expect, test } from "bun:test";
import { type GrantedToken, RenewedToken } from "./renewed-token.ts";

const LIFE_MS = 900_000;

function setUp() {
  const clock = { now: 1_000 };
  const pending: ((granted: GrantedToken | undefined) => void)[] = [];
  const grant = () => new Promise<GrantedToken | undefined>((resolve) => pending.push(resolve));
  const token = new RenewedToken({ token: "one", sessionId: "ses_a", lifetimeMs: LIFE_MS }, grant, () => clock.now);
  return { clock, pending, token };
}

test("a fresh token is used without a request", async () => {
  const { clock, pending, token } = setUp();
  clock.now += LIFE_MS * 0.6;
  expect(await token.current()).toBe("one");
  expect(pending).toHaveLength(0);
});

test("a token that will soon expire is used on while one request renews it", async () => {
  const { clock, pending, token } = setUp();
  clock.now += LIFE_MS * 0.7;
  expect([await token.current(), await token.current()]).toEqual(["one", "one"]);
  expect(pending).toHaveLength(1);
  pending[0]?.({ token: "two", sessionId: "ses_a", lifetimeMs: LIFE_MS });
  await Bun.sleep(0);
  expect(await token.current()).toBe("two");
  expect(pending).toHaveLength(1);
});

test("everybody waits for the one renewal of an expired token", async () => {
  const { clock, pending, token } = setUp();
  clock.now += LIFE_MS;
  const asked = [token.current(), token.current(), token.replace("one")];
  expect(pending).toHaveLength(1);
  pending[0]?.({ token: "two", sessionId: "ses_a", lifetimeMs: LIFE_MS });
  expect(await Promise.all(asked)).toEqual(["two", "two", "two"]);
});

test("a failed renewal leaves the token in use, and is tried again after a while", async () => {
  const { clock, pending, token } = setUp();
  clock.now += LIFE_MS * 0.7;
  await token.current();
  pending[0]?.(undefined);
  await Bun.sleep(0);
  expect(await token.current()).toBe("one");
  expect(pending).toHaveLength(1);
  clock.now += 20_000;
  await token.current();
  expect(pending).toHaveLength(2);
});

test("a refused token is replaced once; when there is no other, the refusal stands", async () => {
  const { pending, token } = setUp();
  const replaced = token.replace("one");
  pending[0]?.({ token: "two", sessionId: "ses_a", lifetimeMs: LIFE_MS });
  expect(await replaced).toBe("two");
  // The request that was sent with the first token needs no further one.
  expect(await token.replace("one")).toBe("two");
  expect(pending).toHaveLength(1);
  const refused = token.replace("two");
  pending[1]?.(undefined);
  expect(await refused).toBeUndefined();
});

test("a token of another session is never used: another tab has signed this browser in anew", async () => {
  const { pending, token } = setUp();
  const replaced = token.replace("one");
  pending[0]?.({ token: "other", sessionId: "ses_b", lifetimeMs: LIFE_MS });
  expect(await replaced).toBeUndefined();
  expect(await token.current()).toBe("one");
});
