// The rules for readers of streams: when a heartbeat is due, and when a reader is too slow to be kept.

export const HEARTBEAT_MS = 15_000;
/** A reader that takes nothing for this long is too slow. */
export const STALLED_MS = 30_000;
/** More does not wait for one reader. */
export const WAITING_BYTES_MAX = 1024 ** 2;
/** How long a reader may take to bring what waits for it from the maximum to half of it: a burst alone makes nobody slow. */
export const OVERFLOW_GRACE_MS = 1_000;

/** What is known of a reader's progress. */
export type Progress = {
  /** Bytes that the reader has taken since the beginning. */
  readonly takenBytes: number;
  /** When it had last taken some, or nothing waited for it. */
  readonly takenAt: number;
  /** Since when the maximum waited for it; undefined when it did not. */
  readonly overflowedAt: number | undefined;
};

export type ProgressNow = {
  /** Bytes that wait for the reader beyond the kernel's buffers. */
  readonly waitingBytes: number;
  readonly takenBytes: number;
};

export function startProgress(now: number): Progress {
  return { takenBytes: 0, takenAt: now, overflowedAt: undefined };
}

/** The next state, or `slow`. */
export function judgeProgress(
  known: Progress,
  { waitingBytes, takenBytes }: ProgressNow,
  now: number,
): Progress | "slow" {
  // Times ahead were noted before the clock was set back.
  const overflowedAt = known.overflowedAt === undefined ? undefined : Math.min(known.overflowedAt, now);
  const isDrained = waitingBytes < WAITING_BYTES_MAX / 2;
  if (overflowedAt !== undefined && !isDrained && now - overflowedAt >= OVERFLOW_GRACE_MS) return "slow";
  const isMoving = waitingBytes === 0 || takenBytes !== known.takenBytes;
  const takenAt = isMoving ? now : Math.min(known.takenAt, now);
  if (now - takenAt >= STALLED_MS) return "slow";
  return { takenBytes, takenAt, overflowedAt: isDrained ? undefined : overflowedAt };
}

/** Nothing is said to a reader for which something waits. A last message ahead was sent before the clock was set back. */
export function isHeartbeatDue(lastMessageAt: number, waitingBytes: number, now: number): boolean {
  return waitingBytes === 0 && Math.abs(now - lastMessageAt) >= HEARTBEAT_MS;
}
