import { expect, test } from "bun:test";
import { NO_KINDS } from "./command-kinds.ts";
import { writePeaksCsv, writePlayersCsv, writePlaytimeCsv, writeSessionsCsv, writeStaffCsv } from "./history-csv.ts";

const AT = 1_800_000_000_000;
const ISO = "2027-01-15T08:00:00.000Z";

test("points have a column for each team; unknown is empty, nobody in a team is 0", () => {
  const known = { at: AT, known: 1, min: 1, avg: 1.5, max: 2, queue_max: 0, staff_max: null };
  const unknown = { at: AT, known: 0, min: null, avg: null, max: null, queue_max: null, staff_max: null };
  const points = [
    { ...known, teams: { Police: 1.5 } },
    { ...known, teams: JSON.parse('{"constructor":1}') },
    { ...unknown, teams: null },
  ];
  expect(writePlayersCsv({ resolution: "1m", points }).split("\r\n")).toEqual([
    '"at","known","min","avg","max","queue_max","staff_max","team Police","team constructor"',
    `"${ISO}",1,1,1.5,2,0,,1.5,0`,
    `"${ISO}",1,1,1.5,2,0,,0,1`,
    `"${ISO}",0,,,,,,,`,
    "",
  ]);
});

test("names are text in every table, whatever they begin with, and every value has a column of its own", () => {
  const who = { player: "=cmd:1", id: "1", seconds: 60, teams: { Police: 60 } };
  const session = { ...who, joined_at: AT, left_at: null, ended: null };
  expect(writeSessionsCsv([session, { ...session, teams: {} }])).toBe(
    `"player","id","joined_at","left_at","seconds","ended","team Police"\r\n` +
      `"'=cmd:1","1","${ISO}",,60,,60\r\n"'=cmd:1","1","${ISO}",,60,,0\r\n`,
  );
  expect(writePlaytimeCsv([{ player: "=cmd:1", id: "1", seconds: 60, sessions: 2 }])).toBe(
    `"player","id","seconds","sessions"\r\n"'=cmd:1","1",60,2\r\n`,
  );
  const staff = {
    ...{ ...who, role: "Mods", commands: 3, commands_by_kind: { ...NO_KINDS, kick: 2 } },
    ...{ modcalls_answered: 1, median_between: [5, 9] as [number, number] },
  };
  expect(writeStaffCsv([staff, { ...staff, role: null, teams: { "@x,y": 9 }, median_between: null }])).toBe(
    '"player","id","role","seconds","commands","kick","ban","jail","message","teleport",' +
      '"modcalls_answered","median_at_least","median_at_most","team @x,y","team Police"\r\n' +
      `"'=cmd:1","1","Mods",60,3,2,0,0,0,0,1,5,9,0,60\r\n"'=cmd:1","1",,60,3,2,0,0,0,0,1,,,9,0\r\n`,
  );
});

test("the table of a week has 24 rows", () => {
  const table = Array.from({ length: 7 }, (_, day) => Array.from({ length: 24 }, () => (day === 6 ? null : day)));
  const lines = writePeaksCsv({ tz: "UTC", table }).trimEnd().split("\r\n");
  expect(lines[0]).toBe('"hour (UTC)","Monday","Tuesday","Wednesday","Thursday","Friday","Saturday","Sunday"');
  expect(lines).toHaveLength(25);
  expect(lines[24]).toBe("23,0,1,2,3,4,5,");
});
