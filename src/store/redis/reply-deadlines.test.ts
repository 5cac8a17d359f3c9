import { describe, expect, test } from "bun:test";
import { CHECK_EVERY_MS, type PendingRequest, ReplyDeadlines } from "./reply-deadlines.ts";

const DEADLINE_MS = 550;

function start() {
  const deadlines = new ReplyDeadlines(DEADLINE_MS, 0);
  const send = (sentAt: number): PendingRequest => {
    const request = { sentAt, tag: "directory", reject() {} };
    deadlines.add(request);
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
      for (const request of deadlines.takeOverdue(now)) failed.push([now, request]);
    }
    expect(failed).toEqual([
      [600, first],
      [700, second],
    ]);
  });

  test("do not pass for a request that was answered", () => {
    const { deadlines, send } = start();
    deadlines.delete(send(0));
    for (let now = CHECK_EVERY_MS; now <= 1_000; now += CHECK_EVERY_MS)
      expect(deadlines.takeOverdue(now)).toEqual([]);
  });

  test("are judged one check later when this process was held up, so that it can read what has arrived", () => {
    const { deadlines, send } = start();
    const [answered, unanswered] = [send(0), send(0)];
    expect(deadlines.takeOverdue(900)).toEqual([]);
    deadlines.delete(answered);
    expect(deadlines.takeOverdue(900 + CHECK_EVERY_MS)).toEqual([unanswered]);
  });

  test("are judged by every second check of a process that is held up all the time", () => {
    const { deadlines, send } = start();
    const request = send(0);
    expect(deadlines.takeOverdue(900)).toEqual([]);
    expect(deadlines.takeOverdue(1_800)).toEqual([request]);
  });
});
