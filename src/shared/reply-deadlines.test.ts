import { describe, expect, test } from "bun:test";
import { CHECK_EVERY_MS, type PendingRequest, ReplyDeadlines } from "./redis-link.ts";

const DEADLINE_MS = 550;

function start() {
  const deadlines = new ReplyDeadlines(DEADLINE_MS, 0);
  const send = (sentAt: number): PendingRequest => {
    const request = { tag: "directory", reject() {} };
    deadlines.add(request, sentAt);
    return request;
  };
  return { deadlines, send };
}

describe("the deadlines of replies", () => {
  test("pass for each request at its own time, and once", () => {
    const { deadlines, send } = start();
    const first = send(0);
    const second = send(100);
    const failed: [number, PendingRequest][] = [];
    for (let now = CHECK_EVERY_MS; now <= 1_000; now += CHECK_EVERY_MS) {
      const isDue = deadlines.hasOverdue(now);
      const overdue = deadlines.takeOverdue(now);
      expect(overdue.length > 0).toBe(isDue);
      for (const request of overdue) failed.push([now, request]);
    }
    expect(failed).toEqual([
      [600, first],
      [700, second],
    ]);
  });

  test("do not pass for a request that was answered", () => {
    const { deadlines, send } = start();
    deadlines.delete(send(0));
    for (let now = CHECK_EVERY_MS; now <= 1_000; now += CHECK_EVERY_MS) expect(deadlines.takeOverdue(now)).toEqual([]);
  });

  test("count only the time in which this process was running, so that it can write and read what waits", () => {
    const { deadlines, send } = start();
    const [answered, unanswered] = [send(0), send(0)];
    // Held up for a minute, before the requests were written.
    let now = 60_000;
    for (; now < 60_400; now += CHECK_EVERY_MS) expect(deadlines.takeOverdue(now)).toEqual([]);
    deadlines.delete(answered);
    for (; now < 60_500; now += CHECK_EVERY_MS) expect(deadlines.takeOverdue(now)).toEqual([]);
    expect(deadlines.takeOverdue(now)).toEqual([unanswered]);
  });

  test("pass in a process that is held up all the time", () => {
    const { deadlines, send } = start();
    const request = send(0);
    for (let now = 900; now <= 4_500; now += 900) expect(deadlines.takeOverdue(now)).toEqual([]);
    expect(deadlines.takeOverdue(5_400)).toEqual([request]);
  });
});
