// The end of a wait for something that may never come: after its time, when the caller has gone, at a drain, or when the caller
// may not go on.
import type { SleepUntilWoken } from "../../core/ports/clock.ts";

/** How often it is checked whether a caller that waits may still do so. */
export const RECHECK_MS = 1_000;

/** How long a caller waits, and what ends its wait before. */
export type WaitOptions = {
  readonly waitMs: number;
  /** Undefined for an operator. */
  readonly keyId: string | undefined;
  /** Aborted when the caller has gone. */
  readonly signal: AbortSignal;
  /** The wait ends when this says false. */
  readonly mayGoOn: () => Promise<boolean>;
};

/** Runs `wait` with a signal that ends it. `stopped` is aborted at a drain. */
export async function waitBounded<T>(
  { waitMs, signal, mayGoOn }: WaitOptions,
  stopped: AbortSignal,
  pause: SleepUntilWoken,
  wait: (ended: AbortSignal) => Promise<T>,
): Promise<T> {
  const ended = new AbortController();
  const end = () => ended.abort();
  const endings = [signal, stopped];
  for (const ending of endings) {
    ending.addEventListener("abort", end, { once: true });
    if (ending.aborted) end();
  }
  void pause(waitMs, ended.signal).then(end);
  void recheck(mayGoOn, ended, pause);
  try {
    return await wait(ended.signal);
  } finally {
    end();
    for (const ending of endings) ending.removeEventListener("abort", end);
  }
}

async function recheck(mayGoOn: () => Promise<boolean>, ended: AbortController, pause: SleepUntilWoken): Promise<void> {
  for (;;) {
    await pause(RECHECK_MS, ended.signal);
    if (ended.signal.aborted) return;
    // When it cannot be told, the wait ends, and the one who answers asks again.
    if (!(await mayGoOn().catch(() => false))) ended.abort();
  }
}
