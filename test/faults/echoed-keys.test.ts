// A game API that repeats server keys in its answers: callers and the log never see them.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { BASE_INFO, type FakeGameApi, startFakeGameApi } from "../fake-game-api.ts";
import { startGatehouse, type TestGatehouse } from "../start-gatehouse.ts";

const FIRST_KEY = "firstcanarykey-firstcanaryserver";
const SECOND_KEY = "secondcanarykey-secondcanaryserver";
const MESSAGES = [
  `the key ${FIRST_KEY} is bad`,
  "the server firstcanaryserver is away",
  `not ${SECOND_KEY}`,
  "not secondcanarykey",
  FIRST_KEY.replace("-", "&#45;"),
  FIRST_KEY.replace("-", "%2D"),
  Array.from(FIRST_KEY, (letter) => String.fromCharCode(letter.charCodeAt(0) + 0xfee0)).join(""),
];

let game: FakeGameApi;
let gatehouse: TestGatehouse;
let first: string;
let second: string;

beforeAll(async () => {
  game = startFakeGameApi();
  gatehouse = await startGatehouse({
    env: { GATEHOUSE_UPSTREAM_URL: game.url, GATEHOUSE_LOG_LEVEL: "debug" },
  });
  first = (await gatehouse.addKey(await gatehouse.addServer({ serverKey: FIRST_KEY }))).token;
  second = (await gatehouse.addKey(await gatehouse.addServer({ serverKey: SECOND_KEY }))).token;
  await gatehouse.get("/v2/game/server", second);
});
afterAll(async () => {
  await gatehouse.stop();
  await game.stop();
});

async function read(token = first): Promise<string> {
  gatehouse.clock.advance(10_000);
  return (await gatehouse.get("/v2/game/server", token)).text();
}

test.each(MESSAGES)("a refusal that says %p is relayed without the key", async (message) => {
  game.answer = () => Response.json({ code: 9998, message }, { status: 403 });
  const body = JSON.parse(await read()) as { upstream_code: number; upstream_message: string };
  expect(body.upstream_code).toBe(9998);
  expect(body.upstream_message).toContain("[redacted]");
  expect(body.upstream_message.normalize("NFKC")).not.toContain("canary");
});

test("a state that holds a key is relayed without it", async () => {
  game.answer = () => Response.json({ ...BASE_INFO, Name: `of ${FIRST_KEY}`, JoinKey: SECOND_KEY });
  expect(JSON.parse(await read())).toEqual({ ...BASE_INFO, Name: "of [redacted]", JoinKey: "[redacted]" });
});

test("no line of the log holds a key or a half of one", () => {
  expect(gatehouse.logLines.length).toBeGreaterThan(0);
  expect(gatehouse.logLines.join("").normalize("NFKC")).not.toContain("canary");
});
