import { expect, test } from "bun:test";
import { ArchiveUnavailable, StoreUnavailable } from "../../core/errors.ts";
import { Mutex, TURN_WAIT_MAX_MS } from "./admin-operation.ts";

const CALL = { extendIdleTimeout() {}, resetIdleTimeout() {} };

test("a change begins when the one before it has ended, also with a failure", async () => {
  const mutex = new Mutex(StoreUnavailable);
  const first = Promise.withResolvers<void>();
  const done: string[] = [];
  const failed = mutex.run(CALL, async () => {
    await first.promise;
    done.push("first");
    throw new Error("refused");
  });
  const second = mutex.run(CALL, async () => void done.push("second"));
  await Promise.resolve();
  expect(done).toEqual([]);
  first.resolve();
  expect(await failed.catch(({ message }) => message)).toBe("refused");
  await second;
  expect(done).toEqual(["first", "second"]);
});

test("a change that had to wait too long is not made; the next one is", async () => {
  let now = 0;
  const mutex = new Mutex(ArchiveUnavailable, () => now);
  const slow = Promise.withResolvers<void>();
  const first = mutex.run(CALL, () => slow.promise);
  await Promise.resolve();
  let isMade = false;
  const late = mutex
    .run(CALL, async () => {
      isMade = true;
    })
    .catch((error) => error);
  now += TURN_WAIT_MAX_MS + 1;
  const next = mutex.run(CALL, async () => "made");
  slow.resolve();
  await first;
  expect(await late).toBeInstanceOf(ArchiveUnavailable);
  expect(isMade).toBe(false);
  expect(await next).toBe("made");
});

test("the connection is kept until the change is made or has failed, and is cut as usual afterwards", async () => {
  const mutex = new Mutex(StoreUnavailable);
  const done: string[] = [];
  const call = { extendIdleTimeout: () => void done.push("keep"), resetIdleTimeout: () => void done.push("usual") };
  await mutex.run(call, async () => void done.push("change"));
  await mutex.run(call, () => Promise.reject(new Error("refused"))).catch(() => done.push("failed"));
  expect(done).toEqual(["keep", "change", "usual", "keep", "usual", "failed"]);
});
