// What several test files share is closed after the last of them. This file is loaded before all tests (bunfig.toml):
// that is what makes its hook one for the whole run.
import { afterAll } from "bun:test";

const closers: (() => Promise<unknown>)[] = [];
const CLOSE_MS = 20_000;

export function atEnd(close: () => Promise<unknown>): void {
  closers.push(close);
}

afterAll(async () => {
  for (const close of closers.splice(0).reverse()) await close();
}, CLOSE_MS);
