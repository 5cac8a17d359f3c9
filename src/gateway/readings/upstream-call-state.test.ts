// What those who send commands learn from reads and from other instances, and what they leave alone.
import { beforeEach, describe, expect, test } from "bun:test";
import {
  advance,
  bad,
  codeOf,
  FRESH_MS,
  failTimes,
  good,
  nameOf,
  openRelay,
  read,
  refused,
  resetStage,
  retryAfterOf,
  server,
  stage,
} from "../../../test/relay-stage.ts";
import type { RelayShare } from "../../core/ports/relay-share.ts";
import { CLOSED_BREAKER } from "../../core/readings/breaker.ts";
import { UNKNOWN_BUDGET } from "../../core/readings/budget.ts";
import { NO_CODE } from "../../core/readings/upstream-codes.ts";

beforeEach(resetStage);

/** Another instance has just read every server, and was perhaps told after that that they are offline. */
function shareReading(isOffline = false): RelayShare {
  const reading = good({}, "Another instance's town");
  if (!("parts" in reading)) throw new Error("this was no reading");
  const failure = { code: 3002, message: "offline", isRateLimit: false };
  const remembered = isOffline ? { failure, at: stage.now, forMs: FRESH_MS } : null;
  const status = { remembered, breaker: CLOSED_BREAKER, breakerFailure: null, lastFailure: null };
  return {
    peek: async () => ({
      version: 1,
      status: { ...status, keyRevision: 1, lastCallAt: stage.now },
      reading: { parts: reading.parts, fetchedAt: stage.now, keyRevision: 1 },
    }),
    changeBudget: async () => UNKNOWN_BUDGET,
  } as Partial<RelayShare> as RelayShare;
}

test("the dispatcher's catch-up gives readers what another instance has read", async () => {
  const relay = openRelay({}, shareReading());
  await relay.callState.catchUpOn(server(), stage.now);
  expect(nameOf(await relay.read(server(), stage.now))).toBe("Another instance's town");
});

test("nobody reads a parked server, even when another instance with its upstream has just read it", async () => {
  const relay = openRelay({}, shareReading());
  const parked = { ...server(), isSimulated: true };
  await relay.callState.catchUpOn(parked, stage.now);
  expect(codeOf(await relay.read(parked, stage.now + FRESH_MS / 2))).toBe(NO_CODE);
});

describe("the refusal of a command before it is queued", () => {
  const find = (which = server()) => stage.relay.findCommandRefusal(which, stage.now);
  async function findCode(): Promise<unknown> {
    const refusal = await find();
    return refusal && codeOf(refusal);
  }

  test("is none for a server that was never asked, and asks nobody", async () => {
    expect(await find()).toBeUndefined();
    expect(stage.calls).toEqual([]);
  });

  test.each([
    ["a read", async () => void (await read())],
    ["a command", async () => stage.relay.callState.applyDelivery(server(), refused(3002), stage.now)],
  ])("is 3002 without a call for one freshness period after %s was told so", async (_, learn) => {
    stage.answerCall = () => bad(3002);
    stage.relay.callState.markSending(server(), stage.now);
    await learn();
    const { length } = stage.calls;
    await advance(FRESH_MS - 1);
    expect(await findCode()).toBe(3002);
    expect(retryAfterOf((await find()) as never)).toBe("1");
    expect(stage.calls).toHaveLength(length);
  });

  test("is 3002 when another instance was told so", async () => {
    const relay = openRelay({}, shareReading(true));
    const refusal = await relay.findCommandRefusal(server(), stage.now);
    expect(refusal && codeOf(refusal)).toBe(3002);
    expect(stage.calls).toEqual([]);
  });

  test("is 3002 as long as the server says so when it is asked again", async () => {
    stage.answerCall = () => bad(3002);
    await read();
    for (let calls = 2; calls < 5; calls++) {
      await advance(FRESH_MS);
      expect(await findCode()).toBe(3002);
      expect(stage.calls).toHaveLength(calls);
    }
  });

  test("ends when a server that came online is asked again, before anybody has read it", async () => {
    stage.answerCall = () => bad(3002);
    await read();
    stage.answerCall = () => good();
    await advance(FRESH_MS);
    expect(await find()).toBeUndefined();
    expect(stage.calls).toHaveLength(2);
    await advance(60_000);
    expect(await find()).toBeUndefined();
    expect(stage.calls).toHaveLength(2);
  });

  test("is the code of a refused key for as long as the server has that key, without another call", async () => {
    stage.answerCall = () => bad(2002);
    await read();
    await advance(600_000);
    expect(await findCode()).toBe(2002);
    expect(stage.calls).toHaveLength(1);
    expect(await find(server("a", 2))).toBeUndefined();
  });

  test("is none for other failures: these commands wait", async () => {
    await failTimes(5, 1001);
    expect(await find()).toBeUndefined();
    stage.answerCall = () => bad(3002);
    await advance(5_000);
    await read();
    stage.answerCall = () => bad(4001, { retryAfterMs: 10_000 });
    await advance(FRESH_MS);
    expect(await find()).toBeUndefined();
    expect(await find()).toBeUndefined();
  });

  test("is none for a parked server, whose commands are refused for that", async () => {
    stage.answerCall = () => bad(2002);
    await read();
    expect(await find({ ...server(), isSimulated: true })).toBeUndefined();
  });
});
