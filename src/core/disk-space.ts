// How full the disk of the data folder is, and how long it lasts at the rate of the last hours. Pure.
import { DAY_MS, HOUR_MS } from "./durations.ts";

const MIB = 1024 * 1024;
/** SQLite needs some room for its log, and what others write comes in pieces. */
const FULL_BYTES = MIB;
const WANTED_BYTES = 1024 * MIB;
const WANTED_SHARE = 0.05;
const SAMPLES_MAX = 24;

export type DiskSpace = { readonly freeBytes: number; readonly totalBytes: number };

export type DiskSample = { readonly at: number; readonly freeBytes: number };

export function judgeDiskSpace({ freeBytes, totalBytes }: DiskSpace): "enough" | "low" | "full" {
  if (freeBytes < FULL_BYTES) return "full";
  return freeBytes < WANTED_BYTES || freeBytes < totalBytes * WANTED_SHARE ? "low" : "enough";
}

/** One each hour, those of the last day. */
export function addSample(samples: readonly DiskSample[], sample: DiskSample): readonly DiskSample[] {
  const last = samples.at(-1);
  // A clock that was set back begins anew.
  if (last && sample.at < last.at) return [sample];
  return last && sample.at - last.at < HOUR_MS ? samples : [...samples, sample].slice(-SAMPLES_MAX);
}

/** Whole days until the disk is full. Undefined when it does not fill, and until it was watched for an hour. */
export function countDaysLeft([oldest]: readonly DiskSample[], { at, freeBytes }: DiskSample): number | undefined {
  if (!oldest || at - oldest.at < HOUR_MS || oldest.freeBytes <= freeBytes) return undefined;
  const bytesADay = ((oldest.freeBytes - freeBytes) / (at - oldest.at)) * DAY_MS;
  return Math.floor(freeBytes / bytesADay);
}
