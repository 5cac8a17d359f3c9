// What callers get when the game API fails, tested through the relay: a refusal, or with GATEHOUSE_STALE_MS a stale reading.
import { beforeEach, describe, expect, test } from "bun:test";
import {
  advance,
  bad,
  codeOf,
  FRESH_MS,
  failTimes,
  good,
  holdNextCall,
  nameOf,
  openRelay,
  read,
  refusalOf,
  resetStage,
  retryAfterOf,
  settle,
  stage,
} from "../../../test/relay-stage.ts";

beforeEach(resetStage);

describe("a refusal", () => {
  test("is 400/5019 game_api_error with the game API's code and message, and nothing else", async () => {
    stage.answerCall = () => bad(9999);
    expect(await read()).toEqual({
      refused: { code: 5019, status: 400, message: "game_api_error" },
      fields: { upstream_code: 9999, upstream_message: "said 9999" },
      headers: undefined,
    });
  });

  test("has code 0 when the game API gave none", async () => {
    stage.answerCall = () => bad(0);
    expect(refusalOf(await read()).fields).toEqual({ upstream_code: 0, upstream_message: "said 0" });
  });
});

describe("Retry-After", () => {
  test("of an offline server lasts until it is asked again, rounded up to whole seconds", async () => {
    stage.answerCall = () => bad(3002);
    expect(retryAfterOf(await read())).toBe("2");
    await advance(500);
    expect(retryAfterOf(await read())).toBe("2");
    await advance(FRESH_MS - 501);
    expect(retryAfterOf(await read())).toBe("1");
    expect(stage.calls).toHaveLength(1);
  });

  test.each([0, 1001, 1002])(
    "of failures with code %p is there from the one that opens the breaker until the probe",
    async (code) => {
      stage.answerCall = () => bad(code);
      for (let i = 0; i < 4; i++) expect(retryAfterOf(await read())).toBeUndefined();
      expect(retryAfterOf(await read())).toBe("5");
      await advance(3_001);
      expect(retryAfterOf(await read())).toBe("2");
      await advance(1_999);
      expect(retryAfterOf(await read())).toBe("10");
      expect(stage.calls).toHaveLength(6);
    },
  );

  test("while the probe is under way is one second", async () => {
    await failTimes(5);
    await advance(5_000);
    const answer = holdNextCall();
    const probe = read();
    await settle();
    expect(retryAfterOf(await read())).toBe("1");
    answer(good());
    expect(nameOf(await probe)).toBe("Town");
  });

  test.each([2000, 2002, 2004, 3001, 9998, 9999])("is not there with code %p: nobody knows", async (code) => {
    stage.answerCall = () => bad(code);
    for (let i = 0; i < 6; i++) expect(retryAfterOf(await read())).toBeUndefined();
  });

  test("of a refused key is not there, even if the server's breaker was open", async () => {
    await failTimes(5);
    await advance(5_000);
    stage.answerCall = () => bad(2002);
    expect(retryAfterOf(await read())).toBeUndefined();
    expect(codeOf(await read())).toBe(2002);
  });
});

describe("with GATEHOUSE_STALE_MS", () => {
  const STALE_MS = 10_000;
  beforeEach(async () => {
    stage.relay = openRelay({ staleMs: STALE_MS });
    await read();
  });

  test.each([0, 1001, 1002, 9999, 4001])(
    "code %p: the last reading is served until fresh and stale time are over",
    async (code) => {
      stage.answerCall = () => bad(code);
      await advance(FRESH_MS + STALE_MS - 1);
      expect(await read()).toMatchObject({ isHit: true });
      expect(stage.calls).toHaveLength(2);
      await advance(1);
      expect(codeOf(await read())).toBe(code);
    },
  );

  test("a stale reading is also served while the breaker is open", async () => {
    await advance(FRESH_MS);
    stage.answerCall = () => bad(0);
    for (let i = 0; i < 8; i++) expect(nameOf(await read())).toBe("Town");
    expect(stage.calls).toHaveLength(6);
  });

  test.each([2000, 2001, 2002, 2003, 2004, 3002])(
    "code %p is about the server itself: no stale reading is served",
    async (code) => {
      await advance(FRESH_MS);
      stage.answerCall = () => bad(code);
      expect(codeOf(await read())).toBe(code);
      expect(codeOf(await read())).toBe(code);
    },
  );

  test("a stale reading is never served when a call is possible", async () => {
    await advance(FRESH_MS);
    stage.answerCall = () => good({}, "New");
    expect(nameOf(await read())).toBe("New");
  });
});

test("without GATEHOUSE_STALE_MS a failure is reported, however young the last reading", async () => {
  await read();
  await advance(FRESH_MS);
  stage.answerCall = () => bad(0);
  expect(codeOf(await read())).toBe(0);
});
