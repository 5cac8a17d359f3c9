import { expect, test } from "bun:test";
import { listCommands } from "./command-list.ts";
import type { Reply } from "./redis-link.ts";

const OF_KEY = { serverId: "srv_1", keyId: "key_1", limit: 10 };
const HISTORY = 1_000_000;
const READ_AT_ONCE = 500;

test("a page of one key's commands reads a bounded part of the history, and the next page goes on from there", async () => {
  const asked: number[] = [];
  const histories = {
    // A history in which every command is another key's.
    runList: async (_: string, args: readonly (string | number)[]): Promise<Reply> => {
      const before = Math.min(Number(args[0]), HISTORY);
      asked.push(before);
      return [String(before - READ_AT_ONCE), []];
    },
    listServerIds: () => [],
    listMarked: async () => [],
  };
  const first = await listCommands(histories, OF_KEY);
  expect(first.items).toEqual([]);
  const calls = asked.length;
  expect(calls).toBeLessThanOrEqual(20);
  await listCommands(histories, { ...OF_KEY, cursor: first.next ?? "" });
  expect(asked[calls]).toBe(HISTORY - calls * READ_AT_ONCE);
});
