// Room on the disk that the data folder is on, or will be on.
import { existsSync, statfsSync } from "node:fs";
import { dirname } from "node:path";
import { formatBytes } from "../core/byte-size.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

const NAME = "disk";
const MIB = 1024 * 1024;
const FREE_NEEDED_BYTES = 100 * MIB;
const FREE_WANTED_BYTES = 1024 * MIB;
const FREE_WANTED_SHARE = 0.05;
const REMEDY = "Free some space, or move the data folder to a larger disk.";

export type DiskFacts = { readonly freeBytes: number; readonly totalBytes: number };

export function lookAtDisk(folder: string): DiskFacts {
  let path = folder;
  while (!existsSync(path) && dirname(path) !== path) path = dirname(path);
  const { bavail, blocks, bsize } = statfsSync(path);
  return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
}

export function judgeDisk({ freeBytes, totalBytes }: DiskFacts): Finding[] {
  const share = totalBytes > 0 ? freeBytes / totalBytes : 1;
  const left = `${formatBytes(freeBytes)} (${Math.floor(share * 100)}%) are free on the data folder's disk.`;
  if (freeBytes < FREE_NEEDED_BYTES) return [fail(NAME, `Only ${left}`, REMEDY)];
  if (freeBytes < FREE_WANTED_BYTES || share < FREE_WANTED_SHARE) return [warn(NAME, `Only ${left}`, REMEDY)];
  return [ok(NAME, left)];
}
