// Closes what several test files share, after the last of them. bunfig.toml loads this file before all tests, so its hook
// runs once for the whole run.
import { afterAll } from "bun:test";

const closers: (() => Promise<unknown>)[] = [];
const CLOSE_MS = 20_000;

export function atEnd(close: () => Promise<unknown>): void {
  closers.push(close);
}

afterAll(async () => {
  for (const close of closers.splice(0).reverse()) await close();
}, CLOSE_MS);
