// The record of log entries has a limit for each town and one for all towns together.
import { expect, test } from "bun:test";
import type { LoggedEntry } from "./log-lists.ts";
import { ENTRIES_MAX, ENTRIES_TOTAL_MAX, EntryRecord } from "./town-logs.ts";

const entryAt = (at: number): LoggedEntry => ({
  list: "KillLogs",
  entry: { at, killed: "A:1", killer: null },
});
const timesOf = (record: EntryRecord, since = 0) => record.list(since).entries.map(({ entry }) => entry.at);

test("beyond ENTRIES_MAX the oldest entries of a town are dropped, and the answer says so", () => {
  const record = new EntryRecord({ total: 0 });
  for (let i = 0; i < ENTRIES_MAX; i++) record.add(entryAt(i));
  expect(record.list(0)).toMatchObject({ next: ENTRIES_MAX, isTruncated: false });
  for (let i = 0; i < 3; i++) record.add(entryAt(ENTRIES_MAX + i));
  const { entries, next, isTruncated } = record.list(0);
  expect([entries.length, entries[0]?.entry.at, next, isTruncated]).toEqual([ENTRIES_MAX, 3, ENTRIES_MAX + 3, true]);
  expect(record.list(3).isTruncated).toBe(false);
  expect(timesOf(record, ENTRIES_MAX + 1)).toEqual([ENTRIES_MAX + 1, ENTRIES_MAX + 2]);
});

test("when all towns together keep ENTRIES_TOTAL_MAX, a town keeps no more than it has", () => {
  const count = { total: ENTRIES_TOTAL_MAX - 2 };
  const record = new EntryRecord(count);
  const late = new EntryRecord(count);
  for (let i = 0; i < 5; i++) record.add(entryAt(i));
  expect([timesOf(record), record.list(0).isTruncated, count.total]).toEqual([[3, 4], true, ENTRIES_TOTAL_MAX]);
  late.add(entryAt(9));
  expect(late.list(0)).toEqual({ entries: [], next: 1, isTruncated: true });
  record.clear();
  late.add(entryAt(10));
  expect([timesOf(late), count.total]).toEqual([[10], ENTRIES_TOTAL_MAX - 1]);
});
