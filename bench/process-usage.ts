// What a running process uses: memory, CPU time and file descriptors, as Linux tells them.
import { readdirSync, readFileSync } from "node:fs";

/** Resident memory, in megabytes. */
export function readResidentMb(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return (Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) * 1024) / 1e6;
  } catch {
    return Number.NaN;
  }
}

/** Linux reports CPU time in hundredths of a second. */
const TICKS_PER_SECOND = 100;

/** The CPU time that all threads of a process have used so far, in microseconds. */
export function readCpuMicros(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The second field is a name in brackets, which may contain spaces and brackets.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return ((Number(fields[11]) + Number(fields[12])) * 1e6) / TICKS_PER_SECOND;
  } catch {
    return Number.NaN;
  }
}

/** The number of open file descriptors. */
export function countDescriptors(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/fd`).length;
  } catch {
    return Number.NaN;
  }
}
