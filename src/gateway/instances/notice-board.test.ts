// What a look finds: the store is asked although nobody uses it, and one look serves all who ask meanwhile.
import { beforeEach, expect, test } from "bun:test";
import type { NoticeFacts } from "../../core/notices.ts";
import { NoticeBoard } from "./notice-board.ts";

const NOW = 1_800_000_000_000;
let isStoreUsable: boolean;
let lines: string[];
let asked: string[];
let answer: Promise<readonly NoticeFacts[]>;
let board: NoticeBoard;

beforeEach(() => {
  isStoreUsable = true;
  lines = [];
  asked = [];
  answer = Promise.resolve([{ code: "redis_away" }]);
  const note = (_: object, message: string) => lines.push(message);
  board = new NoticeBoard({
    store: {
      async checkHealth() {
        asked.push("store");
        if (!isStoreUsable) throw new Error("the disk is gone");
      },
    },
    lookAtMachine: async () => void asked.push("machine"),
    list() {
      asked.push("list");
      return answer;
    },
    log: { info: note, warn: note, error: note },
  });
});

async function lookAt(now: number): Promise<readonly string[]> {
  return (await board.look(now)).map(({ code }) => code);
}

test("a store that cannot be used is found by the look itself, told first and logged once", async () => {
  expect(await lookAt(NOW)).toEqual(["redis_away"]);
  isStoreUsable = false;
  expect(await lookAt(NOW + 5_000)).toEqual(["store_unusable", "redis_away"]);
  expect(await lookAt(NOW + 10_000)).toEqual(["store_unusable", "redis_away"]);
  expect(lines.filter((line) => line === "the store is not usable")).toHaveLength(1);
  isStoreUsable = true;
  expect(await lookAt(NOW + 15_000)).toEqual(["redis_away"]);
  expect(lines.at(-1)).toBe("it is over: the database cannot be read or written");
});

test("the store is checked at most once a second, and the disk is looked at when it fails and when it is well again", async () => {
  for (const ms of [0, 500, 999]) await board.look(NOW + ms);
  expect(asked.filter((what) => what !== "list")).toEqual(["store"]);
  isStoreUsable = false;
  await board.look(NOW + 1_000);
  isStoreUsable = true;
  for (const ms of [2_000, 3_000]) await board.look(NOW + ms);
  expect(asked.filter((what) => what !== "list")).toEqual(["store", "store", "machine", "store", "machine", "store"]);
});

test("all who ask while a look is under way share it", async () => {
  const { promise, resolve } = Promise.withResolvers<readonly NoticeFacts[]>();
  answer = promise;
  const looks = [board.look(NOW), board.look(NOW), board.look(NOW + 2_000)];
  resolve([]);
  expect(await Promise.all(looks)).toEqual([[], [], []]);
  expect(asked).toEqual(["store", "list"]);
  await board.look(NOW + 2_000);
  expect(asked).toHaveLength(4);
});
