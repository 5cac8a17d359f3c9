// Waiting before the next request. Tests hand in a pause of their own.

/** Resolves after this time, or at once when the signal aborts. */
export type Pause = (ms: number, signal?: AbortSignal) => Promise<void>;

export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const finish = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", finish);
      resolve();
    };
    const timer = setTimeout(finish, ms);
    signal?.addEventListener("abort", finish);
  });
}
