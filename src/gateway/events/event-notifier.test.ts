import { expect, test } from "bun:test";
import type { LedgerPosition } from "../../core/events/cursor.ts";
import { EventNotifier } from "./event-notifier.ts";

test("a reader of another server that comes while the archive is asked waits on", async () => {
  const asked = Promise.withResolvers<readonly string[]>();
  const answer = Promise.withResolvers<ReadonlyMap<string, LedgerPosition>>();
  let polls = 0;
  const notifier = new EventNotifier({
    archive: {
      findLast: (serverIds) => {
        asked.resolve(serverIds);
        return answer.promise;
      },
    },
    // Only the first pause ends.
    pause: () => (polls++ === 0 ? Promise.resolve() : new Promise(() => {})),
    log: { error() {} },
  });
  const ended = new AbortController().signal;
  const early = notifier.open("srv_a").wait(6, ended);
  expect(await asked.promise).toEqual(["srv_a"]);
  let isRung = false;
  void notifier
    .open("srv_b")
    .wait(3, ended)
    .then(() => {
      isRung = true;
    });
  answer.resolve(new Map([["srv_a", { number: 7, mark: 1 }]]));
  await early;
  await new Promise((resolve) => setImmediate(resolve));
  expect(isRung).toBe(false);
});
