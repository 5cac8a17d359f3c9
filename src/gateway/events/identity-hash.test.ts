// Hashes of identities, and how long they are kept.
import { expect, test } from "bun:test";
import { CACHED_MS, createIdentityHash, HashCache } from "./identity-hash.ts";

function makeCache() {
  const hashed: string[] = [];
  const time = { now: 1_000_000 };
  const cache = new HashCache(
    (text) => {
      hashed.push(text);
      return `hash of ${text}`;
    },
    () => time.now,
  );
  return { cache, hashed, time };
}

test("the same identity has the same hash, and another secret gives another one", () => {
  const hash = createIdentityHash("a".repeat(32), Date.now);
  expect(hash("one")).toBe(hash("one"));
  expect(hash("one")).toMatch(/^[\w-]{22}$/);
  expect(hash("one")).not.toBe(hash("two"));
  expect(hash("one")).not.toBe(createIdentityHash("b".repeat(32), Date.now)("one"));
});

test("an identity that comes again with every reading is hashed once", () => {
  const { cache, hashed, time } = makeCache();
  for (let readings = 0; readings < 100; readings++) {
    expect(cache.get("entry")).toBe("hash of entry");
    time.now += 5_000;
  }
  expect(hashed).toEqual(["entry"]);
});

test("an identity that left its list is forgotten, so that memory does not grow with time", () => {
  const { cache, hashed, time } = makeCache();
  cache.get("gone");
  for (let minutes = 0; minutes < 2; minutes++) {
    time.now += CACHED_MS;
    cache.get("still there");
  }
  cache.get("gone");
  expect(hashed).toEqual(["gone", "still there", "gone"]);
});

test("a clock that is set back does not keep hashes for ever", () => {
  const { cache, hashed, time } = makeCache();
  cache.get("gone");
  for (let turns = 0; turns < 2; turns++) {
    time.now -= CACHED_MS;
    cache.get("still there");
  }
  cache.get("gone");
  expect(hashed).toEqual(["gone", "still there", "gone"]);
});
