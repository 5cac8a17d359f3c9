// When a reader of a stream is too slow, and when it gets a heartbeat.
import { expect, test } from "bun:test";
import {
  HEARTBEAT_MS,
  isHeartbeatDue,
  judgeProgress,
  OVERFLOW_GRACE_MS,
  type Progress,
  STALLED_MS,
  startProgress,
  WAITING_BYTES_MAX,
} from "./stream-pace.ts";

const NOW = 1_800_000_000_000;

function judge(known: Progress, waitingBytes: number, takenBytes: number, ms: number): Progress {
  const judged = judgeProgress(known, { waitingBytes, takenBytes }, NOW + ms);
  if (judged === "slow") throw new Error("too slow");
  return judged;
}

test("a reader that takes nothing for 30 s is too slow, one that takes a byte is not", () => {
  const begun = judge(startProgress(NOW), 10, 100, 0);
  const waiting = { waitingBytes: 10, takenBytes: 100 };
  expect(judgeProgress(begun, waiting, NOW + STALLED_MS - 1)).toEqual(begun);
  expect(judgeProgress(begun, waiting, NOW + STALLED_MS)).toBe("slow");
  const moved = judge(begun, 9, 101, STALLED_MS);
  expect(judgeProgress(moved, waiting, NOW + STALLED_MS + 1)).not.toBe("slow");
});

test("a reader for which nothing waits is never too slow", () => {
  let progress = startProgress(NOW);
  for (let ms = 0; ms < 10 * STALLED_MS; ms += 1_000) progress = judge(progress, 0, 100, ms);
  expect(judgeProgress(progress, { waitingBytes: 10, takenBytes: 100 }, NOW + 10 * STALLED_MS)).not.toBe("slow");
});

test("a reader at the maximum is too slow unless it takes half of it within a second", () => {
  const overflowed = { ...startProgress(NOW), overflowedAt: NOW };
  const full = { waitingBytes: WAITING_BYTES_MAX, takenBytes: 1 };
  expect(judgeProgress(overflowed, full, NOW + OVERFLOW_GRACE_MS - 1)).not.toBe("slow");
  expect(judgeProgress(overflowed, full, NOW + OVERFLOW_GRACE_MS)).toBe("slow");
  const half = { waitingBytes: WAITING_BYTES_MAX / 2 - 1, takenBytes: 1 };
  expect(judgeProgress(overflowed, half, NOW + OVERFLOW_GRACE_MS)).toMatchObject({ overflowedAt: undefined });
});

test("a heartbeat is due 15 s after the last message, and never while something waits", () => {
  expect(isHeartbeatDue(NOW, 0, NOW + HEARTBEAT_MS - 1)).toBe(false);
  expect(isHeartbeatDue(NOW, 0, NOW + HEARTBEAT_MS)).toBe(true);
  expect(isHeartbeatDue(NOW, 1, NOW + HEARTBEAT_MS)).toBe(false);
});

test("after the clock was set back by an hour, heartbeats come and slow readers are found as before", () => {
  const back = NOW - 3_600_000;
  expect(isHeartbeatDue(NOW, 0, back)).toBe(true);
  const stalled = { waitingBytes: 10, takenBytes: 100 };
  const begun = judgeProgress({ ...startProgress(NOW), takenBytes: 100 }, stalled, back) as Progress;
  expect(judgeProgress(begun, stalled, back + STALLED_MS)).toBe("slow");
  const full = { waitingBytes: WAITING_BYTES_MAX, takenBytes: 1 };
  const overflowed = judgeProgress({ ...startProgress(NOW), overflowedAt: NOW }, full, back) as Progress;
  expect(judgeProgress(overflowed, full, back + OVERFLOW_GRACE_MS)).toBe("slow");
});
