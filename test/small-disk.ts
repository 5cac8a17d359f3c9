// A small disk: a tmpfs of a given size. Tests that use it need `mounting`.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeFolder, undoLater } from "./temporary.ts";

/** Creates a folder whose data folder is such a disk. */
export async function makeSmallDisk(size: string): Promise<string> {
  const cwd = makeFolder();
  const disk = join(cwd, "data");
  mkdirSync(disk);
  await mount(disk, size);
  return cwd;
}

/** Creates such a disk; it may be given to another user. */
export async function mountDisk(size: string): Promise<string> {
  const disk = mkdtempSync(join(tmpdir(), "gatehouse-disk-"));
  undoLater(() => rmSync(disk, { recursive: true, force: true }));
  await mount(disk, size);
  return disk;
}

/** A database that still has files open there loses them with its process. */
async function mount(disk: string, size: string): Promise<void> {
  await Bun.$`mount -t tmpfs -o size=${size},mode=700 tmpfs ${disk}`.quiet();
  undoLater(() => Bun.$`umount -l ${disk}`.nothrow().quiet());
}

/** Fills the disk to the last byte. */
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
