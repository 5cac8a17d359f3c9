import { describe, expect, test } from "bun:test";
import type { Player } from "../../../core/wire/server-info.ts";
import type { ServerState } from "../../api/caller.ts";
import { listMarkers, MARKERS_MAX, shortenText } from "./markers.ts";

const BASE: ServerState = {
  Name: "Test",
  OwnerId: 1,
  CoOwnerIds: [],
  CurrentPlayers: 0,
  MaxPlayers: 40,
  JoinKey: "k",
  AccVerifiedReq: "Disabled",
  TeamBalance: true,
};

function at(x: unknown, z: unknown, more: Partial<Player> = {}): Player {
  return { Player: "Ann:1", Team: "Police", Location: { LocationX: x as number, LocationZ: z as number }, ...more };
}

describe("the markers of the map", () => {
  test("have X to the right and Z down", () => {
    expect(listMarkers({ ...BASE, Players: [at(3, -4)] })).toMatchObject([{ x: 3, y: -4 }]);
  });

  test("leave out players and calls without a valid position", () => {
    const places = [at(undefined, 1), at("1", 1), at(Number.NaN, 1), at(1e300, 1), { Player: "Bo:2" }, {}];
    expect(listMarkers({ ...BASE, Players: places as Player[], EmergencyCalls: [{}, { Position: [1] }] })).toEqual([]);
  });

  test("have different keys for players with the same id", () => {
    const keys = listMarkers({ ...BASE, Players: [at(1, 1), at(2, 2), at(3, 3)] }).map(({ key }) => key);
    expect(new Set(keys).size).toBe(3);
  });

  test("keep the key of a player who moves or changes the case of the name", () => {
    const [before] = listMarkers({ ...BASE, Players: [at(1, 1, { Player: "ann:77" })] });
    const [after] = listMarkers({ ...BASE, Players: [at(9, 9, { Player: "Ann:77" })] });
    expect(after?.key).toBe(before?.key ?? "");
  });

  test("have different keys for calls of two teams with the same number", () => {
    const calls = ["Police", "Fire"].map((Team) => ({ Team, CallNumber: 7, StartedAt: 5, Position: [1, 2] }));
    const keys = listMarkers({ ...BASE, EmergencyCalls: calls }).map(({ key }) => key);
    expect(new Set(keys).size).toBe(2);
  });

  test("are labelled with the callsign, or with the name when there is none", () => {
    const players = [at(1, 1, { Callsign: "5D-1" }), at(1, 1, { Callsign: null }), at(1, 1, { Callsign: "" })];
    expect(listMarkers({ ...BASE, Players: players }).map(({ label }) => label)).toEqual(["5D-1", "Ann", "Ann"]);
  });

  test("have between zero and nine stars, whatever the game sends", () => {
    const stars = [undefined, -2, 3, 1e9, "x"].map((WantedStars) => at(1, 1, { WantedStars } as Partial<Player>));
    const shown = listMarkers({ ...BASE, Players: stars }).map((marker) => marker.kind === "player" && marker.stars);
    expect(shown).toEqual([0, 0, 3, 9, 0]);
  });

  test("tell who waits for a moderator", () => {
    const players = [at(1, 1, { Player: "Ann:1" }), at(2, 2, { Player: "Bob:2" }), at(3, 3, { Player: "NoId" })];
    const found = listMarkers({ ...BASE, Players: players }, { callers: new Set(["2", ""]), kills: [], now: 0 });
    expect(found.map((marker) => marker.kind === "player" && marker.isCalling)).toEqual([false, true, false]);
  });

  test("are limited in number", () => {
    const players = Array.from({ length: MARKERS_MAX + 50 }, (_, n) => at(n, n, { Player: `P:${n}` }));
    expect(listMarkers({ ...BASE, Players: players })).toHaveLength(MARKERS_MAX);
  });
});

describe("a shortened text", () => {
  test("is cut between graphemes", () => {
    expect(shortenText("абвгд", 3)).toBe("абв…");
    expect(shortenText("👩‍👩‍👧x", 1)).toBe("👩‍👩‍👧…");
    expect(shortenText("abc", 3)).toBe("abc");
  });

  test("has no characters that change the direction or break the line", () => {
    expect(shortenText("a\u202eb\u0000c\u2028d\ne", 20)).toBe("a\ufffdb\ufffdc\ufffdd e");
  });

  test("is short even for one letter with a thousand combining marks, or for a megabyte", () => {
    expect(shortenText(`a${"\u0301".repeat(1000)}`, 5).length).toBeLessThanOrEqual(61);
    expect(shortenText("W".repeat(1_000_000), 18)).toHaveLength(19);
  });
});
