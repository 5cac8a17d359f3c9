// Listeners learn of every reading, and callers never notice them.
import { beforeEach, expect, test } from "bun:test";
import { bad, good, nameOf, read, resetStage, stage } from "../../../test/relay-stage.ts";
import { StoreUnavailable } from "../../core/errors.ts";
import type { Log } from "../../core/ports/log.ts";
import { type NewReading, ReadingListeners } from "./reading-listeners.ts";

const READING: NewReading = {
  serverId: "srv_1",
  parts: { base: "{", sections: [], misfits: 0 },
  content: { settings: {}, sections: {} },
  gameServer: "Town",
  fetchedAt: 1_800_000_000_000,
};

function createListeners() {
  const warnings: string[] = [];
  const log: Log = { debug() {}, info() {}, warn: (_, message) => warnings.push(message), error() {} };
  return { listeners: new ReadingListeners(log), warnings };
}

/** Lets everything that was scheduled before this run. */
async function nextTurns(): Promise<void> {
  for (let i = 0; i < 3; i++) await new Promise((resolve) => setImmediate(resolve));
}

beforeEach(resetStage);

test("every listener gets every reading, and none gets failures or answers from the cache", async () => {
  const seen: string[] = [];
  for (const name of ["first", "second"]) {
    stage.relay.listeners.add(name, async ({ serverId }) => void seen.push(`${name} ${serverId}`));
  }
  stage.answerCall = () => good();
  await read();
  await read();
  stage.answerCall = () => bad(0);
  stage.now += 60_000;
  await read();
  await nextTurns();
  expect(seen).toEqual(["first a", "second a"]);
});

test("an answer does not wait for a listener, not even for one that blocks or never ends", async () => {
  let hasBegun = false;
  stage.relay.listeners.add("waiting for ever", () => {
    hasBegun = true;
    return new Promise(() => {});
  });
  expect(nameOf(await read())).toBe("Town");
  expect(hasBegun).toBe(false);
  await nextTurns();
  expect(hasBegun).toBe(true);
});

test("a listener that throws or rejects stops no other, and is logged by its purpose", async () => {
  const { listeners, warnings } = createListeners();
  let count = 0;
  listeners.add("throwing", () => {
    throw new TypeError("a bug");
  });
  listeners.add("rejecting", () => Promise.reject(new TypeError("a bug")));
  listeners.add("counting", async () => void count++);
  listeners.notify(READING);
  listeners.notify(READING);
  await nextTurns();
  expect(count).toBe(2);
  expect(warnings).toEqual(["a reading could not be used for throwing", "a reading could not be used for rejecting"]);
});

test("a store that does not answer is not logged here", async () => {
  const { listeners, warnings } = createListeners();
  listeners.add("storing", () => Promise.reject(new StoreUnavailable("not now")));
  listeners.notify(READING);
  await nextTurns();
  expect(warnings).toEqual([]);
});
