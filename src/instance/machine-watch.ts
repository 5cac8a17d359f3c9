// Watches what an instance needs of its machine while it runs: room on the disk, the certificate, the file of the master key,
// and a clock that agrees with the game API's.
import { X509Certificate } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile, statfs } from "node:fs/promises";
import { dirname, join } from "node:path";
import { CLOCK_OFFSET_MAX_MS } from "../core/clock-offset.ts";
import { addSample, countDaysLeft, type DiskSample, type DiskSpace, judgeDiskSpace } from "../core/disk-space.ts";
import { DAY_MS } from "../core/durations.ts";
import type { NoticeFacts } from "../core/notices.ts";
import type { Clock } from "../core/ports/clock.ts";
import type { TlsPaths } from "./tls-files.ts";

export const LOOK_AT_MACHINE_MS = 60_000;
/** Most certificates are renewed earlier. */
const CERTIFICATE_DAYS_MIN = 14;
/** So many answers in a row must say that the clock is wrong: a single one may come from a cache. */
const OFFSETS_NEEDED = 3;

export type MachineWatchDeps = {
  readonly folder: string;
  readonly clock: Clock;
  /** Undefined when the master key is set elsewhere. */
  readonly masterKeyFile: string | undefined;
  readonly tls: TlsPaths | undefined;
  /** Replaced in tests. */
  readonly measure?: MeasureDisk | undefined;
};

export type MeasureDisk = (folder: string) => Promise<DiskSpace>;

/** Of the folder, or of the nearest one above it that exists. */
export async function measureDisk(folder: string): Promise<DiskSpace> {
  let path = folder;
  while (!existsSync(path) && dirname(path) !== path) path = dirname(path);
  const { bavail, blocks, bsize } = await statfs(path);
  return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
}

export function masterKeyFileOf(folder: string): string {
  return join(folder, "master.key");
}

export class MachineWatch {
  #looking: Promise<void> | undefined;
  #disk: DiskSpace | undefined;
  #samples: readonly DiskSample[] = [];
  #daysLeft: number | undefined;
  #isKeyGone = false;
  #validTo: number | undefined;
  /** How far the clock was ahead, by the last answers of the game API. */
  #offsets: readonly number[] = [];

  constructor(private readonly deps: MachineWatchDeps) {}

  /** Undefined before the first look, and where it cannot be measured. */
  get disk(): DiskSpace | undefined {
    return this.#disk;
  }

  /** One at a time for all who ask: a sick disk may take long to answer. Never throws. */
  look(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async #look(): Promise<void> {
    const { folder, clock, masterKeyFile, tls, measure = measureDisk } = this.deps;
    this.#isKeyGone = masterKeyFile !== undefined && !existsSync(masterKeyFile);
    const [disk, certificate] = await Promise.all([
      measure(folder).catch(() => undefined),
      tls && readFile(tls.certPath).catch(() => undefined),
    ]);
    this.#disk = disk;
    if (disk) {
      const sample = { at: clock(), freeBytes: disk.freeBytes };
      this.#samples = addSample(this.#samples, sample);
      this.#daysLeft = countDaysLeft(this.#samples, sample);
    }
    this.#validTo = certificate && findEnd(certificate);
  }

  /** `offsetMs`: how far this clock was ahead of the game API's, at least. */
  learnOffset(offsetMs: number): void {
    this.#offsets = [...this.#offsets, offsetMs].slice(-OFFSETS_NEEDED);
  }

  listNotices(now: number): NoticeFacts[] {
    return [...this.#listDisk(), ...this.#listClock(), ...this.#listCertificate(now), ...this.#listKey()];
  }

  #listDisk(): NoticeFacts[] {
    const disk = this.#disk;
    const state = disk ? judgeDiskSpace(disk) : "enough";
    if (!disk || state === "enough") return [];
    const { freeBytes, totalBytes } = disk;
    const free = { free_bytes: freeBytes, free_share: totalBytes > 0 ? freeBytes / totalBytes : 0 };
    const { folder: path } = this.deps;
    if (state === "full") return [{ code: "disk_full", ...free, path }];
    const daysLeft = this.#daysLeft;
    return [{ code: "disk_low", ...free, path, ...(daysLeft !== undefined && { days_left: daysLeft }) }];
  }

  #listClock(): NoticeFacts[] {
    const offsets = this.#offsets;
    const isWrong = offsets.length === OFFSETS_NEEDED && offsets.every((ms) => Math.abs(ms) > CLOCK_OFFSET_MAX_MS);
    return isWrong ? [{ code: "clock_wrong", offset_ms: Math.round(offsets.at(-1) ?? 0) }] : [];
  }

  #listCertificate(now: number): NoticeFacts[] {
    const until = this.#validTo;
    if (until === undefined) return [];
    const since = until - CERTIFICATE_DAYS_MIN * DAY_MS;
    const daysLeft = Math.max(0, Math.floor((until - now) / DAY_MS));
    return now < since ? [] : [{ code: "certificate_expiring", since, until, days_left: daysLeft }];
  }

  #listKey(): NoticeFacts[] {
    const { masterKeyFile: path } = this.deps;
    return this.#isKeyGone && path !== undefined ? [{ code: "key_file_gone", path }] : [];
  }
}

/** Undefined for rubbish: then the certificate that was there before is in use, and the log says so. */
function findEnd(certificate: Buffer): number | undefined {
  try {
    return Date.parse(new X509Certificate(certificate).validTo);
  } catch {
    return undefined;
  }
}
