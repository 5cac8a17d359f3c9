// Starts the threads. Their entries stand beside main.ts, because a compiled program finds them only there.

/** The thread of the embedded archive, see database/archive/worker.ts. */
export function startArchiveThread(): Worker {
  return new Worker(new URL("./archive-worker.ts", import.meta.url).href, { smol: true });
}

/** Reads the game API and records events, see reading-thread/. */
export function startReadingThread(): Worker {
  return new Worker(new URL("./reading-worker.ts", import.meta.url).href, { smol: true });
}
