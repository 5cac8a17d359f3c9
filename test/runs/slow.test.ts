// The run `slow` in small: slow sockets of every kind are cut, good requests answered, and the memory stays small. The timing is
// not judged, because other tests run beside this one.
import { afterEach, expect, test } from "bun:test";
import { cleanUp } from "../temporary.ts";
import { KINDS } from "./slow-clients.ts";
import { holdSlowSockets, judgeSockets } from "./slow-sockets.ts";

const COUNT = 160;

afterEach(cleanUp);

test("slow sockets of eight kinds are cut, while every good request is answered", async () => {
  const verdict = await holdSlowSockets(
    { count: COUNT, rounds: 1, phaseMs: 1_000, isTimed: false },
    { seed: 1, stopped: new AbortController().signal, progress: () => {} },
  );
  expect(verdict.problems).toEqual([]);
  expect(verdict.figures).toMatchObject({ sockets: COUNT, cut: COUNT, goodFailed: 0 });
  expect(verdict.figures.goodRequests).toBeGreaterThan(COUNT);
});

test("a socket that is kept too long, is not cut, or got a wrong answer is a problem", () => {
  const good = { kind: KINDS[0], sockets: 10, cut: 10, failed: 0, longestKeptMs: 12_000 };
  expect(judgeSockets([{ kinds: [good] }], 15_000)).toEqual([]);
  for (const bad of [{ longestKeptMs: 15_001 }, { cut: 9 }, { failed: 1 }]) {
    expect(judgeSockets([{ kinds: [good] }, { kinds: [good, { ...good, ...bad }] }], 15_000)).toEqual([
      expect.stringContaining('round 2, "says nothing"'),
    ]);
  }
});
