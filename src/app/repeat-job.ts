// Repeats a background job.
import { StoreUnavailable } from "../core/errors.ts";
import type { Log } from "../core/ports/log.ts";
import { createThrottle } from "../core/throttle.ts";

const FAULT_LOG_MS = 60_000;

export type Job = {
  /** Names the job in the log, as in "deleting old entries". */
  readonly purpose: string;
  readonly everyMs: number;
  /** Whether the first run begins now, without anybody waiting for it; otherwise it begins after `everyMs`. */
  readonly beginsNow?: true;
  readonly run: () => Promise<void>;
};

/**
 * Sleeps `everyMs` after each run, so that runs never overlap. A failed run is logged, and the job goes on. Returns a function
 * that stops the job without waiting for a run that has begun.
 */
export function repeatJob({ purpose, everyMs, beginsNow, run }: Job, log: Log): () => Promise<void> {
  const throttleFault = createThrottle(FAULT_LOG_MS);
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isStopped = false;

  function schedule(delayMs: number): void {
    if (isStopped) return;
    timer = setTimeout(() => void runOnce().then(() => schedule(everyMs)), delayMs);
    timer.unref();
  }

  async function runOnce(): Promise<void> {
    try {
      await run();
    } catch (error) {
      // The edge logs this already when callers are affected.
      if (error instanceof StoreUnavailable) return;
      throttleFault(performance.now(), (unlogged) =>
        log.error({ err: error, unlogged }, `${purpose} failed`),
      );
    }
  }

  schedule(beginsNow ? 0 : everyMs);
  return async () => {
    isStopped = true;
    clearTimeout(timer);
  };
}
