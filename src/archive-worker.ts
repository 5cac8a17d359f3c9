// The entry of the embedded archive's thread. What it runs is loaded with the first message, so that it delays no start.
declare const self: Worker;

const early: MessageEvent[] = [];

self.onmessage = (event) => {
  early.push(event);
  if (early.length === 1) void takeOver();
};

/** Without file descriptors it fails, which ends this thread. The next call of the archive starts another. */
async function takeOver(): Promise<void> {
  await import("./database/archive/worker.ts");
  for (const event of early) self.onmessage?.(event);
}
