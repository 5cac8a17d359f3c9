import { describe, expect, test } from "bun:test";
import { alignPeriod } from "./answer-players.ts";
import { type Counts, RESOLUTION_MS, type Resolution } from "./counts.ts";
import { addCounts } from "./join-counts.ts";
import { answerPeaks, planPeaks } from "./peaks.ts";
import { openTimeZone, type TimeZone } from "./time-zone.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

type Period = { readonly from: number; readonly to: number };

function getZone(name: string): TimeZone {
  const zone = openTimeZone(name);
  if (!zone) throw new Error(`there is no zone ${name}`);
  return zone;
}

/** A minute of an invented world: some are unknown, some half known. */
function makeMinute(at: number): Counts | undefined {
  const index = at / MINUTE;
  if (index % 97 < 9) return undefined;
  const players = (index * 7 + Math.floor(index / 60) * 13) % 41;
  const knownMs = index % 5 === 0 ? 20_000 : MINUTE;
  const none = { queueMax: null, staffMax: null, teamKnownMs: 0, teamMs: {} };
  return { at, knownMs, playerMs: players * knownMs, min: players, max: players, ...none };
}

/** The counts of a period as the archive has them. */
function readCounts(resolution: Resolution, { from, to }: Period): Counts[] {
  const stepMs = RESOLUTION_MS[resolution];
  const rows = new Map<number, Counts>();
  for (let at = from; at < Math.ceil(to / stepMs) * stepMs; at += MINUTE) {
    const minute = makeMinute(at);
    const start = Math.floor(at / stepMs) * stepMs;
    const row = rows.get(start);
    if (minute) rows.set(start, row ? addCounts(row, minute) : { ...minute, at: start });
  }
  return [...rows.values()];
}

function readPeaks(period: Period, zone: TimeZone, now: number) {
  return answerPeaks(
    zone,
    planPeaks(period, zone, now).flatMap(({ resolution, period: part }) =>
      readCounts(resolution, part).map((counts) => ({ counts, lengthMs: RESOLUTION_MS[resolution] })),
    ),
  ).table;
}

const DAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

/** The same by walking minute by minute, and asking for the local time of each. */
function walkPeaks({ from, to }: Period, name: string) {
  const format = new Intl.DateTimeFormat("en-GB", {
    timeZone: name,
    weekday: "short",
    hour: "2-digit",
    hourCycle: "h23",
  });
  const sums = DAYS.map(() => Array.from({ length: 24 }, () => ({ known: 0, players: 0 })));
  const lengths = new Map<string, number>();
  for (let at = from; at < to; at += MINUTE) {
    const parts = format.formatToParts(at);
    const weekday = parts.find(({ type }) => type === "weekday")?.value ?? "";
    const hour = Number(parts.find(({ type }) => type === "hour")?.value);
    lengths.set(weekday, (lengths.get(weekday) ?? 0) + 1);
    const sum = sums[DAYS.indexOf(weekday)]?.[hour];
    const minute = makeMinute(at);
    if (!sum || !minute) continue;
    sum.known += minute.knownMs;
    sum.players += minute.playerMs;
  }
  const table = sums.map((row) =>
    row.map(({ known, players }) => (known > 0 ? Math.round((players / known) * 100) / 100 : null)),
  );
  return { table, lengths };
}

/** Around the days on which the clocks of each zone change; at noon UTC of the first day. */
const CHANGES: readonly (readonly [zone: string, firstDay: string])[] = [
  ["UTC", "2026-03-28"],
  ["Europe/Berlin", "2026-03-28"],
  ["Europe/Berlin", "2026-10-24"],
  ["America/New_York", "2026-03-07"],
  ["America/New_York", "2026-10-31"],
  ["Asia/Kolkata", "2026-03-28"],
  ["Asia/Kathmandu", "2026-10-24"],
  ["America/St_Johns", "2026-03-07"],
  ["Australia/Lord_Howe", "2026-04-03"],
  ["Australia/Lord_Howe", "2026-10-02"],
  ["Pacific/Chatham", "2026-09-25"],
  ["Pacific/Apia", "2026-01-01"],
];

describe("peaks", () => {
  for (const [name, firstDay] of CHANGES) {
    test(`are what a walk minute by minute finds: ${name} from ${firstDay}`, () => {
      const from = Date.parse(`${firstDay}T12:00Z`) + 35 * MINUTE;
      const period = { from, to: from + 2 * DAY + 95 * MINUTE };
      expect(readPeaks(period, getZone(name), period.to)).toEqual(walkPeaks(period, name).table);
    });
  }

  test("the walk has days of 23 and of 25 hours", () => {
    const sunday = (day: string) => {
      const from = Date.parse(`${day}T00:00Z`) - DAY;
      return walkPeaks({ from, to: from + 3 * DAY }, "Europe/Berlin").lengths.get("Sun");
    };
    expect([sunday("2026-03-29"), sunday("2026-10-25")]).toEqual([23 * 60, 25 * 60]);
  });

  test("what is older than five minutes are kept comes from hours, which are exact for zones with whole hours", () => {
    const from = Date.parse("2026-03-28T12:00Z");
    const period = { from, to: from + 3 * DAY };
    const now = period.to + 100 * DAY;
    const plans = planPeaks(period, getZone("Europe/Berlin"), now);
    expect(plans).toEqual([{ resolution: "1h", period }]);
    expect(readPeaks(period, getZone("Europe/Berlin"), now)).toEqual(walkPeaks(period, "Europe/Berlin").table);
    // Elsewhere an hour counts for each of its two local hours by its share.
    const zone = getZone("Asia/Kolkata");
    const [hour] = readCounts("1h", { from, to: from + HOUR });
    const table = readPeaks({ from, to: from + HOUR }, zone, now);
    const average = Math.round(((hour?.playerMs ?? 0) / (hour?.knownMs ?? 1)) * 100) / 100;
    expect(table[5]?.slice(16, 20)).toEqual([null, average, average, null]);
  });

  test("only hours that are cut, or not whole in the zone, are read in five minutes", () => {
    const from = Date.parse("2026-06-01T12:00Z");
    const period = { from: from + 7 * MINUTE, to: from + 400 * DAY + 3 * MINUTE };
    const resolutions = (name: string) =>
      planPeaks(period, getZone(name), period.to).map(({ resolution }) => resolution);
    expect(resolutions("Europe/Berlin")).toEqual(["1h", "5m"]);
    expect(resolutions("Asia/Kathmandu")).toEqual(["1h", "5m"]);
    const rows = planPeaks(period, getZone("Asia/Kathmandu"), period.to).reduce(
      (sum, { resolution, period: part }) => sum + (part.to - part.from) / RESOLUTION_MS[resolution],
      0,
    );
    expect(rows).toBeLessThan(30_000);
    const { to } = alignPeriod(period, "5m");
    expect(planPeaks(period, getZone("UTC"), period.to).at(-1)?.period).toEqual({
      from: to - 5 * MINUTE,
      to,
    });
  });

  test("nothing known is null, not zero; an empty server is zero", () => {
    const at = Date.parse("2026-06-01T00:00Z");
    const none = { queueMax: null, staffMax: null, teamKnownMs: 0, teamMs: {} };
    const counts = { at, knownMs: HOUR, playerMs: 0, min: 0, max: 0, ...none };
    const { table, tz } = answerPeaks(getZone("UTC"), [{ counts, lengthMs: HOUR }]);
    expect(tz).toBe("UTC");
    expect(table.flat().filter((value) => value !== null)).toEqual([0]);
    expect(table[0]?.[0]).toBe(0);
    expect(table.map((row) => row.length)).toEqual([24, 24, 24, 24, 24, 24, 24]);
  });
});

test("a zone that nobody knows is not opened", () => {
  for (const name of ["", "Nowhere/Town", "GMT+3", "../etc", "UTC\n", "Ю", "A".repeat(1_000)])
    expect(openTimeZone(name)).toBeUndefined();
  for (const name of ["UTC", "Europe/Moscow", "America/Argentina/Buenos_Aires", "Etc/GMT+3", "+05:30"])
    expect(openTimeZone(name)?.name).toBe(name);
});
