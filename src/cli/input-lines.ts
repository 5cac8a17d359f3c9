// Reads standard input line by line, which is how scripts hand over secrets.
import { readSync } from "node:fs";

const STANDARD_INPUT = 0;
const LINE_BYTES_MAX = 16_384;
const RETRY_MS = 20;

let unread = Buffer.alloc(0);

/** The next line, trimmed; empty at the end of the input. */
export function readInputLine(): string {
  const chunk = Buffer.alloc(LINE_BYTES_MAX);
  while (!unread.includes("\n") && unread.length < LINE_BYTES_MAX) {
    const size = readChunk(chunk);
    if (size === 0) break;
    unread = Buffer.concat([unread, chunk.subarray(0, size)]);
  }
  const end = unread.indexOf("\n");
  const line = end === -1 ? unread : unread.subarray(0, end);
  unread = end === -1 ? Buffer.alloc(0) : unread.subarray(end + 1);
  return line.toString("utf8").trim();
}

/** Synchronous: an asynchronous reader would keep the process alive until the other end of the pipe is closed. */
function readChunk(chunk: Buffer): number {
  while (true) {
    try {
      return readSync(STANDARD_INPUT, chunk);
    } catch (error) {
      const code = error instanceof Error && "code" in error ? error.code : undefined;
      if (code === "EOF") return 0;
      if (code !== "EAGAIN") throw error;
      Bun.sleepSync(RETRY_MS);
    }
  }
}
