import { expect, test } from "bun:test";
import type { NewEvent } from "../events/new-event.ts";
import { findStaffActs } from "./judge-history.ts";

const AT = 1_800_000_000_000;

function used(player: string, more: Partial<NewEvent> = {}): NewEvent {
  return {
    ...{ type: "command.used", at: AT, seenAt: AT, source: "log", isBackfill: false, meta: null, section: null },
    ...{ identity: "i", players: [], data: JSON.stringify({ Player: player, Timestamp: AT / 1000, Command: ":h" }) },
    ...more,
  };
}

test("a command that a person sent through Gatehouse counts for their player, and without one for nobody", () => {
  expect(findStaffActs([used("Sam:54")])).toEqual([
    { player: "54", name: "Sam", at: AT, waited: null, kind: "message", identity: "i" },
  ]);
  expect(findStaffActs([used("Remote Server")])).toEqual([]);
  expect(findStaffActs([used("Remote Server", { staff: "Alex:7" })])).toEqual([
    { player: "7", name: "Alex", at: AT, waited: null, kind: "message", identity: "i" },
  ]);
});
