// Waiting in tests, with deadlines that only a failure reaches.

const POLL_EVERY_MS = 20;

/** Polls until the condition is true. */
export async function until(
  complaint: string,
  isSo: () => boolean | Promise<boolean>,
  deadlineMs = 60_000,
): Promise<void> {
  const deadline = Date.now() + deadlineMs;
  while (!(await isSo())) {
    if (Date.now() > deadline) throw new Error(`${complaint} (waited ${deadlineMs} ms)`);
    await Bun.sleep(POLL_EVERY_MS);
  }
}

export function within<T>(ms: number, promise: Promise<T>, complaint: string): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`${complaint} (waited ${ms} ms)`)), ms);
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
