// The machine: free space on the disk of the data folder, the clock, and the limit on open files.
import { existsSync, readFileSync } from "node:fs";
import { CLOCK_OFFSET_MAX_MS } from "../core/clock-offset.ts";
import { type DiskSpace, judgeDiskSpace } from "../core/disk-space.ts";
import { formatBytes } from "../core/human-units.ts";
import { type Finding, reportAs } from "./finding.ts";

const disk = reportAs("disk");
const FREE_BYTES_MIN = 100 * 1024 * 1024;
const DISK_REMEDY = "Free some space, or move the data folder to a larger disk.";

export function judgeDisk(space: DiskSpace): Finding[] {
  const { freeBytes, totalBytes } = space;
  const share = totalBytes > 0 ? freeBytes / totalBytes : 1;
  const left = `${formatBytes(freeBytes)} (${Math.floor(share * 100)}%) are free on the data folder's disk.`;
  if (freeBytes < FREE_BYTES_MIN) return disk.fail(`Only ${left}`, DISK_REMEDY);
  if (judgeDiskSpace(space) !== "enough") return disk.warn(`Only ${left}`, DISK_REMEDY);
  return disk.ok(left);
}

const clock = reportAs("clock");
const YEAR_MIN = 2025;
const YEAR_MAX = 2100;
const CLOCK_REMEDY = "Let NTP set the clock: timedatectl set-ntp true, or chrony.";

/** `offsetMs`: how far our clock is ahead of the game API's; undefined when the game API has not answered. */
export function judgeClock(now: number, offsetMs: number | undefined): Finding[] {
  const year = new Date(now).getUTCFullYear();
  const shown = new Date(now).toISOString().slice(0, 19);
  if (year < YEAR_MIN || year > YEAR_MAX) return clock.fail(`The clock shows ${shown} UTC.`, CLOCK_REMEDY);
  if (offsetMs === undefined) {
    return clock.ok(`The clock shows ${shown} UTC; no game API has answered to compare it with.`);
  }
  const seconds = Math.round(Math.abs(offsetMs) / 1_000);
  if (Math.abs(offsetMs) <= CLOCK_OFFSET_MAX_MS) {
    return clock.ok(`The clock agrees with the game API's within ${CLOCK_OFFSET_MAX_MS / 1_000} s.`);
  }
  const direction = offsetMs > 0 ? "ahead of" : "behind";
  return clock.warn(`The clock is ${seconds} s ${direction} the game API's.`, CLOCK_REMEDY);
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
