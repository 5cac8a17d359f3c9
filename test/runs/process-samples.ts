// What a process used over a long time, and whether it kept growing.
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { countDescriptors, readResidentMb } from "../../bench/process-usage.ts";
import { median } from "../../bench/statistics.ts";
import { ESTABLISHED, listSockets, NO_INODE } from "../../src/http/socket/listening-socket.ts";

/** Before the time that is judged, caches fill, code is compiled and the allocator settles, which takes a quarter of an hour. */
const WARM_UP_SHARE = 1 / 3;
const WARM_UP_MAX_MS = 1_200_000;
/** The parts that are compared: the first after the warm-up, and the last. */
const PART_SHARE = 0.1;
const LONG_RUN_MS = 1_800_000;
const GROWTH_MAX = 0.05;
/** A short run ends before its memory has settled, so it only finds leaks that are large. */
const SHORT_GROWTH_MAX = 0.5;
/** Connections come and go, also while the process is looked at. */
const MORE_DESCRIPTORS_MAX = 20;

type ListeningProcess = { readonly pid: number; readonly port: number };

export type ProcessSample = {
  /** Since the end of the warm-up; negative before. */
  readonly atMs: number;
  readonly residentMb: number;
  /** Without those of open connections to its port: how many there are depends on the clients. */
  readonly descriptors: number;
  readonly diskMb: number;
};

export type Growth = {
  readonly memoryStartMb: number;
  readonly memoryEndMb: number;
  readonly memoryMaxMb: number;
  readonly descriptorsStart: number;
  readonly descriptorsEnd: number;
  readonly diskStartMb: number;
  readonly diskEndMb: number;
  readonly problems: readonly string[];
};

export async function takeSample(
  { pid, port }: ListeningProcess,
  folder: string,
  atMs: number,
): Promise<ProcessSample> {
  const before = countDescriptors(pid);
  const sockets = await listSockets(port);
  const open = sockets.filter(({ state, inode }) => state === ESTABLISHED && inode !== NO_INODE).length;
  // The larger of two counts: connections may be closed while they are listed, and too small a number would hide a leak.
  const descriptors = Math.max(before, countDescriptors(pid)) - open;
  return { atMs, residentMb: readResidentMb(pid), descriptors, diskMb: measureFolder(folder) };
}

/** The size of all files below the folder. */
function measureFolder(folder: string): number {
  let bytes = 0;
  for (const name of readdirSync(folder, { recursive: true }) as string[])
    bytes += statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0;
  return bytes / 1024 ** 2;
}

/** How long a run warms up before the time that is judged. */
export function findWarmUpMs(durationMs: number): number {
  return Math.min(WARM_UP_MAX_MS, durationMs * WARM_UP_SHARE);
}

/** Compares the last tenth of the judged time with its first tenth. */
export function judgeGrowth(samples: readonly ProcessSample[], durationMs: number): Growth {
  const partMs = durationMs * PART_SHARE;
  const judged = samples.filter(({ atMs }) => atMs >= 0);
  // A part of a short run has no sample when the machine was held up then: the one nearest to it counts.
  const first = orElse(
    judged.filter(({ atMs }) => atMs < partMs),
    judged.slice(0, 1),
  );
  const last = orElse(
    judged.filter(({ atMs }) => atMs >= durationMs - partMs),
    judged.slice(-1),
  );
  const memory = (part: readonly ProcessSample[]) => median(part.map(({ residentMb }) => residentMb));
  // The smallest number: a busy machine has more open calls for a while, but a leak is there all the time.
  const descriptors = (part: readonly ProcessSample[]) => {
    return part.length === 0 ? Number.NaN : Math.min(...part.map((sample) => sample.descriptors));
  };
  const disk = (part: readonly ProcessSample[]) => median(part.map(({ diskMb }) => diskMb));
  const growth = {
    memoryStartMb: Math.round(memory(first)),
    memoryEndMb: Math.round(memory(last)),
    memoryMaxMb: Math.round(Math.max(...samples.map(({ residentMb }) => residentMb))),
    descriptorsStart: descriptors(first),
    descriptorsEnd: descriptors(last),
    diskStartMb: Math.round(disk(first)),
    diskEndMb: Math.round(disk(last)),
  };
  const problems: string[] = [];
  const growthMax = durationMs >= LONG_RUN_MS ? GROWTH_MAX : SHORT_GROWTH_MAX;
  // Written so that a missing sample is a problem too.
  if (!(memory(last) <= memory(first) * (1 + growthMax)))
    problems.push(
      `resident memory grew from ${growth.memoryStartMb} MB to ${growth.memoryEndMb} MB, more than ${growthMax * 100} %`,
    );
  if (!(descriptors(last) <= descriptors(first) + MORE_DESCRIPTORS_MAX))
    problems.push(
      `open descriptors grew from ${growth.descriptorsStart} to ${growth.descriptorsEnd}, by more than ${MORE_DESCRIPTORS_MAX}`,
    );
  return { ...growth, problems };
}

function orElse<T>(found: readonly T[], others: readonly T[]): readonly T[] {
  return found.length > 0 ? found : others;
}
