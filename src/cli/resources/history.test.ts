// The tables of gatehouse history: they fit 80 columns, and unknown is not zero.

import { expect, test } from "bun:test";
import { NO_KINDS } from "../../core/history/command-kinds.ts";
import type { PlayersPoint, SessionResource, StaffResource } from "../../core/wire/history.ts";
import { printResources, type Screen } from "../terminal/fields.ts";
import { Printer } from "../terminal/printer.ts";
import { PLAYTIME_FIELDS, printPeaks, printPlayers, SESSION_FIELDS, STAFF_FIELDS } from "./history.ts";

const AT = 1_800_000_000_000;

function print(show: (screen: Screen) => void, width = 80): string[] {
  let text = "";
  const write = (more: string) => {
    text += more;
  };
  show({ printer: new Printer({ write, width, hasColours: false }), now: () => AT });
  const lines = text.trimEnd().split("\n");
  for (const line of lines) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(width);
  return lines;
}

function makePoint(known: number): PlayersPoint {
  const told = known > 0;
  return {
    at: AT,
    known,
    min: told ? 0 : null,
    avg: told ? 1.25 : null,
    max: told ? 3 : null,
    queue_max: null,
    staff_max: told ? 1 : null,
    teams: {},
  };
}

const SESSION: SessionResource = {
  player: `${"x".repeat(40)}:1`,
  id: "1",
  joined_at: AT,
  left_at: null,
  seconds: 7_265,
  ended: null,
  teams: { Civilian: 65, Police: 7_200 },
};

test("points tell how much is known of them, and unknown is not zero", () => {
  const points = [1, 0.9999, 0.0001, 0].map(makePoint);
  const [, ...rows] = print((screen) => printPlayers(screen, { resolution: "1m", points }));
  expect(rows.map((row) => row.replace(/^\S+ \S+ +/, "").split(/ +/))).toEqual([
    ["1.3", "0", "3", "100%", "-", "1"],
    ["1.3", "0", "3", "99%", "-", "1"],
    ["1.3", "0", "3", "1%", "-", "1"],
    ["-", "-", "-", "unknown", "-", "-"],
  ]);
  const none = { resolution: "1m", points: [makePoint(0)] } as const;
  expect(print((screen) => printPlayers(screen, { ...none, points: [...none.points] }))[0]).toContain("no readings");
});

test("sessions fit a terminal; a wide one has the teams too, longest first", () => {
  const narrow = print((screen) => printResources(screen, SESSION_FIELDS, [SESSION]));
  expect(narrow[1]).toContain("2h 1m");
  expect(narrow[1]).toContain("still there");
  const ended = { ...SESSION, left_at: AT + 60_000, ended: "vanished" as const };
  const wide = print((screen) => printResources(screen, SESSION_FIELDS, [ended]), 200);
  expect(wide[1]).toEndWith("Police 2h, Civilian 1m 5s");
  expect(wide[1]).toContain("vanished");
});

test("staff: how long callers waited is told as it is known, between two times", () => {
  const staff = (median_between: StaffResource["median_between"]): StaffResource => ({
    ...{ player: "A:1", id: "1", seconds: 59, teams: {}, role: "Mods", commands: 2, modcalls_answered: 1 },
    commands_by_kind: NO_KINDS,
    median_between,
  });
  const rows = print((screen) => printResources(screen, STAFF_FIELDS, [staff([42, 91]), staff([5, 5]), staff(null)]));
  expect(rows.slice(1).map((row) => row.split(/ {2,}/)[4])).toEqual(["42s to 1m 31s", "5s", "-"]);
});

test("playtime and peaks; a name cannot break its line", () => {
  const items = [{ player: "=\n\x1b[2J:1", id: "1", seconds: 90_061, sessions: 3 }];
  expect(print((screen) => printResources(screen, PLAYTIME_FIELDS, items))[1]).toMatch(/^=\\n\\x1b\[2J:1 +1d 1h +3$/);
  const table = Array.from({ length: 7 }, () => Array.from({ length: 24 }, (_, hour) => (hour > 0 ? 23.4567 : null)));
  const rows = print((screen) => printPeaks(screen, { tz: "UTC", table }));
  expect(rows).toHaveLength(26);
  expect(rows[1]).toBe("00:00  -     -     -     -     -     -     -");
  expect(rows[2]).toStartWith("01:00  23.5  23.5");
  expect(rows[25]).toContain("UTC");
});
