import { expect, test } from "bun:test";
import type { GameServer } from "../../core/game-server.ts";
import { judgeUnread } from "./recorder.ts";

test("all servers that are not watched are judged, few at a time", async () => {
  const ids = Array.from({ length: 120 }, (_, n) => `srv_${n}`);
  const batches: string[][] = [[]];
  await judgeUnread({
    servers: { all: () => ids.map((serverId) => ({ serverId }) as GameServer) },
    isWatched: ({ serverId }) => serverId === "srv_7",
    recorder: {
      takeTime: (serverId) => void batches.at(-1)?.push(serverId),
      flush: async () => void batches.push([]),
    },
    clock: () => 0,
  });
  expect(batches.map(({ length }) => length)).toEqual([50, 50, 19, 0]);
  expect(batches.flat()).toEqual(ids.filter((id) => id !== "srv_7"));
});
