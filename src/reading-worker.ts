// The entry of the reading thread. What it runs is loaded with the first message after the one that opens it, so that it delays
// no start. The archive's thread is started at once, while there are file descriptors for it.
import { setPriority } from "node:os";
import type { FromThread, ToThread } from "./reading-thread/messages.ts";
import { startArchiveThread } from "./threads.ts";

/** As with `nice`: the higher, the more the others come first. Much more than this would starve the thread. */
const PRIORITY = 5;

declare const self: Worker;

const early: MessageEvent<ToThread>[] = [];
/** Started, and not yet used. */
let archiveThread: Worker | undefined;

self.onmessage = (event: MessageEvent<ToThread>) => {
  const { data } = event;
  early.push(event);
  if ("open" in data) prepareArchive("path" in data.open.archive);
  else if (early.length === 2) void takeOver();
};

function prepareArchive(isEmbedded: boolean): void {
  const tellReady = () => self.postMessage({ isReady: true } satisfies FromThread);
  if (isEmbedded) {
    archiveThread = startArchiveThread();
    archiveThread.addEventListener("open", tellReady);
    archiveThread.addEventListener("close", () => {
      archiveThread = undefined;
    });
  } else tellReady();
}

/** Without file descriptors it fails, which ends this thread. The next call starts another. */
async function takeOver(): Promise<void> {
  const { runReading } = await import("./reading-thread/run-reading.ts");
  runReading(() => {
    const thread = archiveThread ?? startArchiveThread();
    archiveThread = undefined;
    return thread;
  });
  lowerPriority();
  for (const event of early) self.onmessage?.(event);
}

/** On Linux this is the priority of this thread alone. Requests come first. */
function lowerPriority(): void {
  if (process.platform !== "linux") return;
  try {
    setPriority(0, PRIORITY);
  } catch {
    // A sandbox may forbid it. The thread works all the same.
  }
}
