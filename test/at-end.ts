// Closes what several test files share, after the last of them. bunfig.toml loads this file before all tests, so its hook
// runs once for the whole run. In a worker of a parallel run it would run after each file: there, scripts/test.ts ends what is
// left when the worker ends.
import { afterAll } from "bun:test";

const closers: (() => Promise<unknown>)[] = [];
const CLOSE_MS = 20_000;

export function atEnd(close: () => Promise<unknown>): void {
  closers.push(close);
}

const isWorker = process.env.BUN_TEST_WORKER_ID !== undefined;

afterAll(async () => {
  if (isWorker) return;
  for (const close of closers.splice(0).reverse()) await close();
}, CLOSE_MS);
