import { expect, test } from "bun:test";
import type { SessionResource } from "../../../core/wire/history.ts";
import { sumSessions } from "./player-sessions.tsx";

function session(joined_at: number, left_at: number | null): SessionResource {
  return { player: "Anna:1", id: "1", joined_at, left_at, seconds: 0, ended: null, teams: {} };
}

test("playtime counts what lies in the period, and an open session until its end", () => {
  const period = { from: 10_000, to: 100_000 };
  expect(sumSessions([session(0, 20_000), session(30_000, 35_500), session(90_000, null)], period)).toBe(25);
  expect(sumSessions([session(0, 5_000), session(200_000, null)], period)).toBe(0);
});
