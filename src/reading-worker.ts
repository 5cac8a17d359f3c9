// The entry of the reading thread.
import { setPriority } from "node:os";
import { openArchive } from "./database/archive/open-archive.ts";
import type { ToThread } from "./reading-thread/messages.ts";
import { ReadingHost } from "./reading-thread/reading-host.ts";
import { startArchiveThread } from "./threads.ts";

/** As with `nice`: the higher, the more the others come first. Much more than this would starve the thread. */
const PRIORITY = 5;

declare const self: Worker;

const host = new ReadingHost(
  (place, findState) => openArchive(place, startArchiveThread, findState),
  (message) => self.postMessage(message),
);

lowerPriority();

self.onmessage = ({ data }: MessageEvent<ToThread>) => host.take(data);

/** On Linux this is the priority of this thread alone. Requests come first. */
function lowerPriority(): void {
  if (process.platform !== "linux") return;
  try {
    setPriority(0, PRIORITY);
  } catch {
    // A sandbox may forbid it. The thread works all the same.
  }
}
