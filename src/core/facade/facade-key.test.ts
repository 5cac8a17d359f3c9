import { describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { SERVER_KEY_SHAPE } from "../game-server.ts";
import { isWellFormedToken, mintToken, SECRET_TEXTS } from "../keys/token.ts";
import { facadeKeyOf, parseServerKeyHeader } from "./facade-key.ts";

const TOKEN = "gth_0123456789abcdefghijABCDEFGHIJ123456";
const KEY = "gth0123456789abcdefghijABCDEFGHIJ123456-srvAb9";

describe("a façade key", () => {
  test("is the token without its underscore, a hyphen, and the letters and digits of the server's id", () => {
    expect(facadeKeyOf(TOKEN, "srv_Ab9")).toBe(KEY);
    expect(KEY).toMatch(SERVER_KEY_SHAPE);
  });

  test("leads back to its token", () => {
    const token = mintToken(randomBytes);
    const parsed = parseServerKeyHeader(facadeKeyOf(token, "srv_5tqX0PpV3mYbL1nKcD7w"));
    expect(parsed).toEqual({ kind: "token", token, home: "srv5tqX0PpV3mYbL1nKcD7w" });
    expect(parseServerKeyHeader(` ${token} `)).toEqual({ kind: "token", token, home: null });
  });

  test("is no token by itself, and is redacted from logs", () => {
    expect(isWellFormedToken(KEY)).toBe(false);
    expect(`key ${KEY}.`.replace(SECRET_TEXTS, "x")).toBe("key x.");
  });
});

describe("a server-key header", () => {
  test.each([
    ["missing", null],
    ["missing", ""],
    ["missing", "  "],
    ["malformed", "abc"],
    ["malformed", "abc-"],
    ["malformed", "abc-def-ghi"],
    ["malformed", "abc-def, abc-def"],
    ["malformed", "gth_tooShort"],
    ["malformed", "gts_abc"],
    ["unknown", "abc-def"],
    ["unknown", `${"a".repeat(200)}-b`],
    ["unknown", `gth${"a".repeat(35)}-srvAb9`],
  ])("is %s: %p", (kind, header) => {
    expect(parseServerKeyHeader(header)).toEqual({ kind } as never);
  });
});
