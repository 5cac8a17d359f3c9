import { expect, test } from "bun:test";
import type { KillLog } from "../../../core/wire/server-info.ts";
import { listKills, MANY_KILLS, MANY_SECONDS } from "./kill-feed.ts";

const T0 = 1_800_000_000;
const kill = (Killer: string, Killed: string, at: number): KillLog => ({ Killer, Killed, Timestamp: T0 + at });

test("the newest kills come first, in whatever order the game tells them, each under a key of its own", () => {
  const kills = [kill("A:1", "B:2", 1), kill("C:3", "B:2", 9), kill("A:1", "B:2", 1), kill("A:1", "D:4", 5)];
  const feed = listKills(kills, 10);
  expect(feed.map(({ kill: { Timestamp = 0 } }) => Timestamp - T0)).toEqual([9, 5, 1, 1]);
  expect(new Set(feed.map(({ key }) => key)).size).toBe(4);
  expect(listKills(kills, 2)).toHaveLength(2);
});

test("a player who kills many within a minute is marked, from the kill on that makes it many", () => {
  const spree = Array.from({ length: MANY_KILLS + 1 }, (_, index) => kill("A:1", `V:${index + 10}`, index));
  const feed = listKills([...spree, kill("B:2", "C:3", 9)], 10);
  expect(feed.map(({ many }) => many)).toEqual([undefined, MANY_KILLS + 1, MANY_KILLS, undefined, undefined]);
});

test("kills that are a minute apart, deaths without a killer and one's own deaths are not many", () => {
  const slow = Array.from({ length: MANY_KILLS }, (_, index) => kill("A:1", "B:2", index * (MANY_SECONDS / 2)));
  const own = Array.from({ length: MANY_KILLS }, () => kill("A:1", "A:1", 0));
  const falls = Array.from({ length: MANY_KILLS }, () => ({ Killed: "B:2", Timestamp: T0 }));
  for (const kills of [slow, own, falls])
    expect(listKills(kills, 9).every(({ many }) => many === undefined)).toBe(true);
});
