import { expect, test } from "bun:test";
import type { EventResource } from "../../../core/wire/event.ts";
import { findLeaveTime, judgeOnlineSince } from "./player-facts.tsx";

function make(type: EventResource["type"], at: number): EventResource {
  return { id: `${type} ${at}`, type, at, seen_at: at, source: "log", backfill: false, data: {} };
}

test("a player is on the server since their newest join", () => {
  const events = [make("player.killed", 9), make("player.joined", 7), make("player.left", 5)];
  expect(judgeOnlineSince([...events, make("player.joined", 3)])).toEqual({ kind: "since", at: 7 });
});

test("without a join, they are there at least since their oldest event after the last leave", () => {
  const newer = [make("player.killed", 9), make("command.used", 8)];
  expect(judgeOnlineSince(newer)).toEqual({ kind: "atLeastSince", at: 8 });
  const events = [...newer, make("player.left", 5), make("player.joined", 3)];
  expect(judgeOnlineSince(events)).toEqual({ kind: "atLeastSince", at: 8 });
});

test("what happened before the first reading does not tell that they have stayed since", () => {
  const old = { ...make("player.killed", 2), backfill: true };
  expect(judgeOnlineSince([old])).toEqual({ kind: "unknown" });
  expect(judgeOnlineSince([make("player.killed", 9), old])).toEqual({ kind: "atLeastSince", at: 9 });
  expect(judgeOnlineSince([{ ...make("player.joined", 3), backfill: true }])).toEqual({ kind: "since", at: 3 });
});

test("without any event since the last leave, it is not known since when", () => {
  expect(judgeOnlineSince([])).toEqual({ kind: "unknown" });
  expect(judgeOnlineSince([make("player.left", 5), make("player.joined", 3)])).toEqual({ kind: "unknown" });
});

test("the newest leave is found", () => {
  expect(findLeaveTime([make("player.killed", 9), make("player.left", 5)])).toBe(5);
  expect(findLeaveTime([make("player.killed", 9)])).toBeUndefined();
});
