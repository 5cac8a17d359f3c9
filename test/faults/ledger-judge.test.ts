// The judge of ledgers must see what is lost and what is told twice, or the runs that use it prove nothing.
import { expect, test } from "bun:test";
import { type Entries, findLedgerFaults } from "./ledger-judge.ts";

const kill = (Timestamp: number, Killed = "A:1") => ({ Killed, Timestamp });
const tell = (data: Record<string, unknown>) => ({ type: "player.killed", data });
const happen = (...elements: Record<string, unknown>[]): Entries =>
  elements.map((element) => ({ list: "KillLogs", element }));
const gap = (section: string, from: number | null, to: number | null) => {
  return { type: "gap", data: { section, reason: "no_overlap", from, to } };
};

test("what is told once, or lies in a gap of its list, is no fault", () => {
  const events = [tell(kill(1)), gap("KillLogs", 1_500, 2_500), tell(kill(3))];
  expect(findLedgerFaults(events, happen(kill(1), kill(2), kill(3)))).toEqual({ faults: [], judged: 3 });
});

test.each([
  ["in no gap", []],
  ["in a gap of another list", [gap("JoinLogs", null, null)]],
  ["in a gap of another time", [gap("KillLogs", 2_500, null)]],
])("an entry that is not told and %s is lost", (_, gaps) => {
  const { faults } = findLedgerFaults([tell(kill(1)), ...gaps, tell(kill(3))], happen(kill(1), kill(2), kill(3)));
  expect(faults).toEqual([expect.stringContaining("lost without a gap: KillLogs")]);
});

test("what is told more often than it happened is a fault", () => {
  const { faults } = findLedgerFaults([tell(kill(1)), tell(kill(1))], happen(kill(1)));
  expect(faults).toEqual([expect.stringContaining("told 2 times, happened 1 times")]);
});

test("entries between two equal ones cannot be judged", () => {
  const entries = happen(kill(1), kill(1, "B:2"), kill(1), kill(2, "C:3"));
  expect(findLedgerFaults([tell(kill(1)), tell(kill(2, "C:3"))], entries)).toEqual({ faults: [], judged: 3 });
});
