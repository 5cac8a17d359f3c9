import { expect, test } from "bun:test";
import { parseConfig } from "./config.ts";
import { findGameKeyProblem, PUBLISHED_GAME_KEY } from "./core/game-public-key.ts";

test("the published key is one, and is used when nothing is set", () => {
  expect(findGameKeyProblem(PUBLISHED_GAME_KEY)).toBeUndefined();
  expect(parseConfig({}).gamePublicKey).toBe(PUBLISHED_GAME_KEY);
  expect(parseConfig({ GATEHOUSE_GAME_PUBLIC_KEY: "" }).gamePublicKey).toBe(PUBLISHED_GAME_KEY);
});

test("the API key that the pages let readers export is no unknown setting, when they start Gatehouse in that terminal", () => {
  const { unknownSettings } = parseConfig({
    GATEHOUSE_URL: "http://a",
    GATEHOUSE_KEY: "gth_a",
    GATEHOUSE_KEYS: "",
  });
  expect(unknownSettings).toEqual(["GATEHOUSE_KEYS"]);
});

test.each([
  ["a word", "secret"],
  ["the key alone, without its form", "jSICb9pp0kHizGQtdG8ySWsDChfGqi+gyFCttigBNOA="],
  ["a key of another kind", PUBLISHED_GAME_KEY.replace("K2Vw", "K2Vu")],
  ["a cut key", PUBLISHED_GAME_KEY.slice(0, -2)],
  ["a key with more after it", `${PUBLISHED_GAME_KEY}AAAA`],
  ["base64 that nobody writes", PUBLISHED_GAME_KEY.replace("OA=", "OB=")],
  ["a PEM", `-----BEGIN PUBLIC KEY-----\n${PUBLISHED_GAME_KEY}\n-----END PUBLIC KEY-----`],
])("%s is refused at the start with a sentence that says what it must be", (_, text) => {
  expect(() => parseConfig({ GATEHOUSE_GAME_PUBLIC_KEY: text })).toThrow(
    "GATEHOUSE_GAME_PUBLIC_KEY must be the game's public key: an Ed25519 key in SPKI form as base64",
  );
});
