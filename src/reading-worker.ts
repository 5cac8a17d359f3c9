// The entry of the reading thread.
import { openArchive } from "./open-archive.ts";
import type { ToThread } from "./reading-thread/messages.ts";
import { ReadingHost } from "./reading-thread/reading-host.ts";

declare const self: Worker;

const host = new ReadingHost(openArchive, (message) => self.postMessage(message));

self.onmessage = ({ data }: MessageEvent<ToThread>) => host.take(data);
