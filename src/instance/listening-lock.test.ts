import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findListening, isListening, ListeningLock } from "./listening-lock.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "gatehouse-lock-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("an address and port are shown as long as the lock is held, and no other ones", () => {
  const lock = ListeningLock.hold(folder, "::1", 8080);
  expect(isListening(folder, "::1", 8080)).toBe(true);
  expect(isListening(folder, "::1", 8081)).toBe(false);
  expect(isListening(folder, "127.0.0.1", 8080)).toBe(false);
  lock.release();
  expect(isListening(folder, "::1", 8080)).toBe(false);
  expect(readdirSync(folder)).toEqual([]);
});

test("a file without a lock shows nothing, whatever is in it", () => {
  writeFileSync(join(folder, "listening-127.0.0.1-8080.lock"), "");
  writeFileSync(join(folder, "listening-127.0.0.1-8081.lock"), "not a database ".repeat(100));
  for (const port of [8080, 8081]) expect(isListening(folder, "127.0.0.1", port)).toBe(false);
});

test("the instance on the folder is found by its lock, and by no other file", () => {
  expect(findListening(join(folder, "missing"))).toBeUndefined();
  writeFileSync(join(folder, "listening-127.0.0.1-8079.lock"), "");
  expect(findListening(folder)).toBeUndefined();
  const lock = ListeningLock.hold(folder, "fd00::1", 8081);
  expect(findListening(folder)).toEqual({ address: "fd00::1", port: 8081 });
  const operators = ListeningLock.hold(folder, "fd00::1", 8082);
  expect(findListening(folder)).toBeUndefined();
  operators.release();
  lock.release();
  expect(findListening(folder)).toBeUndefined();
});

test("files of killed processes do not pile up, and locks that are held stay", () => {
  for (let port = 1; port <= 20; port++) writeFileSync(join(folder, `listening-127.0.0.1-${port}.lock`), "");
  writeFileSync(join(folder, "gatehouse.db.lock"), "");
  const first = ListeningLock.hold(folder, "127.0.0.1", 8080);
  const second = ListeningLock.hold(folder, "127.0.0.1", 8081);
  const names = ["gatehouse.db.lock", "listening-127.0.0.1-8080.lock", "listening-127.0.0.1-8081.lock"];
  expect(readdirSync(folder).sort()).toEqual(names);
  expect(isListening(folder, "127.0.0.1", 8080)).toBe(true);
  first.release();
  second.release();
});

test("the file is for its owner only", () => {
  const lock = ListeningLock.hold(folder, "127.0.0.1", 8080);
  expect(statSync(join(folder, "listening-127.0.0.1-8080.lock")).mode & 0o777).toBe(0o600);
  lock.release();
});

test("a folder that does not exist shows nothing", () => {
  expect(isListening(join(folder, "nowhere"), "127.0.0.1", 8080)).toBe(false);
});
