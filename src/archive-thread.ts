// Starts the thread of the embedded archive.

export function startArchiveThread(): Worker {
  return new Worker(new URL("./archive-worker.ts", import.meta.url).href, { smol: true });
}
