import { expect, test } from "bun:test";
import { judgeShownState, type StateFacts } from "./shown-state.ts";

const NOW = 1_800_000_000_000;
const failure = { code: 1001, message: "down", isRateLimit: false };
const facts = (changes: Partial<StateFacts>): StateFacts => ({
  state: "online",
  lastReadAt: NOW - 5_000,
  onlineAt: NOW - 5_000,
  lastError: null,
  intervalMs: 5_000,
  ...changes,
});

test.each<[string, Partial<StateFacts>, string]>([
  ["a young reading of an online server", {}, "online"],
  ["a young reading that says offline", { state: "offline", onlineAt: null }, "offline"],
  ["offline after it was online", { state: "offline", onlineAt: NOW - 60_000 }, "offline"],
  ["one failed reading", { state: "unreachable", lastError: { failure, at: NOW } }, "online"],
  [
    "readings that fail for a minute",
    { state: "unreachable", lastReadAt: NOW - 60_000, lastError: { failure, at: NOW } },
    "unreachable",
  ],
  [
    "a failure from long ago that nobody has looked at since",
    { state: "unreachable", lastReadAt: null, lastError: { failure, at: NOW - 3_600_000 } },
    "unknown",
  ],
  [
    "a refused key, which is not tried again",
    { state: "key_refused", lastReadAt: null, lastError: { failure, at: NOW - 3_600_000 } },
    "unreachable",
  ],
  ["an old reading", { lastReadAt: NOW - 60_000, onlineAt: NOW - 60_000 }, "unknown"],
  [
    "an old reading of a server that is read seldom",
    { lastReadAt: NOW - 60_000, onlineAt: NOW - 60_000, intervalMs: 30_000 },
    "online",
  ],
  ["a server that was not asked yet", { state: "not_asked", lastReadAt: null, onlineAt: null }, "unknown"],
  ["a server of another upstream", { state: "parked" }, "unknown"],
])("%s", (_, changes, state) => {
  expect(judgeShownState(facts(changes), NOW) as string).toBe(state);
});
