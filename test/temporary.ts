// What a test has only while it runs: processes, folders, ports, and whatever else is undone. `cleanUp`, in an afterEach or
// afterAll, ends and deletes all of it, even when the test has failed.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const LOWEST_PORT = 11_000;
const PORT_COUNT = 20_000;
const PORT_TRIES = 100;

type Killable = { readonly exited: Promise<unknown>; kill(signal: "SIGKILL"): void };

const running = new Set<Killable>();
const folders = new Set<string>();
const undoings: (() => unknown)[] = [];
// Processes begin at different ports, and none gets a port twice.
let nextPort = Math.floor(Math.random() * PORT_COUNT);

export function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "gatehouse-process-"));
  folders.add(folder);
  return folder;
}

/**
 * A port that nothing listens on now. It lies below those that the system gives to connections and to listeners on port 0,
 * so that hardly anybody takes it before the program that gets it listens.
 */
export function findFreePort(): number {
  for (let tries = 0; tries < PORT_TRIES; tries++) {
    const port = LOWEST_PORT + (nextPort++ % PORT_COUNT);
    try {
      Bun.listen({ hostname: "127.0.0.1", port, socket: { data() {} } }).stop(true);
      return port;
    } catch {
      // It is in use.
    }
  }
  throw new Error("no free port was found");
}

/** Registers a function for `cleanUp`; the last one is called first, after all processes have ended. */
export function undoLater(undo: () => unknown): void {
  undoings.push(undo);
}

/** Registers a process for `cleanUp`, unless it ends before. */
export function killLater(child: Killable): void {
  running.add(child);
  void child.exited.then(() => running.delete(child));
}

export async function cleanUp(): Promise<void> {
  for (const child of running) child.kill("SIGKILL");
  await Promise.all([...running].map((child) => child.exited));
  running.clear();
  for (const undo of undoings.splice(0).reverse()) await undo();
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  folders.clear();
}
