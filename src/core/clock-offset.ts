// How far the clock of this machine is off, judged by the Date header of an answer. Pure.

/** A smaller difference is no fault: the header has whole seconds, and answers take time. */
export const CLOCK_OFFSET_MAX_MS = 5_000;
const HEADER_STEP_MS = 1_000;

/**
 * How far our clock is ahead of the one that wrote the headers, at least; 0 when they may agree. The header was written
 * between `sentAt` and `receivedAt`, by our clock. A cache on the way adds its Age. Undefined without a Date.
 */
export function findClockOffset(headers: Pick<Headers, "get">, sentAt: number, receivedAt: number): number | undefined {
  const date = Date.parse(headers.get("date") ?? "");
  if (Number.isNaN(date)) return undefined;
  const age = headers.get("age");
  const writtenAt = date + (age !== null && /^\d{1,9}$/.test(age) ? Number(age) * 1_000 : 0);
  if (writtenAt + HEADER_STEP_MS < sentAt) return sentAt - writtenAt - HEADER_STEP_MS;
  return writtenAt > receivedAt ? receivedAt - writtenAt : 0;
}
