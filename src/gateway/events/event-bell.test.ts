import { expect, test } from "bun:test";
import type { LedgerPlace } from "../../core/events/cursor.ts";
import { EventBell } from "./event-bell.ts";

test("a reader of another server that comes while the archive is asked waits on", async () => {
  const asked = Promise.withResolvers<readonly string[]>();
  const answer = Promise.withResolvers<ReadonlyMap<string, LedgerPlace>>();
  let polls = 0;
  const bell = new EventBell({
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
  const early = bell.open("srv_a").wait(6, ended);
  expect(await asked.promise).toEqual(["srv_a"]);
  let isRung = false;
  void bell
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
