// What the reading thread runs: takes all messages from here on.
import { openArchive } from "../database/archive/open-archive.ts";
import type { ToThread } from "./messages.ts";
import { ReadingHost } from "./reading-host.ts";

declare const self: Worker;

export function runReading(startArchiveThread: () => Worker): void {
  const host = new ReadingHost(
    (place, findState) => openArchive(place, startArchiveThread, findState),
    (message) => self.postMessage(message),
  );
  self.onmessage = ({ data }: MessageEvent<ToThread>) => host.take(data);
}
