// The pause after a 429 and the order of calls within the budget, tested through the relay.
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
  read,
  refusalOf,
  resetStage,
  retryAfterOf,
  START,
  server,
  settle,
  stage,
} from "../../../test/relay-stage.ts";
import type { LimitHint } from "../../core/ports/upstream.ts";

beforeEach(resetStage);

describe("after a 429", () => {
  test.each<[string, Partial<LimitHint>, number]>([
    ["Retry-After", { retryAfterMs: 30_000, resetAt: START + 50_000 }, 30_000],
    ["X-RateLimit-Reset", { resetAt: START + 50_000 }, 50_000],
    ["nothing, so 5 s", {}, 5_000],
  ])(
    "no call is made before the time named by %s, and at that millisecond calls are made again",
    async (_, hint, ms) => {
      stage.answerCall = () => bad(4001, hint);
      await read(server("a"));
      stage.answerCall = () => good();
      await advance(ms - 2_500);
      for (const name of ["a", "b", "c"]) expect(codeOf(await read(server(name)))).toBe(4001);
      expect(stage.calls).toHaveLength(1);
      await advance(2_500);
      for (const name of ["a", "b", "c"]) expect(nameOf(await read(server(name)))).toBe("Town");
      expect(stage.calls.slice(1).every((call) => call.at === START + ms)).toBe(true);
    },
  );

  test("refused callers get 5019/4001 with Retry-After", async () => {
    stage.answerCall = () => bad(4001, { retryAfterMs: 30_000 });
    const first = refusalOf(await read(server("a")));
    expect(first).toMatchObject({ refused: { code: 5019, status: 400 }, fields: { upstream_code: 4001 } });
    expect(first.headers).toEqual({ "Retry-After": "30" });
    await advance(10_001);
    expect(retryAfterOf(await read(server("b")))).toBe("20");
  });

  test("no call is made in the last moments of a pause either", async () => {
    stage.answerCall = () => bad(4001, { retryAfterMs: 30_000 });
    await read(server("a"));
    stage.answerCall = () => good();
    await advance(29_000);
    const late = read(server("b"));
    await advance(999);
    expect(stage.calls).toHaveLength(1);
    await advance(1);
    await late;
    expect(stage.calls.every((call) => call.at === START || call.at >= START + 30_000)).toBe(true);
  });

  test("fresh readings are still served", async () => {
    await read(server("b"));
    stage.answerCall = () => bad(4001, { retryAfterMs: 30_000 });
    await read(server("a"));
    expect(await read(server("b"))).toMatchObject({ isHit: true });
    await advance(FRESH_MS);
    expect(codeOf(await read(server("b")))).toBe(4001);
  });

  test("each 429 without a named time doubles the pause, from 5 s to 60 s", async () => {
    stage.answerCall = () => bad(4001);
    await read();
    for (const waitMs of [5_000, 10_000, 20_000, 40_000, 60_000, 60_000]) {
      const before = stage.calls.length;
      await advance(waitMs - 2_500);
      expect(codeOf(await read())).toBe(4001);
      expect(stage.calls).toHaveLength(before);
      await advance(2_500);
      await read();
      expect(stage.calls).toHaveLength(before + 1);
    }
  });

  test("a 429 that names a shorter time does not shorten the current pause", async () => {
    await read(server("first"));
    stage.answerCall = (serverKey) => bad(4001, { retryAfterMs: serverKey === "key-a" ? 30_000 : 1_000 });
    await Promise.all([read(server("a")), read(server("b"))]);
    await advance(20_000);
    await read(server("c"));
    expect(stage.calls).toHaveLength(3);
  });

  test("a read whose server key is still being fetched when the 429 arrives makes no call", async () => {
    const key = Promise.withResolvers<string>();
    stage.readServerKey = (serverId) => (serverId === "slow" ? key.promise : Promise.resolve("key-a"));
    stage.answerCall = () => bad(4001, { retryAfterMs: 30_000 });
    const slow = read(server("slow"));
    await read(server("a"));
    await advance(100);
    key.resolve("key-slow");
    await settle();
    expect(stage.calls.map((call) => call.serverKey)).toEqual(["key-a"]);
    await advance(60_000);
    await slow;
  });

  test("the breaker does not change, and every 5019/4001 has Retry-After", async () => {
    await failTimes(5, 1001);
    await advance(5_000);
    stage.answerCall = () => bad(4001, { retryAfterMs: 10_000 });
    expect(retryAfterOf(await read())).toBe("10");
    await advance(10_000);
    const release = holdNextCall();
    const probe = read();
    await settle();
    const meanwhile = await read();
    release(good());
    await probe;
    if (codeOf(meanwhile) === 4001) expect(retryAfterOf(meanwhile)).toBeDefined();
  });
});

describe("the budget", () => {
  test("at a cold start begins with one call: with two calls left in the window, no call is refused", async () => {
    let taken = 33;
    let refused = 0;
    stage.answerCall = async () => {
      const isOver = ++taken > 35;
      if (isOver) refused++;
      await settle();
      const hint = { limit: 35, remaining: Math.max(0, 35 - taken), resetAt: START + 30_000 };
      return isOver ? bad(4001, hint) : good(hint);
    };
    const reads = Array.from({ length: 20 }, (_, i) => read(server(`s${i}`)));
    await advance(10_000);
    await Promise.all(reads);
    expect([taken, refused]).toEqual([35, 0]);
  });

  test("a call that got a 429 does not count: its server goes first when the pause is over", async () => {
    const hint = { limit: 10, remaining: 5, resetAt: START + 60_000 };
    stage.answerCall = () => good(hint);
    await read(server("a"));
    await advance(3_000);
    stage.answerCall = () => bad(4001, { ...hint, retryAfterMs: 5_000 });
    await read(server("b"));
    await advance(5_000);
    stage.answerCall = () => good(hint);
    expect(await read(server("b"))).toMatchObject({ isHit: false });
  });

  test("servers with a refused key do not delay the others", async () => {
    for (let i = 0; i < 9; i++) {
      stage.answerCall = () => bad(2002);
      await read(server(`bad${i}`));
    }
    await advance(1);
    stage.answerCall = () => good({ limit: 100, remaining: 3, resetAt: START + 60_000 });
    await read(server("good"));
    await advance(20_000);
    for (let i = 0; i < 9; i++) await read(server(`bad${i}`));
    expect(await read(server("good"))).toMatchObject({ isHit: false });
  });

  test("is kept at a cold start: fifty servers at once get no 429 from a game API of 35 calls a minute", async () => {
    let taken = 0;
    let refused = 0;
    stage.answerCall = async () => {
      const isOver = ++taken > 35;
      if (isOver) refused++;
      await settle();
      const hint = { limit: 35, remaining: Math.max(0, 35 - taken), resetAt: START + 60_000 };
      return isOver ? bad(4001, hint) : good(hint);
    };
    const reads = Array.from({ length: 50 }, (_, i) => read(server(`s${i}`)));
    await advance(10_000);
    await Promise.all(reads);
    expect(refused).toBe(0);
  });

  test("a used-up window delays every server until its reset, with Retry-After", async () => {
    stage.answerCall = () => good({ limit: 35, remaining: 0, resetAt: START + 40_000 });
    await read(server("a"));
    await advance(10_000);
    const refused = await read(server("b"));
    expect([codeOf(refused), retryAfterOf(refused)]).toEqual([4001, "30"]);
    expect(stage.calls).toHaveLength(1);
    await advance(30_000);
    await read(server("b"));
    expect(stage.calls).toHaveLength(2);
  });
});
