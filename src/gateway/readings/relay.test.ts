// Concurrent reads share one call; fresh readings need none; and what happens when the server key cannot be read.
import { beforeEach, describe, expect, test } from "bun:test";
import {
  advance,
  bad,
  codeOf,
  FRESH_MS,
  good,
  holdNextCall,
  nameOf,
  read,
  refusalOf,
  resetStage,
  server,
  settle,
  stage,
} from "../../../test/relay-stage.ts";
import { StoreUnavailable } from "../../core/errors.ts";

beforeEach(resetStage);

describe("sharing calls", () => {
  test("a thousand parallel reads make one call, and all get its answer", async () => {
    const release = holdNextCall();
    const reads = Array.from({ length: 1_000 }, () => read());
    await settle();
    release(good());
    const outcomes = await Promise.all(reads);
    expect(outcomes.map(nameOf)).toEqual(new Array(1_000).fill("Town"));
    expect(stage.calls).toHaveLength(1);
  });

  test("a thousand parallel reads of a failing server make one call, and all are refused alike", async () => {
    const release = holdNextCall();
    const reads = Array.from({ length: 1_000 }, () => read());
    await settle();
    release(bad(1001));
    const outcomes = await Promise.all(reads);
    expect(new Set(outcomes.map(codeOf))).toEqual(new Set([1001]));
    expect(stage.calls).toHaveLength(1);
  });

  test("servers do not share a call, and each call has the server's own key", async () => {
    await read(server("first"));
    await Promise.all([read(server("a")), read(server("b"))]);
    expect(stage.calls.map((call) => call.serverKey).sort()).toEqual(["key-a", "key-b", "key-first"]);
  });

  test("within the freshness there is no second call, and the answer is a hit", async () => {
    expect(await read()).toMatchObject({ isHit: false });
    await advance(FRESH_MS - 1);
    expect(await read()).toMatchObject({ isHit: true });
    expect(stage.calls).toHaveLength(1);
  });

  test("at the exact millisecond of expiry there is a call again", async () => {
    await read();
    await advance(FRESH_MS);
    expect(await read()).toMatchObject({ isHit: false });
    expect(stage.calls).toHaveLength(2);
  });

  test("freshness counts from the arrival of the answer, not from the call", async () => {
    const release = holdNextCall();
    const first = read();
    await advance(1_500);
    release(good());
    await first;
    await advance(FRESH_MS - 1);
    expect(await read()).toMatchObject({ isHit: true });
  });

  test("an answer from before the clock was set back is not fresh", async () => {
    await read();
    stage.now -= 3_600_000;
    await read();
    expect(stage.calls).toHaveLength(2);
  });

  test("a store that cannot give the key fails the read, and the next read tries again", async () => {
    stage.readServerKey = () => Promise.reject(new StoreUnavailable("disk"));
    await expect(read()).rejects.toThrow(StoreUnavailable);
    stage.readServerKey = async () => "key-a";
    expect(nameOf(await read())).toBe("Town");
  });

  test("a server that was deleted meanwhile is 5008, with no call", async () => {
    stage.readServerKey = async () => undefined;
    expect(refusalOf(await read()).refused.code).toBe(5008);
    expect(stage.calls).toHaveLength(0);
  });
});
