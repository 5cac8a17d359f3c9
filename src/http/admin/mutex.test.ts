import { expect, test } from "bun:test";
import { StoreUnavailable } from "../../core/errors.ts";
import { Mutex, TURN_WAIT_MAX_MS } from "./mutex.ts";

test("a change begins when the one before it has ended, also with a failure", async () => {
  const mutex = new Mutex();
  const first = Promise.withResolvers<void>();
  const done: string[] = [];
  const failed = mutex.run(async () => {
    await first.promise;
    done.push("first");
    throw new Error("refused");
  });
  const second = mutex.run(async () => void done.push("second"));
  await Promise.resolve();
  expect(done).toEqual([]);
  first.resolve();
  expect(await failed.catch(({ message }) => message)).toBe("refused");
  await second;
  expect(done).toEqual(["first", "second"]);
});

test("a change that had to wait too long is not made; the next one is", async () => {
  let now = 0;
  const mutex = new Mutex(() => now);
  const slow = Promise.withResolvers<void>();
  const first = mutex.run(() => slow.promise);
  await Promise.resolve();
  let isMade = false;
  const late = mutex
    .run(async () => {
      isMade = true;
    })
    .catch((error) => error);
  now += TURN_WAIT_MAX_MS + 1;
  const next = mutex.run(async () => "made");
  slow.resolve();
  await first;
  expect(await late).toBeInstanceOf(StoreUnavailable);
  expect(isMade).toBe(false);
  expect(await next).toBe("made");
});
