// A disk that fills is told of with the days that it lasts; one that does not fill has no such number.
import { expect, test } from "bun:test";
import { addSample, countDaysLeft, type DiskSample, judgeDiskSpace } from "./disk-space.ts";
import { HOUR_MS } from "./durations.ts";

const GIB = 1024 ** 3;

test("a disk is full when nothing more can be written, and low below a gibibyte or a twentieth", () => {
  expect(judgeDiskSpace({ freeBytes: 0, totalBytes: 0 })).toBe("full");
  expect(judgeDiskSpace({ freeBytes: 1024 ** 2 - 1, totalBytes: GIB })).toBe("full");
  expect(judgeDiskSpace({ freeBytes: GIB - 1, totalBytes: 2 * GIB })).toBe("low");
  expect(judgeDiskSpace({ freeBytes: 4 * GIB, totalBytes: 100 * GIB })).toBe("low");
  expect(judgeDiskSpace({ freeBytes: 5 * GIB, totalBytes: 100 * GIB })).toBe("enough");
});

test("the days are counted at the rate of the last day, after an hour, and only while the disk fills", () => {
  let samples: readonly DiskSample[] = [];
  const at = (hours: number, freeGib: number) => ({ at: hours * HOUR_MS, freeBytes: freeGib * GIB });
  samples = addSample(samples, at(0, 100));
  expect(countDaysLeft(samples, at(0.5, 50))).toBeUndefined();
  expect(countDaysLeft(samples, at(12, 90))).toBe(4);
  expect(countDaysLeft(samples, at(12, 100))).toBeUndefined();
  for (let hours = 1; hours <= 48; hours++) samples = addSample(samples, at(hours, 100 - hours));
  expect(samples).toHaveLength(24);
  expect(countDaysLeft(samples, at(48, 52))).toBe(2);
});

test("a clock that was set back begins the count anew", () => {
  const samples = addSample([{ at: 5 * HOUR_MS, freeBytes: GIB }], { at: HOUR_MS, freeBytes: 1 });
  expect(samples).toEqual([{ at: HOUR_MS, freeBytes: 1 }]);
});
