import { expect, test } from "bun:test";
import type { PlayersPoint } from "../../../core/wire/history.ts";
import { buildHistoryLines, summarise } from "./history-lines.ts";

const known = (at: number, avg: number): PlayersPoint => ({
  at,
  known: 1,
  min: avg - 1,
  avg,
  max: avg + 1,
  queue_max: 2,
});
const unknown = (at: number): PlayersPoint => ({ at, known: 0, min: null, avg: null, max: null, queue_max: null });

test("what is not known is a gap, never zero, and what may not be read has no line", () => {
  const lines = buildHistoryLines([known(1_000, 5), unknown(2_000), known(3_000, 7)]);
  expect(lines).toEqual({
    times: [1, 2, 3],
    average: [5, null, 7],
    low: [4, null, 6],
    high: [6, null, 8],
    queue: [2, null, 2],
    staff: undefined,
  });
});

test("the average of a period counts each point for as long as it is known, and not the last one alone", () => {
  const half = { ...known(30, 20), known: 0.5 };
  expect(summarise([unknown(0), known(10, 3), known(20, 9), half])?.average).toBe((3 + 9 + 10) / 2.5);
});

test("a period is summed up by what is known of it", () => {
  expect(summarise([unknown(0), unknown(1)])).toBeUndefined();
  expect(summarise([unknown(0), known(10, 3), known(20, 9), known(30, 4)])).toEqual({
    known: 0.75,
    average: 16 / 3,
    knownPoints: 3,
    firstAt: 10,
    isBegun: true,
    max: 10,
    maxAt: 20,
  });
});
