// The relay with a scripted game API, a clock we move and a sleep that only the clock ends.
import { beforeEach, describe, expect, test } from "bun:test";
import { isRefusal, type Refusal, StoreUnavailable } from "../core/errors.ts";
import type { GameServer } from "../core/game-server.ts";
import type { Delivery, LimitHint, Log, UpstreamReading } from "../core/ports.ts";
import { Relay, type RelaySettings } from "./relay.ts";
import { RelayMeter } from "./relay-meter.ts";
import type { Reading } from "./watch.ts";

const START = 1_800_000_000_000;
const FRESH_MS = 2_000;
const SILENT: LimitHint = { limit: null, remaining: null, resetAt: null, retryAfterMs: null };
const SILENT_LOG: Log = { debug() {}, info() {}, warn() {}, error() {} };

type Answer = UpstreamReading | Promise<UpstreamReading>;

let now = START;
let sleepers: { until: number; wake: () => void }[] = [];
/** Every call that reached the game API: for which server, and when. */
let calls: { serverKey: string; at: number }[] = [];
let answerCall: (serverKey: string) => Answer;
let readServerKey: (serverId: string) => Promise<string | undefined>;
let relay: Relay;

beforeEach(() => {
  now = START;
  sleepers = [];
  calls = [];
  answerCall = () => good();
  readServerKey = async (serverId) => `key-${serverId}`;
  relay = openRelay();
});

function openRelay(settings: Partial<RelaySettings> = {}): Relay {
  return new Relay({
    upstream: {
      async readServer(serverKey) {
        calls.push({ serverKey, at: now });
        return answerCall(serverKey);
      },
    },
    store: { readServerKey: (serverId) => readServerKey(serverId) },
    clock: () => now,
    sleep: (ms) => new Promise((wake) => sleepers.push({ until: now + ms, wake })),
    settings: { timeoutMs: 5_000, freshMs: FRESH_MS, staleMs: 0, hasGlobalKey: false, ...settings },
    meter: new RelayMeter(),
    log: SILENT_LOG,
  });
}

function good(hint: Partial<LimitHint> = {}, name = "Town"): UpstreamReading {
  const parts = { base: `{"Name":"${name}"`, sections: new Array<string>(9).fill("[]"), misfits: 0 };
  return { hint: { ...SILENT, ...hint }, parts };
}

function bad(code: number, hint: Partial<LimitHint> = {}): UpstreamReading {
  return {
    hint: { ...SILENT, ...hint },
    failure: { code, message: `said ${code}`, isRateLimit: code === 4001 },
  };
}

function refused(code: number): Delivery {
  return {
    hint: SILENT,
    outcome: "refused",
    failure: { code, message: `said ${code}`, isRateLimit: false },
  };
}

const server = (name = "a", keyRevision = 1): GameServer => ({
  ...{ serverId: name, name, community: null, createdAt: 0 },
  keyRevision,
});

/** Lets everything that waits for a promise, and not for the clock, go on. */
async function settle(): Promise<void> {
  for (let i = 0; i < 50; i++) await Promise.resolve();
}

/** Moves the clock, waking sleepers at their very millisecond. */
async function advance(ms: number): Promise<void> {
  const end = now + ms;
  for (;;) {
    await settle();
    const next = sleepers.filter(({ until }) => until <= end).sort((a, b) => a.until - b.until)[0];
    if (!next) break;
    sleepers.splice(sleepers.indexOf(next), 1);
    now = Math.max(now, Math.ceil(next.until));
    next.wake();
  }
  now = end;
}

const read = async (which = server()) => relay.read(which, now);

function refusalOf(outcome: Reading | Refusal): Refusal {
  if (!isRefusal(outcome)) throw new Error("this was no refusal");
  return outcome;
}

const codeOf = (outcome: Reading | Refusal) => refusalOf(outcome).fields?.upstream_code;
const retryAfterOf = (outcome: Reading | Refusal) => refusalOf(outcome).headers?.["Retry-After"];
const nameOf = (outcome: Reading | Refusal) => {
  if (isRefusal(outcome)) throw new Error(`refused with ${codeOf(outcome)}`);
  return JSON.parse(new TextDecoder().decode(outcome.snapshot.body(0).bytes)).Name;
};

/** A call whose answer comes when the test says so. */
function holdNextCall(): (answer: UpstreamReading) => void {
  const held = Promise.withResolvers<UpstreamReading>();
  answerCall = () => held.promise;
  return held.resolve;
}

async function failTimes(times: number, code = 0): Promise<void> {
  answerCall = () => bad(code);
  for (let i = 0; i < times; i++) await read();
}

describe("asking once", () => {
  test("a thousand parallel reads make one call, and all get its answer", async () => {
    const release = holdNextCall();
    const reads = Array.from({ length: 1_000 }, () => read());
    await settle();
    release(good());
    const outcomes = await Promise.all(reads);
    expect(outcomes.map(nameOf)).toEqual(new Array(1_000).fill("Town"));
    expect(calls).toHaveLength(1);
  });

  test("a thousand parallel reads of a failing server make one call, and all are refused alike", async () => {
    const release = holdNextCall();
    const reads = Array.from({ length: 1_000 }, () => read());
    await settle();
    release(bad(1001));
    const outcomes = await Promise.all(reads);
    expect(new Set(outcomes.map(codeOf))).toEqual(new Set([1001]));
    expect(calls).toHaveLength(1);
  });

  test("servers do not share a call, and each is asked about with its own key", async () => {
    await read(server("first"));
    await Promise.all([read(server("a")), read(server("b"))]);
    expect(calls.map((call) => call.serverKey).sort()).toEqual(["key-a", "key-b", "key-first"]);
  });

  test("within the freshness there is no second call, and the answer is a hit", async () => {
    expect(await read()).toMatchObject({ isHit: false });
    await advance(FRESH_MS - 1);
    expect(await read()).toMatchObject({ isHit: true });
    expect(calls).toHaveLength(1);
  });

  test("at the very millisecond of expiry there is a call again", async () => {
    await read();
    await advance(FRESH_MS);
    expect(await read()).toMatchObject({ isHit: false });
    expect(calls).toHaveLength(2);
  });

  test("freshness counts from when the answer came, not from when it was asked for", async () => {
    const release = holdNextCall();
    const first = read();
    await advance(1_500);
    release(good());
    await first;
    await advance(FRESH_MS - 1);
    expect(await read()).toMatchObject({ isHit: true });
  });

  test("an answer from before the clock was set back is not taken for fresh", async () => {
    await read();
    now -= 3_600_000;
    await read();
    expect(calls).toHaveLength(2);
  });

  test("a store that cannot give the key fails the read, and the next read tries again", async () => {
    readServerKey = () => Promise.reject(new StoreUnavailable("disk"));
    await expect(read()).rejects.toThrow(StoreUnavailable);
    readServerKey = async () => "key-a";
    expect(nameOf(await read())).toBe("Town");
  });

  test("a server that was deleted meanwhile is 5008, with no call", async () => {
    readServerKey = async () => undefined;
    expect(refusalOf(await read()).refused.code).toBe(5008);
    expect(calls).toHaveLength(0);
  });
});

describe("a refusal", () => {
  test("is 400/5019 game_api_error with the game API's code and message, and nothing else", async () => {
    answerCall = () => bad(9999);
    expect(await read()).toEqual({
      refused: { code: 5019, status: 400, message: "game_api_error" },
      fields: { upstream_code: 9999, upstream_message: "said 9999" },
      headers: undefined,
    });
  });

  test("has code 0 when the game API gave none", async () => {
    answerCall = () => bad(0);
    expect(refusalOf(await read()).fields).toEqual({ upstream_code: 0, upstream_message: "said 0" });
  });
});

describe("a bad key", () => {
  test.each([2000, 2001, 2002, 2003, 2004])(
    "code %p is remembered: no call until the key is set again",
    async (code) => {
      answerCall = () => bad(code);
      await read();
      for (const ms of [1, FRESH_MS, 60_000, 86_400_000]) {
        await advance(ms);
        expect(codeOf(await read())).toBe(code);
      }
      expect(calls).toHaveLength(1);
    },
  );

  test("a key that was set again is tried at once, also when it is the same key", async () => {
    answerCall = () => bad(2002);
    await read(server("a", 1));
    expect(codeOf(await read(server("a", 2)))).toBe(2002);
    expect(calls).toHaveLength(2);
    await read(server("a", 2));
    expect(calls).toHaveLength(2);
    answerCall = () => good();
    expect(nameOf(await read(server("a", 3)))).toBe("Town");
  });

  test("that a command meets for a server that was deleted meanwhile leaves nothing behind", () => {
    relay.noteSending(server(), now);
    relay.forget("a");
    relay.noteDelivery(server(), refused(2002), now);
    expect(relay.describe(now).refusedKeys).toBe(0);
  });

  test("that a command meets with an old key says nothing about the new one, which is still probed", async () => {
    await read(server("a", 2));
    relay.noteSending(server("a", 1), now);
    relay.noteDelivery(server("a", 1), refused(2002), now);
    answerCall = () => bad(0);
    for (let i = 0; i < 5; i++) {
      now += FRESH_MS;
      expect(codeOf(await read(server("a", 2)))).toBe(0);
    }
    now += 5_000;
    answerCall = () => good();
    expect(nameOf(await read(server("a", 2)))).toBe("Town");
  });

  test("of one server does not stop the others", async () => {
    answerCall = (serverKey) => (serverKey === "key-a" ? bad(2002) : good());
    await read(server("a"));
    expect(nameOf(await read(server("b")))).toBe("Town");
  });

  test("is still remembered when nobody has asked for hours and others were busy meanwhile", async () => {
    answerCall = (serverKey) => (serverKey === "key-a" ? bad(2002) : good());
    await read(server("a"));
    for (let hour = 0; hour < 3; hour++) {
      await advance(3_600_000);
      await read(server("b"));
    }
    expect(codeOf(await read(server("a")))).toBe(2002);
    expect(calls.filter((call) => call.serverKey === "key-a")).toHaveLength(1);
  });

  test("that is the global key stops the calls of every server, until a key is set again", async () => {
    relay = openRelay({ hasGlobalKey: true });
    answerCall = () => bad(2003);
    await read(server("a"));
    expect(codeOf(await read(server("b")))).toBe(2003);
    expect(calls).toHaveLength(1);
    answerCall = () => good();
    expect(nameOf(await read(server("a", 2)))).toBe("Town");
    expect(nameOf(await read(server("b")))).toBe("Town");
  });
});

describe("an offline server", () => {
  test("is remembered for one freshness period, to the millisecond", async () => {
    answerCall = () => bad(3002);
    await read();
    await advance(FRESH_MS - 1);
    expect(codeOf(await read())).toBe(3002);
    expect(calls).toHaveLength(1);
    await advance(1);
    await read();
    expect(calls).toHaveLength(2);
  });

  test("never opens the breaker", async () => {
    answerCall = () => bad(3002);
    for (let i = 0; i < 12; i++) {
      await read();
      await advance(FRESH_MS);
    }
    expect(calls).toHaveLength(12);
  });
});

describe("the breaker", () => {
  test.each([0, 1001, 1002])("opens after five failures in a row with code %p", async (code) => {
    await failTimes(5, code);
    expect(calls).toHaveLength(5);
    expect(codeOf(await read())).toBe(code);
    expect(calls).toHaveLength(5);
  });

  test("opens after five of different codes, and answers the last failure with no call", async () => {
    for (const code of [0, 1001, 1002, 0, 1002]) await failTimes(1, code);
    for (const ms of [0, 1, 4_998]) {
      await advance(ms);
      expect(refusalOf(await read()).fields).toEqual({ upstream_code: 1002, upstream_message: "said 1002" });
    }
    expect(calls).toHaveLength(5);
  });

  test("lets one probe through after exactly 5 s, and closes when it succeeds", async () => {
    await failTimes(5);
    answerCall = () => good();
    await advance(4_999);
    expect(codeOf(await read())).toBe(0);
    await advance(1);
    expect(nameOf(await read())).toBe("Town");
    await advance(FRESH_MS);
    await failTimes(4);
    expect(calls).toHaveLength(10);
    await failTimes(1);
    await failTimes(1);
    expect(calls).toHaveLength(11);
  });

  test("lets one probe through at a time: who comes meanwhile gets the last failure at once", async () => {
    await failTimes(5, 1001);
    await advance(5_000);
    const release = holdNextCall();
    const probe = read();
    await settle();
    const others = await Promise.all(Array.from({ length: 100 }, () => read()));
    expect(new Set(others.map(codeOf))).toEqual(new Set([1001]));
    expect(calls).toHaveLength(6);
    release(good());
    expect(nameOf(await probe)).toBe("Town");
  });

  test("waits twice as long after each failed probe, up to 60 s", async () => {
    await failTimes(5);
    for (const waitMs of [5_000, 10_000, 20_000, 40_000, 60_000, 60_000]) {
      const before = calls.length;
      await advance(waitMs - 1);
      await read();
      expect(calls).toHaveLength(before);
      await advance(1);
      await read();
      expect(calls).toHaveLength(before + 1);
    }
  });

  test("is closed by a success between failures: four, a success, four", async () => {
    await failTimes(4);
    answerCall = () => good();
    await read();
    await advance(FRESH_MS);
    await failTimes(4);
    expect(calls).toHaveLength(9);
    await failTimes(1);
    expect(calls).toHaveLength(10);
  });

  test("of one server holds back no other", async () => {
    await failTimes(5);
    answerCall = () => good();
    expect(nameOf(await read(server("b")))).toBe("Town");
  });

  test.each([3001, 9998, 9999, 4000, 4242])(
    "code %p neither counts toward it nor is remembered",
    async (code) => {
      answerCall = () => bad(code);
      for (let i = 0; i < 20; i++) expect(codeOf(await read())).toBe(code);
      expect(calls).toHaveLength(20);
    },
  );
});

describe("after a 429", () => {
  test.each<[string, Partial<LimitHint>, number]>([
    ["Retry-After", { retryAfterMs: 30_000, resetAt: START + 50_000 }, 30_000],
    ["X-RateLimit-Reset", { resetAt: START + 50_000 }, 50_000],
    ["nothing, so 5 s", {}, 5_000],
  ])(
    "no server is asked about until the time named by %s, and at that millisecond it is",
    async (_, hint, ms) => {
      answerCall = () => bad(4001, hint);
      await read(server("a"));
      answerCall = () => good();
      await advance(ms - 2_500);
      for (const name of ["a", "b", "c"]) expect(codeOf(await read(server(name)))).toBe(4001);
      expect(calls).toHaveLength(1);
      await advance(2_500);
      for (const name of ["a", "b", "c"]) expect(nameOf(await read(server(name)))).toBe("Town");
      expect(calls.slice(1).every((call) => call.at === START + ms)).toBe(true);
    },
  );

  test("refused callers are told 5019/4001 and when to come back", async () => {
    answerCall = () => bad(4001, { retryAfterMs: 30_000 });
    const first = refusalOf(await read(server("a")));
    expect(first).toMatchObject({ refused: { code: 5019, status: 400 }, fields: { upstream_code: 4001 } });
    expect(first.headers).toEqual({ "Retry-After": "30" });
    await advance(10_001);
    expect(retryAfterOf(await read(server("b")))).toBe("20");
  });

  test("nobody is asked in the last moments of a pause either", async () => {
    answerCall = () => bad(4001, { retryAfterMs: 30_000 });
    await read(server("a"));
    answerCall = () => good();
    await advance(29_000);
    const late = read(server("b"));
    await advance(999);
    expect(calls).toHaveLength(1);
    await advance(1);
    await late;
    expect(calls.every((call) => call.at === START || call.at >= START + 30_000)).toBe(true);
  });

  test("what is fresh is still served, to the servers that have it", async () => {
    await read(server("b"));
    answerCall = () => bad(4001, { retryAfterMs: 30_000 });
    await read(server("a"));
    expect(await read(server("b"))).toMatchObject({ isHit: true });
    await advance(FRESH_MS);
    expect(codeOf(await read(server("b")))).toBe(4001);
  });

  test("refusals without a named time double the pause from 5 s to 60 s", async () => {
    answerCall = () => bad(4001);
    await read();
    for (const waitMs of [5_000, 10_000, 20_000, 40_000, 60_000, 60_000]) {
      const before = calls.length;
      await advance(waitMs - 2_500);
      expect(codeOf(await read())).toBe(4001);
      expect(calls).toHaveLength(before);
      await advance(2_500);
      await read();
      expect(calls).toHaveLength(before + 1);
    }
  });

  test("a refusal that names a shorter time does not shorten a pause under way", async () => {
    await read(server("first"));
    answerCall = (serverKey) => bad(4001, { retryAfterMs: serverKey === "key-a" ? 30_000 : 1_000 });
    await Promise.all([read(server("a")), read(server("b"))]);
    await advance(20_000);
    await read(server("c"));
    expect(calls).toHaveLength(3);
  });

  test("a read whose server key is still being fetched when the 429 arrives is not sent", async () => {
    const key = Promise.withResolvers<string>();
    readServerKey = (serverId) => (serverId === "slow" ? key.promise : Promise.resolve("key-a"));
    answerCall = () => bad(4001, { retryAfterMs: 30_000 });
    const slow = read(server("slow"));
    await read(server("a"));
    await advance(100);
    key.resolve("key-slow");
    await settle();
    expect(calls.map((call) => call.serverKey)).toEqual(["key-a"]);
    await advance(60_000);
    await slow;
  });

  test("the breaker is not moved by it, and every 5019/4001 says when to come back", async () => {
    await failTimes(5, 1001);
    await advance(5_000);
    answerCall = () => bad(4001, { retryAfterMs: 10_000 });
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
  test("is probed with one call at a cold start: with two calls left in the window, nobody is refused", async () => {
    let taken = 33;
    let refused = 0;
    answerCall = async () => {
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

  test("a refused call is no turn: the refused server goes first when the pause is over", async () => {
    const hint = { limit: 10, remaining: 5, resetAt: START + 60_000 };
    answerCall = () => good(hint);
    await read(server("a"));
    await advance(3_000);
    answerCall = () => bad(4001, { ...hint, retryAfterMs: 5_000 });
    await read(server("b"));
    await advance(5_000);
    answerCall = () => good(hint);
    expect(await read(server("b"))).toMatchObject({ isHit: false });
  });

  test("servers that cannot be called for take nobody's turn", async () => {
    for (let i = 0; i < 9; i++) {
      answerCall = () => bad(2002);
      await read(server(`bad${i}`));
    }
    await advance(1);
    answerCall = () => good({ limit: 100, remaining: 3, resetAt: START + 60_000 });
    await read(server("good"));
    await advance(20_000);
    for (let i = 0; i < 9; i++) await read(server(`bad${i}`));
    expect(await read(server("good"))).toMatchObject({ isHit: false });
  });

  test("is kept to at a cold start: fifty servers at once get no refusal from a game API of 35 calls a minute", async () => {
    let taken = 0;
    let refused = 0;
    answerCall = async () => {
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

  test("a window that is used up holds every server back until its reset, with Retry-After", async () => {
    answerCall = () => good({ limit: 35, remaining: 0, resetAt: START + 40_000 });
    await read(server("a"));
    await advance(10_000);
    const refused = await read(server("b"));
    expect([codeOf(refused), retryAfterOf(refused)]).toEqual([4001, "30"]);
    expect(calls).toHaveLength(1);
    await advance(30_000);
    await read(server("b"));
    expect(calls).toHaveLength(2);
  });
});

describe("with GATEHOUSE_STALE_MS", () => {
  const STALE_MS = 10_000;
  beforeEach(async () => {
    relay = openRelay({ staleMs: STALE_MS });
    await read();
  });

  test.each([0, 1001, 1002, 9999, 4001])(
    "code %p: what is old is served until fresh and stale time are over",
    async (code) => {
      answerCall = () => bad(code);
      await advance(FRESH_MS + STALE_MS - 1);
      expect(await read()).toMatchObject({ isHit: true });
      expect(calls).toHaveLength(2);
      await advance(1);
      expect(codeOf(await read())).toBe(code);
    },
  );

  test("what is old is served while the breaker is open too", async () => {
    await advance(FRESH_MS);
    answerCall = () => bad(0);
    for (let i = 0; i < 8; i++) expect(nameOf(await read())).toBe("Town");
    expect(calls).toHaveLength(6);
  });

  test.each([2000, 2001, 2002, 2003, 2004, 3002])("code %p is news: nothing old is served", async (code) => {
    await advance(FRESH_MS);
    answerCall = () => bad(code);
    expect(codeOf(await read())).toBe(code);
    expect(codeOf(await read())).toBe(code);
  });

  test("what is old is never served instead of asking", async () => {
    await advance(FRESH_MS);
    answerCall = () => good({}, "New");
    expect(nameOf(await read())).toBe("New");
  });
});

test("without GATEHOUSE_STALE_MS a failure is reported, however young the last reading", async () => {
  await read();
  await advance(FRESH_MS);
  answerCall = () => bad(0);
  expect(codeOf(await read())).toBe(0);
});
