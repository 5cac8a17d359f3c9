import { expect, test } from "bun:test";
import { AddressLimit, ASKING_ADDRESSES_MAX } from "./public-statuses.ts";

const NOW = 1_800_000_000_000;

test("an address asks sixty times in any minute, and others are not concerned", () => {
  const limit = new AddressLimit();
  for (let n = 0; n < 60; n++) expect(limit.judge("203.0.113.7", NOW + n * 500)).toBeUndefined();
  const refusal = limit.judge("203.0.113.7", NOW + 30_000);
  expect(refusal?.refused.status).toBe(429);
  expect(refusal?.headers?.["Retry-After"]).toBe("30");
  expect(limit.judge("203.0.113.8", NOW + 30_000)).toBeUndefined();
  expect(limit.judge("203.0.113.7", NOW + 60_000)).toBeUndefined();
});

test("all addresses of an IPv6 network of 64 bits count together", () => {
  const limit = new AddressLimit();
  for (let n = 0; n < 60; n++) limit.judge(`2001:db8:1:2::${n.toString(16)}`, NOW);
  expect(limit.judge("2001:db8:1:2:ffff::1", NOW)).toBeDefined();
  expect(limit.judge("2001:db8:1:3::1", NOW)).toBeUndefined();
});

test("however many addresses ask, only so many are remembered", () => {
  const limit = new AddressLimit();
  for (let n = 0; n < ASKING_ADDRESSES_MAX + 10; n++) limit.judge(`10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`, NOW);
  expect(limit.size).toBe(ASKING_ADDRESSES_MAX);
});
