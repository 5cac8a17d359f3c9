// Which failures are remembered, for how long, and when they are dropped, tested through the relay.
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
  refused,
  resetStage,
  server,
  settle,
  stage,
} from "../../../test/relay-stage.ts";

beforeEach(resetStage);

describe("a bad key", () => {
  test.each([2000, 2001, 2002, 2003, 2004])(
    "code %p is remembered: no call until the key is set again",
    async (code) => {
      stage.answerCall = () => bad(code);
      await read();
      for (const ms of [1, FRESH_MS, 60_000, 86_400_000]) {
        await advance(ms);
        expect(codeOf(await read())).toBe(code);
      }
      expect(stage.calls).toHaveLength(1);
    },
  );

  test("a key that was set again is tried at once, also when it is the same key", async () => {
    stage.answerCall = () => bad(2002);
    await read(server("a", 1));
    expect(codeOf(await read(server("a", 2)))).toBe(2002);
    expect(stage.calls).toHaveLength(2);
    await read(server("a", 2));
    expect(stage.calls).toHaveLength(2);
    stage.answerCall = () => good();
    expect(nameOf(await read(server("a", 3)))).toBe("Town");
  });

  test("of a command for a server that was deleted meanwhile leaves no status behind", () => {
    stage.relay.callState.markSending(server(), stage.now);
    stage.relay.forget("a");
    stage.relay.callState.applyDelivery(server(), refused(2002), stage.now);
    expect(stage.relay.describe(stage.now).refusedKeys).toBe(0);
  });

  test("of a command with an old key does not affect the new key, which is still probed", async () => {
    await read(server("a", 2));
    stage.relay.callState.markSending(server("a", 1), stage.now);
    stage.relay.callState.applyDelivery(server("a", 1), refused(2002), stage.now);
    stage.answerCall = () => bad(0);
    for (let i = 0; i < 5; i++) {
      stage.now += FRESH_MS;
      expect(codeOf(await read(server("a", 2)))).toBe(0);
    }
    stage.now += 5_000;
    stage.answerCall = () => good();
    expect(nameOf(await read(server("a", 2)))).toBe("Town");
  });

  test("of one server does not stop the others", async () => {
    stage.answerCall = (serverKey) => (serverKey === "key-a" ? bad(2002) : good());
    await read(server("a"));
    expect(nameOf(await read(server("b")))).toBe("Town");
  });

  test("is still remembered after hours without a read, while other servers were read", async () => {
    stage.answerCall = (serverKey) => (serverKey === "key-a" ? bad(2002) : good());
    await read(server("a"));
    for (let hour = 0; hour < 3; hour++) {
      await advance(3_600_000);
      await read(server("b"));
    }
    expect(codeOf(await read(server("a")))).toBe(2002);
    expect(stage.calls.filter((call) => call.serverKey === "key-a")).toHaveLength(1);
  });

  test("that is the global key stops the calls of every server, until a key is set again", async () => {
    stage.relay = openRelay({ hasGlobalKey: true });
    stage.answerCall = () => bad(2003);
    await read(server("a"));
    expect(codeOf(await read(server("b")))).toBe(2003);
    expect(stage.calls).toHaveLength(1);
    stage.answerCall = () => good();
    stage.relay.retryGlobalKey();
    expect(nameOf(await read(server("a", 2)))).toBe("Town");
    expect(nameOf(await read(server("b")))).toBe("Town");
  });
});

describe("an offline server", () => {
  test("is remembered for one freshness period, to the millisecond", async () => {
    stage.answerCall = () => bad(3002);
    await read();
    await advance(FRESH_MS - 1);
    expect(codeOf(await read())).toBe(3002);
    expect(stage.calls).toHaveLength(1);
    await advance(1);
    await read();
    expect(stage.calls).toHaveLength(2);
  });

  test("never opens the breaker", async () => {
    stage.answerCall = () => bad(3002);
    for (let i = 0; i < 12; i++) {
      await read();
      await advance(FRESH_MS);
    }
    expect(stage.calls).toHaveLength(12);
  });
});

describe("the breaker", () => {
  test.each([0, 1001, 1002])("opens after five failures in a row with code %p", async (code) => {
    await failTimes(5, code);
    expect(stage.calls).toHaveLength(5);
    expect(codeOf(await read())).toBe(code);
    expect(stage.calls).toHaveLength(5);
  });

  test("opens after five of different codes, and answers the last failure with no call", async () => {
    for (const code of [0, 1001, 1002, 0, 1002]) await failTimes(1, code);
    for (const ms of [0, 1, 4_998]) {
      await advance(ms);
      expect(refusalOf(await read()).fields).toEqual({ upstream_code: 1002, upstream_message: "said 1002" });
    }
    expect(stage.calls).toHaveLength(5);
  });

  test("lets one probe through after exactly 5 s, and closes when it succeeds", async () => {
    await failTimes(5);
    stage.answerCall = () => good();
    await advance(4_999);
    expect(codeOf(await read())).toBe(0);
    await advance(1);
    expect(nameOf(await read())).toBe("Town");
    await advance(FRESH_MS);
    await failTimes(4);
    expect(stage.calls).toHaveLength(10);
    await failTimes(1);
    await failTimes(1);
    expect(stage.calls).toHaveLength(11);
  });

  test("lets one probe through at a time: other callers get the last failure at once", async () => {
    await failTimes(5, 1001);
    await advance(5_000);
    const release = holdNextCall();
    const probe = read();
    await settle();
    const others = await Promise.all(Array.from({ length: 100 }, () => read()));
    expect(new Set(others.map(codeOf))).toEqual(new Set([1001]));
    expect(stage.calls).toHaveLength(6);
    release(good());
    expect(nameOf(await probe)).toBe("Town");
  });

  test("waits twice as long after each failed probe, up to 60 s", async () => {
    await failTimes(5);
    for (const waitMs of [5_000, 10_000, 20_000, 40_000, 60_000, 60_000]) {
      const before = stage.calls.length;
      await advance(waitMs - 1);
      await read();
      expect(stage.calls).toHaveLength(before);
      await advance(1);
      await read();
      expect(stage.calls).toHaveLength(before + 1);
    }
  });

  test("is closed by a success between failures: four, a success, four", async () => {
    await failTimes(4);
    stage.answerCall = () => good();
    await read();
    await advance(FRESH_MS);
    await failTimes(4);
    expect(stage.calls).toHaveLength(9);
    await failTimes(1);
    expect(stage.calls).toHaveLength(10);
  });

  test("of one server does not delay the others", async () => {
    await failTimes(5);
    stage.answerCall = () => good();
    expect(nameOf(await read(server("b")))).toBe("Town");
  });

  test.each([3001, 9998, 9999, 4000, 4242])("code %p neither counts toward it nor is remembered", async (code) => {
    stage.answerCall = () => bad(code);
    for (let i = 0; i < 20; i++) expect(codeOf(await read())).toBe(code);
    expect(stage.calls).toHaveLength(20);
  });
});
