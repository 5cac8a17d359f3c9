// The limit and the spam block, rule by rule, and against a simple model that stores every request.
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { FRESH_LIMIT, judgeRequest, type LimitState, secondsUntil, type Verdict } from "./rate-limit.ts";

const START = 1_800_000_000_000;
const SECOND = 1_000;
const MINUTE = 60_000;

/** The requests of one key, with the state kept between them as a store does. */
class Key {
  state: LimitState = FRESH_LIMIT;

  request(now: number, isCounted = true): Verdict {
    const verdict = judgeRequest(this.state, now, isCounted);
    this.state = verdict.state;
    return verdict;
  }

  requestTimes(times: number, now: number, isCounted = true): Verdict {
    let verdict = this.request(now, isCounted);
    for (let i = 1; i < times; i++) verdict = this.request(now, isCounted);
    return verdict;
  }
}

function blockedKey(now = START): Key {
  const key = new Key();
  key.requestTimes(520, now);
  return key;
}

describe("the limit", () => {
  test("the first request begins a window of 60 s with count 1", () => {
    const { outcome, state } = new Key().request(START);
    expect(outcome).toBe("admitted");
    expect(state).toMatchObject({ count: 1, resetAt: START + MINUTE, blockedUntil: 0 });
  });

  test("120 requests are admitted and the 121st is limited", () => {
    const key = new Key();
    for (let count = 1; count <= 120; count++) {
      const { outcome, state } = key.request(START + count);
      expect([outcome, state.count]).toEqual(["admitted", count]);
    }
    expect(key.request(START + 121)).toMatchObject({ outcome: "limited", state: { count: 121 } });
  });

  test("reset_at is that of the window's first request, however many follow", () => {
    const key = new Key();
    key.request(START + 123);
    expect(key.requestTimes(300, START + 59 * SECOND).state.resetAt).toBe(START + 123 + MINUTE);
  });

  test("refused requests count too", () => {
    const key = new Key();
    key.requestTimes(130, START);
    expect(key.request(START + 1).state.count).toBe(131);
  });

  test("one millisecond before reset_at the old window still counts", () => {
    const key = new Key();
    key.requestTimes(120, START);
    const verdict = key.request(START + MINUTE - 1);
    expect(verdict).toMatchObject({ outcome: "limited", state: { count: 121, resetAt: START + MINUTE } });
  });

  test("the request at the exact millisecond of reset_at begins a new window with count 1", () => {
    const key = new Key();
    key.requestTimes(300, START);
    const verdict = key.request(START + MINUTE);
    expect(verdict).toMatchObject({ outcome: "admitted", state: { count: 1, resetAt: START + 2 * MINUTE } });
  });

  test("after a pause the new window begins with the next request, not at a multiple of the old window", () => {
    const key = new Key();
    key.request(START);
    expect(key.request(START + 90 * SECOND).state).toMatchObject({ count: 1, resetAt: START + 150 * SECOND });
  });

  test("a command is not counted, before, at and beyond the limit", () => {
    const key = new Key();
    expect(key.request(START, false)).toMatchObject({ outcome: "uncounted", blockChanged: false });
    expect(key.request(START + 5)).toMatchObject({ state: { count: 1, resetAt: START + 5 + MINUTE } });
    key.requestTimes(119, START + 6);
    expect(key.requestTimes(1_000, START + 7, false).outcome).toBe("uncounted");
    expect(key.request(START + 8)).toMatchObject({ outcome: "limited", state: { count: 121 } });
    expect(key.request(START + 9, false).outcome).toBe("uncounted");
  });

  test("a request that is judged a little late, or by a corrected clock, begins no new window", () => {
    const key = new Key();
    key.requestTimes(120, START);
    expect(key.request(START - 400)).toMatchObject({ outcome: "limited", state: { count: 121 } });
  });

  test("when the clock is set back, a key is limited for at most one window", () => {
    const key = new Key();
    key.requestTimes(200, START);
    const back = START - 3_600 * SECOND;
    expect(key.request(back)).toMatchObject({
      outcome: "admitted",
      state: { count: 1, resetAt: back + MINUTE },
    });
  });

  test.each([
    [START, START, 1],
    [START + 1, START, 1],
    [START + 999, START, 1],
    [START + 1_000, START, 1],
    [START + 1_001, START, 2],
    [START + MINUTE, START, 60],
    [START + MINUTE, START + 1, 60],
    [START - 5_000, START, 1],
  ])("seconds until %p, at %p, are %p: rounded up and never less than 1", (instant, now, seconds) => {
    expect(secondsUntil(instant, now)).toBe(seconds);
  });
});

describe("the spam block", () => {
  test("the request with count 519 is limited, the one with count 520 starts a block of five minutes", () => {
    const key = new Key();
    expect(key.requestTimes(519, START)).toMatchObject({ outcome: "limited", state: { count: 519 } });
    const verdict = key.request(START + 7);
    expect(verdict).toMatchObject({ outcome: "blocked", blockChanged: true });
    expect(verdict.state.blockedUntil).toBe(START + 7 + 300 * SECOND);
  });

  test("excess spread over two windows starts no block", () => {
    const key = new Key();
    key.requestTimes(519, START);
    expect(key.requestTimes(519, START + MINUTE).outcome).toBe("limited");
  });

  test("commands never start a block", () => {
    const key = new Key();
    expect(key.requestTimes(5_000, START, false).outcome).toBe("uncounted");
    expect(key.request(START + 1)).toMatchObject({ outcome: "admitted", state: { count: 1 } });
  });

  test("a block holds for commands too", () => {
    expect(blockedKey().request(START + 1, false).outcome).toBe("blocked");
  });

  test("a block lasts until its last millisecond, and the next request begins a fresh window", () => {
    const end = START + 5 * MINUTE;
    const key = blockedKey();
    expect(key.request(end - 1).outcome).toBe("blocked");
    const verdict = key.request(end);
    expect(verdict).toMatchObject({ outcome: "admitted", state: { count: 1, resetAt: end + MINUTE } });
  });

  test("a window of the block that is still open when the block ends does not count afterwards", () => {
    const end = START + 5 * MINUTE;
    const key = blockedKey();
    key.requestTimes(120, end - 10);
    expect(key.request(end + 10).state.count).toBe(1);
  });

  test("a command after the end of a block is admitted, and the next read has a fresh window", () => {
    const end = START + 5 * MINUTE;
    const key = blockedKey();
    expect(key.request(end, false).outcome).toBe("uncounted");
    expect(key.request(end + 5)).toMatchObject({ outcome: "admitted", state: { count: 1 } });
  });

  test("120 requests in a window during the block add nothing, the 121st adds one minute", () => {
    const key = blockedKey();
    expect(key.requestTimes(120, START).state.blockedUntil).toBe(START + 5 * MINUTE);
    const verdict = key.request(START);
    expect(verdict.state.blockedUntil).toBe(START + 6 * MINUTE);
    expect(verdict.blockChanged).toBe(true);
  });

  test("one window adds its minute once, however many requests follow in it", () => {
    const key = blockedKey();
    key.requestTimes(121, START + 1);
    const verdict = key.requestTimes(2_000, START + MINUTE);
    expect(verdict.state.blockedUntil).toBe(START + 6 * MINUTE);
    expect(verdict.blockChanged).toBe(false);
  });

  test("the first counting window starts with the first request after the one that began the block", () => {
    const key = blockedKey();
    key.requestTimes(120, START + 30 * SECOND);
    // 89,999 ms after the block began, but still within 60 s of the first request inside it.
    expect(key.request(START + 90 * SECOND - 1).state.blockedUntil).toBe(START + 6 * MINUTE);
  });

  test("at the exact end of a counting window the count inside the block starts over", () => {
    const key = blockedKey();
    key.requestTimes(120, START);
    expect(key.request(START + MINUTE).state.blockedUntil).toBe(START + 5 * MINUTE);
  });

  test("each further window that passes 120 adds its own minute", () => {
    const key = blockedKey();
    for (let minute = 0; minute < 10; minute++) {
      const verdict = key.requestTimes(121, START + minute * MINUTE);
      expect(verdict.state.blockedUntil).toBe(START + (6 + minute) * MINUTE);
    }
  });

  test("commands count inside a block, and can extend it", () => {
    const key = blockedKey();
    key.requestTimes(60, START);
    key.requestTimes(60, START, false);
    expect(key.request(START, false).state.blockedUntil).toBe(START + 6 * MINUTE);
  });

  test("a caller within the limit is unblocked after five minutes", () => {
    const key = blockedKey();
    const outcomes: string[] = [];
    for (let now = START + 500; now <= START + 5 * MINUTE; now += 500) outcomes.push(key.request(now).outcome);
    expect(outcomes.slice(0, -1).every((outcome) => outcome === "blocked")).toBe(true);
    expect(outcomes.at(-1)).toBe("admitted");
  });

  test("a block never ends more than 60 minutes ahead, even when the clock is set back", () => {
    const key = blockedKey();
    const back = START - 24 * 60 * MINUTE;
    expect(key.request(back).state.blockedUntil).toBe(back + 60 * MINUTE);
    expect(key.requestTimes(500, back + 1).state.blockedUntil).toBe(back + 1 + 60 * MINUTE);
  });

  test("a block is still in force after a restart that forgot the counts", () => {
    const key = new Key();
    key.state = { ...FRESH_LIMIT, blockedUntil: START + 3 * MINUTE };
    expect(key.request(START).outcome).toBe("blocked");
    expect(key.request(START + 3 * MINUTE)).toMatchObject({ outcome: "admitted", state: { count: 1 } });
  });
});

type Expected = { outcome: string; count?: number; resetAt?: number; blockedUntil?: number };

/** Stores the requests and computes every verdict from all of them. */
class NaiveKey {
  #counted: number[] = [];
  #inBlock: number[] = [];
  #blockBegan: number | undefined;
  resetAt: number | undefined;
  blockedUntil: number | undefined;
  extensions = 0;

  request(now: number, isCounted: boolean): Expected {
    if (this.#blockBegan !== undefined && now < readBlock(this.#blockBegan, this.#inBlock).until) {
      this.#inBlock.push(now);
      const { until, extensions, windowBegan } = readBlock(this.#blockBegan, this.#inBlock);
      this.resetAt = windowBegan + 60_000;
      this.blockedUntil = until;
      this.extensions = extensions;
      return { outcome: "blocked", blockedUntil: until };
    }
    if (!isCounted) return { outcome: "uncounted" };
    if (this.#blockBegan !== undefined) this.#counted = [];
    this.#blockBegan = undefined;
    this.blockedUntil = undefined;
    this.extensions = 0;
    this.#counted = lastWindow([...this.#counted, now]);
    const count = this.#counted.length;
    const resetAt = (this.#counted[0] ?? 0) + 60_000;
    this.resetAt = resetAt;
    if (count < 520) return { outcome: count <= 120 ? "admitted" : "limited", count, resetAt };
    this.#blockBegan = now;
    this.#inBlock = [];
    this.resetAt = undefined;
    this.blockedUntil = now + 300_000;
    return { outcome: "blocked", blockedUntil: now + 300_000 };
  }
}

/** A request that is a minute or more after a window's first request, or more than a second before it, begins the next window. */
function isWithin(windowBegan: number | undefined, time: number): boolean {
  return windowBegan !== undefined && time >= windowBegan - 1_000 && time <= windowBegan + 59_999;
}

function lastWindow(times: number[]): number[] {
  let from = 0;
  for (let i = 1; i < times.length; i++) if (!isWithin(times[from], times[i] ?? 0)) from = i;
  return times.slice(from);
}

function readBlock(began: number, requests: readonly number[]) {
  let until = began + 300_000;
  let extensions = 0;
  let windowBegan: number | undefined;
  let inWindow = 0;
  for (const time of requests) {
    if (!isWithin(windowBegan, time)) {
      windowBegan = time;
      inWindow = 0;
    }
    inWindow++;
    if (inWindow === 121) {
      until += 60_000;
      extensions++;
    }
    until = Math.min(until, time + 3_600_000);
  }
  return { until, extensions, windowBegan: windowBegan ?? Number.NaN };
}

type Move = { to: "reset" | "block-end" | "later"; ms: number };
type Turn = { move: Move; requests: number; commandEvery: number };

const edge = fc.constantFrom(-1, 0, 1);
const later = fc.oneof(
  fc.constantFrom(0, 0, 1, 60_000, 300_000, 59_999, -1, -1_000, -1_001, -3_600_000, -86_400_000),
  fc.integer({ min: 0, max: 20_000 }),
);
const move: fc.Arbitrary<Move> = fc.oneof(
  { weight: 4, arbitrary: later.map((ms) => ({ to: "later" as const, ms })) },
  { weight: 2, arbitrary: edge.map((ms) => ({ to: "reset" as const, ms })) },
  { weight: 1, arbitrary: edge.map((ms) => ({ to: "block-end" as const, ms })) },
);
const turn: fc.Arbitrary<Turn> = fc.record({
  move,
  requests: fc.constantFrom(1, 1, 2, 5, 60, 119, 120, 121, 121, 130, 399, 400, 519, 520, 650),
  // Every n-th request is a command; 0 means none, 1 all of them.
  commandEvery: fc.constantFrom(0, 0, 0, 0, 1, 2, 7),
});

test("over 100,000 random requests every verdict is that of the model, also at the exact ends of windows", () => {
  const seen = {
    requests: 0,
    limited: 0,
    blocksBegun: 0,
    extended: 0,
    extendedTwice: 0,
    heldAtAnHour: 0,
    freshAtReset: 0,
    freshAtBlockEnd: 0,
    blockedOneBeforeEnd: 0,
    commandInBlock: 0,
    clockSetBack: 0,
  };

  function play(turns: readonly Turn[]): void {
    const key = new Key();
    const naive = new NaiveKey();
    let now = START;
    for (const { move, requests, commandEvery } of turns) {
      const edgeAt = move.to === "reset" ? naive.resetAt : move.to === "block-end" ? naive.blockedUntil : now;
      const next = (edgeAt ?? now) + move.ms;
      if (next < now) seen.clockSetBack++;
      now = next;
      for (let i = 1; i <= requests; i++) {
        const isCounted = commandEvery === 0 || i % commandEvery !== 0;
        const before = { resetAt: naive.resetAt, until: naive.blockedUntil, extensions: naive.extensions };
        const expected = naive.request(now, isCounted);
        const { outcome, blockChanged, state } = key.request(now, isCounted);
        const verdict: Expected =
          outcome === "uncounted"
            ? { outcome }
            : outcome === "blocked"
              ? { outcome, blockedUntil: state.blockedUntil }
              : { outcome, count: state.count, resetAt: state.resetAt };
        if (!Bun.deepEquals(verdict, expected)) expect({ now, ...verdict }).toEqual({ now, ...expected });
        const hasBlockChanged = outcome === "blocked" && expected.blockedUntil !== before.until;
        if (blockChanged !== hasBlockChanged)
          expect({ now, blockChanged }).toEqual({ now, blockChanged: hasBlockChanged });

        seen.requests++;
        if (outcome === "limited") seen.limited++;
        if (outcome === "blocked" && before.until === undefined) seen.blocksBegun++;
        if (naive.extensions > before.extensions) seen.extended++;
        if (naive.extensions > before.extensions && before.extensions > 0) seen.extendedTwice++;
        if (outcome === "blocked" && state.blockedUntil === now + 3_600_000) seen.heldAtAnHour++;
        if (outcome === "blocked" && !isCounted) seen.commandInBlock++;
        if (outcome === "blocked" && before.until === now + 1) seen.blockedOneBeforeEnd++;
        if (outcome === "admitted" && before.until === now) seen.freshAtBlockEnd++;
        if (outcome === "admitted" && before.until === undefined && before.resetAt === now) seen.freshAtReset++;
      }
    }
  }

  fc.assert(fc.property(fc.array(turn, { minLength: 30, maxLength: 60, size: "max" }), play), {
    numRuns: 25,
    seed: 20260101,
  });

  expect(seen.requests).toBeGreaterThanOrEqual(100_000);
  for (const [situation, times] of Object.entries(seen)) {
    if (times < 15) throw new Error(`${situation} was reached only ${times} times`);
  }
});
