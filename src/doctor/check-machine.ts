// The machine: free space on the disk of the data folder, the clock, and the limit on open files.
import { existsSync, readFileSync, statfsSync } from "node:fs";
import { dirname } from "node:path";
import { formatBytes } from "../core/human-units.ts";
import { type Finding, reportAs } from "./finding.ts";

const disk = reportAs("disk");
const MIB = 1024 * 1024;
const FREE_BYTES_MIN = 100 * MIB;
const FREE_BYTES_WANTED = 1024 * MIB;
const FREE_WANTED_SHARE = 0.05;
const DISK_REMEDY = "Free some space, or move the data folder to a larger disk.";

export type DiskFacts = { readonly freeBytes: number; readonly totalBytes: number };

export function inspectDisk(folder: string): DiskFacts {
  let path = folder;
  while (!existsSync(path) && dirname(path) !== path) path = dirname(path);
  const { bavail, blocks, bsize } = statfsSync(path);
  return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
}

export function judgeDisk({ freeBytes, totalBytes }: DiskFacts): Finding[] {
  const share = totalBytes > 0 ? freeBytes / totalBytes : 1;
  const left = `${formatBytes(freeBytes)} (${Math.floor(share * 100)}%) are free on the data folder's disk.`;
  if (freeBytes < FREE_BYTES_MIN) return disk.fail(`Only ${left}`, DISK_REMEDY);
  if (freeBytes < FREE_BYTES_WANTED || share < FREE_WANTED_SHARE) return disk.warn(`Only ${left}`, DISK_REMEDY);
  return disk.ok(left);
}

const clock = reportAs("clock");
const YEAR_MIN = 2025;
const YEAR_MAX = 2100;
const SKEW_MAX_MS = 5_000;
const CLOCK_REMEDY = "Let NTP set the clock: timedatectl set-ntp true, or chrony.";

/** `skewMs`: how far our clock is ahead of the game API's; undefined when the game API has not answered. */
export function judgeClock(now: number, skewMs: number | undefined): Finding[] {
  const year = new Date(now).getUTCFullYear();
  const shown = new Date(now).toISOString().slice(0, 19);
  if (year < YEAR_MIN || year > YEAR_MAX) return clock.fail(`The clock shows ${shown} UTC.`, CLOCK_REMEDY);
  if (skewMs === undefined) {
    return clock.ok(`The clock shows ${shown} UTC; no game API has answered to compare it with.`);
  }
  const seconds = Math.round(Math.abs(skewMs) / 1_000);
  if (Math.abs(skewMs) <= SKEW_MAX_MS) {
    return clock.ok(`The clock agrees with the game API's within ${SKEW_MAX_MS / 1_000} s.`);
  }
  const direction = skewMs > 0 ? "ahead of" : "behind";
  return clock.warn(`The clock is ${seconds} s ${direction} the game API's.`, CLOCK_REMEDY);
}

/** The Date header has whole seconds, so the middle of that second is the best guess. A cache on the way adds its Age. */
export function findSkewMs(date: string | null, age: string | null, now: number): number | undefined {
  const sentAt = date === null ? Number.NaN : Date.parse(date);
  if (Number.isNaN(sentAt)) return undefined;
  const ageMs = age !== null && /^\d{1,9}$/.test(age) ? Number(age) * 1_000 : 0;
  return now - (sentAt + 500 + ageMs);
}

const openFiles = reportAs("open files");
const LIMITS_FILE = "/proc/self/limits";
const LIMIT_WANTED = 4_096;

/** Undefined on systems that do not publish it. */
export function readOpenFileLimit(): number | undefined {
  return existsSync(LIMITS_FILE) ? parseOpenFileLimit(readFileSync(LIMITS_FILE, "utf8")) : undefined;
}

/** The soft limit, which is the one in force. */
export function parseOpenFileLimit(limits: string): number | undefined {
  const soft = /^Max open files\s+(\S+)/m.exec(limits)?.[1];
  if (soft === "unlimited") return Number.POSITIVE_INFINITY;
  return soft !== undefined && /^\d+$/.test(soft) ? Number(soft) : undefined;
}

export function judgeOpenFileLimit(limit: number | undefined): Finding[] {
  if (limit === undefined) return openFiles.skip("This system does not publish its limit on open files.");
  if (limit >= LIMIT_WANTED) {
    return openFiles.ok(`${Number.isFinite(limit) ? limit : "Any number of"} files may be open at once.`);
  }
  return openFiles.warn(
    `Only ${limit} files may be open at once, and every connection is one.`,
    `Raise the limit to at least ${LIMIT_WANTED}: ulimit -n, LimitNOFILE= in a systemd unit, or ulimits in a compose file.`,
  );
}
