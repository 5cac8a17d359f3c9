// The judge of commands must see each kind of broken promise, or the long run proves nothing.
import { expect, test } from "bun:test";
import { findCommandFaults } from "./command-judge.ts";

const TEXTS = [":h c0 1", ":h c0 2", ":nonsense c0 3"];
const STATUSES = ["sent", "unknown", "failed"];

function play({
  texts = TEXTS,
  statuses = STATUSES,
  got = TEXTS,
  unknownMax = 1,
  mayUnknownBeLate = false,
} = {}): string[] {
  const commands = texts.map((command, n) => ({
    command_id: `cmd_${n}`,
    command,
    status: statuses[n] ?? "sent",
  }));
  const promised = TEXTS.map((text, n) => ({ commandId: `cmd_${n}`, text }));
  return findCommandFaults({ commands, promised, got, unknownMax, mayUnknownBeLate });
}

test("kept promises are no faults, whether an unknown command arrived or not", () => {
  expect(play()).toEqual([]);
  expect(play({ got: [":h c0 1", ":nonsense c0 3"] })).toEqual([]);
});

test("an unknown command may arrive late only where an instance can be frozen", () => {
  const got = [":h c0 1", ":nonsense c0 3", ":h c0 2"];
  expect(play({ got, mayUnknownBeLate: true })).toEqual([]);
  expect(play({ got })).toEqual([":h c0 2 is unknown and arrived out of order"]);
});

test.each([
  ["lost", { texts: TEXTS.slice(0, 2), got: TEXTS.slice(0, 2) }, ":nonsense c0 3 was accepted and is gone"],
  ["changed", { texts: [":h x 1", ...TEXTS.slice(1)], got: [] }, ":h c0 1 became :h x 1"],
  ["unfinished", { statuses: ["sending", "unknown", "failed"] }, ":h c0 1 is still sending"],
  ["delivered twice", { got: [":h c0 1", ...TEXTS] }, ":h c0 1 was delivered 2 times"],
  ["never delivered", { got: TEXTS.slice(1) }, ":h c0 1 is sent and never arrived"],
  ["wrongly ended", { statuses: ["failed", "unknown", "failed"] }, ":h c0 1 is failed"],
  ["never accepted", { got: [...TEXTS, ":h c9 1"] }, ":h c9 1 arrived and was never accepted"],
  ["out of order", { got: TEXTS.toReversed() }, ":h c0 1 is sent and arrived out of order"],
  ["unknown too often", { unknownMax: 0 }, "1 are unknown, more than 0"],
])("a command that is %s is a fault", (_, change, fault) => {
  expect(play(change)).toContain(fault);
});
