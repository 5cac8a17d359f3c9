import { describe, expect, test } from "bun:test";
import { parseRedisAddress } from "./parse-address.ts";

const LOCAL = { isCluster: false, isTls: false, username: undefined, password: undefined, database: 0 };

describe("the address of a Redis", () => {
  test.each([
    ["redis://cache", { ...LOCAL, nodes: [{ host: "cache", port: 6379 }] }],
    [
      "rediss://me:p%40ss@[::1]:7000/3",
      {
        ...LOCAL,
        nodes: [{ host: "::1", port: 7000 }],
        isTls: true,
        username: "me",
        password: "p@ss",
        database: 3,
      },
    ],
    [
      "redis+cluster://a,b:7001",
      {
        ...LOCAL,
        isCluster: true,
        nodes: [
          { host: "a", port: 6379 },
          { host: "b", port: 7001 },
        ],
      },
    ],
    [
      "redis+sentinel://:secret@a,b:5000/town",
      {
        ...LOCAL,
        primaryName: "town",
        password: "secret",
        nodes: [
          { host: "a", port: 26_379 },
          { host: "b", port: 5000 },
        ],
      },
    ],
    [
      "rediss+sentinel://a/my.town/2",
      { ...LOCAL, primaryName: "my.town", isTls: true, database: 2, nodes: [{ host: "a", port: 26_379 }] },
    ],
  ])("%s", (text, expected) => {
    expect(parseRedisAddress(text)).toEqual(expected);
  });

  test.each([
    "http://a",
    "redis://",
    "redis://a,b",
    "redis://a:0",
    "redis://a:70000",
    "redis://a/town",
    "redis://a/0?x=1",
    "redis://%zz@a",
    "redis+cluster://a,b/1",
    "redis+cluster://a,,b",
    "redis+sentinel://a",
    "redis+sentinel://a/",
    "redis+sentinel://a/0/town",
    "redis+sentinel://a/town/x",
  ])("is refused: %s", (text) => {
    expect(parseRedisAddress(text)).toBeUndefined();
  });
});
