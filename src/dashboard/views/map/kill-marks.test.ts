// Where kills are marked, for how long, and how faintly.
import { describe, expect, test } from "bun:test";
import type { KillLog, Player } from "../../../core/wire/server-info.ts";
import type { ServerState } from "../../api/caller.ts";
import { KILL_MARKS_MAX, KillMarks } from "./kill-marks.ts";
import { KILL_STEP_MS, KILL_STEPS, listMarkers } from "./markers.ts";

const NOW = 1_800_000_000_000;
const SECONDS = NOW / 1000;

function at(player: string, x: number, z = 0): Player {
  return { Player: player, Team: "Police", Location: { LocationX: x, LocationZ: z } };
}

function kill(killed: string, killer: string | undefined, secondsAgo: number): KillLog {
  return { Killed: killed, Timestamp: SECONDS - secondsAgo, ...(killer !== undefined && { Killer: killer }) };
}

function reading(players: readonly Player[], kills: readonly KillLog[] = []): ServerState {
  return { Players: players, KillLogs: kills } as unknown as ServerState;
}

const pointsOf = (marks: KillMarks, state: ServerState, now = NOW) => marks.read(state, now).map(({ x, y }) => [x, y]);

describe("a kill is marked", () => {
  test("where the killed player was in the reading before, not where they are now", () => {
    const marks = new KillMarks();
    marks.read(reading([at("Ann:1", 10), at("Bob:2", 20)]), NOW - 5_000);
    expect(pointsOf(marks, reading([at("Ann:1", 900), at("Bob:2", 25)], [kill("Ann:1", "Bob:2", 2)]))).toEqual([
      [10, 0],
    ]);
  });

  test("where the killer is, when the place of the killed player before is not known", () => {
    const state = reading([at("Ann:1", 900), at("Bob:2", 25)], [kill("Ann:1", "Bob:2", 2)]);
    expect(pointsOf(new KillMarks(), state)).toEqual([[25, 0]]);
    const gone = new KillMarks();
    gone.read(reading([at("Bob:2", 7)]), NOW - 5_000);
    expect(pointsOf(gone, reading([], [kill("Ann:1", "Bob:2", 2)]))).toEqual([[7, 0]]);
    expect(pointsOf(new KillMarks(), reading([at("Ann:1", 900)], [kill("Ann:1", undefined, 2)]))).toEqual([[900, 0]]);
  });

  test("nowhere without a place, and later when one is known", () => {
    const marks = new KillMarks();
    const entry = kill("Ann:1", "Bob:2", 2);
    expect(pointsOf(marks, reading([], [entry]))).toEqual([]);
    expect(pointsOf(marks, reading([at("Bob:2", 3)], [entry]))).toEqual([[3, 0]]);
  });

  test("where the player was last, while the game leaves the place out", () => {
    const marks = new KillMarks();
    marks.read(reading([at("Ann:1", 10)]), NOW - 10_000);
    marks.read(reading([{ Player: "Ann:1" }]), NOW - 5_000);
    expect(pointsOf(marks, reading([{ Player: "Ann:1" }], [kill("Ann:1", undefined, 1)]))).toEqual([[10, 0]]);
  });

  test("once, and stays in its place", () => {
    const marks = new KillMarks();
    const entry = kill("Ann:1", "Bob:2", 2);
    marks.read(reading([at("Bob:2", 3)], [entry]), NOW);
    expect(pointsOf(marks, reading([at("Bob:2", 500)], [entry, kill("Cid:3", "Bob:2", 1)]))).toEqual([
      [3, 0],
      [500, 0],
    ]);
  });

  test("for a minute, and the same list is given while nothing changes", () => {
    const marks = new KillMarks();
    const state = reading([at("Bob:2", 3)], [kill("Ann:1", "Bob:2", 0), kill("Ann:1", "Bob:2", 61)]);
    const first = marks.read(state, NOW);
    expect(first).toHaveLength(1);
    expect(marks.read(state, NOW + 59_000)).toBe(first);
    expect(marks.read(state, NOW + 60_000)).toEqual([]);
  });

  test("not more often than the map can show, and never without a time", () => {
    const many = Array.from({ length: KILL_MARKS_MAX + 30 }, (_, n) => kill(`P:${n}`, "Bob:2", n / 2));
    const broken = [{ Killed: "x", Killer: "Bob:2" }, { Timestamp: "now" }, {}] as unknown as KillLog[];
    const found = new KillMarks().read(reading([at("Bob:2", 3)], [...many, ...broken]), NOW);
    expect(found).toHaveLength(KILL_MARKS_MAX);
    expect(found.at(-1)?.killed.id).toBe("0");
  });
});

test("a mark fades in steps, and hostile names are short texts", () => {
  const state = reading([at("Bob:2", 3)], [kill(`${"W".repeat(500)}\u202e:1`, "Bob:2", 0)]);
  const kills = new KillMarks().read(state, NOW);
  const stepAt = (now: number) => {
    const [marker] = listMarkers(state, { callers: new Set(), kills, now });
    return marker?.kind === "kill" ? marker.step : undefined;
  };
  expect([-5_000, 0, KILL_STEP_MS - 1, KILL_STEP_MS, 59_999, 90_000].map((ms) => stepAt(NOW + ms))).toEqual([
    ...[0, 0, 0, 1],
    ...[KILL_STEPS - 1, KILL_STEPS - 1],
  ]);
  const [marker] = listMarkers(state, { callers: new Set(), kills, now: NOW });
  const name = marker?.kind === "kill" ? marker.killed.name : "";
  expect(name.length).toBeLessThan(70);
});
