import { expect, test } from "bun:test";
import type { Counts } from "../../core/history/counts.ts";
import { toCounts, toCountsRow } from "./history-rows.ts";

const COUNTS: Counts = {
  at: 1_800_000_000_000,
  knownMs: 60_000,
  playerMs: 240_000,
  min: 4,
  max: 4,
  queueMax: null,
  staffMax: 1,
  teamKnownMs: 60_000,
  teamMs: { Police: 240_000 },
};

test("teams that were known all of the time are written as in earlier versions, and read from them", () => {
  const row = toCountsRow(COUNTS);
  expect(row.teams).toBe('{"Police":240000}');
  expect(toCounts(row)).toEqual(COUNTS);
});

test("teams that were known for a part of the time, or never, come back with it", () => {
  const part = { ...COUNTS, teamKnownMs: 15_000, teamMs: { Police: 60_000 } };
  expect(toCountsRow(part).teams).toBe('[15000,{"Police":60000}]');
  const never = { ...COUNTS, teamKnownMs: 0, teamMs: {} };
  for (const counts of [part, never]) expect(toCounts(toCountsRow(counts))).toEqual(counts);
});
