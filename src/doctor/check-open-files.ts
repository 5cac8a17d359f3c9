// The limit on open files of a process. Sockets count too, so every connection of a caller is one.
import { existsSync, readFileSync } from "node:fs";
import { type Finding, ok, skip, warn } from "./finding.ts";

const NAME = "open files";
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
  if (limit === undefined) return [skip(NAME, "This system does not publish its limit on open files.")];
  if (limit >= LIMIT_WANTED) {
    return [ok(NAME, `${Number.isFinite(limit) ? limit : "Any number of"} files may be open at once.`)];
  }
  return [
    warn(
      NAME,
      `Only ${limit} files may be open at once, and every connection is one.`,
      `Raise the limit to at least ${LIMIT_WANTED}: ulimit -n, LimitNOFILE= in a systemd unit, or ulimits in a compose file.`,
    ),
  ];
}
