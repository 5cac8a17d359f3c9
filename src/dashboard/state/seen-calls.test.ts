import { describe, expect, test } from "bun:test";
import {
  changeSeenCalls,
  MARK_AGE_MAX_MS,
  MARKS_MAX,
  parseSeenCalls,
  SERVERS_MAX,
  type SeenCalls,
  writeSeenCalls,
} from "./seen-calls.ts";

const NOW = 1_800_000_000_000;
const EMPTY: SeenCalls = new Map();

const mark = (seen: SeenCalls, serverId: string, key: string, now = NOW) =>
  changeSeenCalls(seen, { serverId, keys: [key], isSeen: true }, now);
const keysOf = (seen: SeenCalls, serverId: string) => Array.from(seen.get(serverId)?.keys() ?? []);

describe("marks of seen calls", () => {
  test("are for one server, last through a reload, and can be taken back", () => {
    let seen = mark(mark(EMPTY, "town", "call 1"), "city", "call 2");
    seen = parseSeenCalls(writeSeenCalls(seen), NOW);
    expect(keysOf(seen, "town")).toEqual(["call 1"]);
    expect(keysOf(seen, "city")).toEqual(["call 2"]);
    seen = changeSeenCalls(seen, { serverId: "town", keys: ["call 1"], isSeen: false }, NOW);
    expect(Array.from(seen.keys())).toEqual(["city"]);
  });

  test("are forgotten after a week, in what is stored and in what is kept", () => {
    const seen = mark(EMPTY, "town", "old");
    const text = writeSeenCalls(seen);
    const later = NOW + MARK_AGE_MAX_MS;
    expect(keysOf(parseSeenCalls(text, later), "town")).toEqual(["old"]);
    expect(parseSeenCalls(text, later + 1).size).toBe(0);
    expect(keysOf(mark(seen, "town", "new", later + 1), "town")).toEqual(["new"]);
  });

  test("are limited in number: the oldest are dropped, of a server and of all servers", () => {
    let seen = EMPTY;
    for (let index = 0; index <= MARKS_MAX; index++) seen = mark(seen, "town", `call ${index}`, NOW + index);
    expect(seen.get("town")?.size).toBe(MARKS_MAX);
    expect(keysOf(seen, "town")).not.toContain("call 0");
    for (let index = 0; index < SERVERS_MAX; index++)
      seen = mark(seen, `server ${index}`, "call", NOW + 1_000 + index);
    expect(seen.size).toBe(SERVERS_MAX);
    expect(seen.has("town")).toBe(false);
  });

  test("a key that is too long is not kept", () => {
    expect(mark(EMPTY, "town", "x".repeat(1_000)).size).toBe(0);
  });
});

describe("what is stored may be anything", () => {
  test("text that this page has not written gives no marks", () => {
    const texts = [null, "", "{", "null", "7", '"x"', "[]", '[["town"]]', '{"town":7}', '{"town":["call"]}'];
    for (const text of [
      ...texts,
      '{"town":{"call":"yes"}}',
      '{"town":{"call":1e999}}',
      " ".repeat(10_000_000),
    ]) {
      expect(parseSeenCalls(text, NOW).size).toBe(0);
    }
  });

  test("what is usable of it is kept", () => {
    const text = `{"town":{"call":${NOW},"bad":null},"__proto__":{"call":${NOW}},"city":null}`;
    const seen = parseSeenCalls(text, NOW);
    expect(Array.from(seen.keys()).toSorted()).toEqual(["__proto__", "town"]);
    expect(keysOf(seen, "town")).toEqual(["call"]);
    expect(({} as { readonly call?: unknown }).call).toBeUndefined();
    expect(parseSeenCalls(writeSeenCalls(seen), NOW)).toEqual(seen);
  });

  test("a mark from the future grows old like one from now", () => {
    const seen = parseSeenCalls(`{"town":{"call":${NOW * 2}}}`, NOW);
    expect(seen.get("town")?.get("call")).toBe(NOW);
  });
});
