// Starts the threads. Their entries stand beside main.ts, because a compiled program finds them only there.
import { closeSync, openSync } from "node:fs";
import { devNull } from "node:os";

/** A thread takes two at once, and the runtime ends the whole process when it does not get them. */
const FREE_DESCRIPTORS_MIN = 8;

/** The thread of the embedded archive, see database/archive/worker.ts. Throws when there are too few file descriptors. */
export function startArchiveThread(): Worker {
  refuseWithoutDescriptors();
  return new Worker(new URL("./archive-worker.ts", import.meta.url).href, { smol: true });
}

/** Reads the game API and records events, see reading-thread/. Throws when there are too few file descriptors. */
export function startReadingThread(): Worker {
  refuseWithoutDescriptors();
  return new Worker(new URL("./reading-worker.ts", import.meta.url).href, { smol: true });
}

function refuseWithoutDescriptors(): void {
  const opened: number[] = [];
  try {
    while (opened.length < FREE_DESCRIPTORS_MIN) opened.push(openSync(devNull, "r"));
  } finally {
    for (const descriptor of opened) closeSync(descriptor);
  }
}
