// Free space on the disk that holds the data folder, or will hold it.
import { existsSync, statfsSync } from "node:fs";
import { dirname } from "node:path";
import { formatBytes } from "../core/byte-size.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

const NAME = "disk";
const MIB = 1024 * 1024;
const FREE_BYTES_MIN = 100 * MIB;
const FREE_BYTES_WANTED = 1024 * MIB;
const FREE_WANTED_SHARE = 0.05;
const REMEDY = "Free some space, or move the data folder to a larger disk.";

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
  if (freeBytes < FREE_BYTES_MIN) return [fail(NAME, `Only ${left}`, REMEDY)];
  if (freeBytes < FREE_BYTES_WANTED || share < FREE_WANTED_SHARE) return [warn(NAME, `Only ${left}`, REMEDY)];
  return [ok(NAME, left)];
}
