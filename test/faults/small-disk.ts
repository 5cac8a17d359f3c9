// A disk that has so much room and no more: a tmpfs. Tests of it need `mounting`.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeFolder, undoLater } from "../process/run-gatehouse.ts";

/** A folder with a data folder in it that is such a disk. */
export async function makeSmallDisk(size: string): Promise<string> {
  const cwd = makeFolder();
  const disk = join(cwd, "data");
  mkdirSync(disk);
  await Bun.$`mount -t tmpfs -o size=${size},mode=700 tmpfs ${disk}`.quiet();
  undoLater(() => Bun.$`umount ${disk}`.nothrow().quiet());
  return cwd;
}

/** Takes all the room there is, to the last byte. */
export function fill(path: string): void {
  const block = Buffer.alloc(64 * 1024, 0x20);
  let size = block.length;
  while (size > 0) {
    try {
      writeFileSync(path, block.subarray(0, size), { flag: "a" });
    } catch {
      size >>= 1;
    }
  }
}
