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
  return {
    Player: "Ann:1",
    Team: "Police",
    Location: { LocationX: x as number, LocationZ: z as number },
    ...more,
  };
}

describe("what stands on the map", () => {
  test("X grows right and Z grows down", () => {
    expect(listMarkers({ ...BASE, Players: [at(3, -4)] })).toMatchObject([{ x: 3, y: -4 }]);
  });

  test("who has no place that makes sense is left out", () => {
    const places = [at(undefined, 1), at("1", 1), at(Number.NaN, 1), at(1e300, 1), { Player: "Bo:2" }, {}];
    expect(
      listMarkers({ ...BASE, Players: places as Player[], EmergencyCalls: [{}, { Position: [1] }] }),
    ).toEqual([]);
  });

  test("two with the same id are two marks", () => {
    const keys = listMarkers({ ...BASE, Players: [at(1, 1), at(2, 2), at(3, 3)] }).map(({ key }) => key);
    expect(new Set(keys).size).toBe(3);
  });

  test("a player keeps the same key while it moves and changes its name's case", () => {
    const [before] = listMarkers({ ...BASE, Players: [at(1, 1, { Player: "ann:77" })] });
    const [after] = listMarkers({ ...BASE, Players: [at(9, 9, { Player: "Ann:77" })] });
    expect(after?.key).toBe(before?.key ?? "");
  });

  test("calls with the same number are told apart by team", () => {
    const calls = ["Police", "Fire"].map((Team) => ({ Team, CallNumber: 7, StartedAt: 5, Position: [1, 2] }));
    const keys = listMarkers({ ...BASE, EmergencyCalls: calls }).map(({ key }) => key);
    expect(new Set(keys).size).toBe(2);
  });

  test("the callsign is written beside a mark, without one the name", () => {
    const players = [
      at(1, 1, { Callsign: "5D-1" }),
      at(1, 1, { Callsign: null }),
      at(1, 1, { Callsign: "" }),
    ];
    expect(listMarkers({ ...BASE, Players: players }).map(({ label }) => label)).toEqual([
      "5D-1",
      "Ann",
      "Ann",
    ]);
  });

  test("stars that are no small number are none, or nine", () => {
    const stars = [undefined, -2, 3, 1e9, "x"].map((WantedStars) =>
      at(1, 1, { WantedStars } as Partial<Player>),
    );
    const shown = listMarkers({ ...BASE, Players: stars }).map(
      (marker) => marker.kind === "player" && marker.stars,
    );
    expect(shown).toEqual([0, 0, 3, 9, 0]);
  });

  test("there are never more marks than there is room for", () => {
    const players = Array.from({ length: MARKERS_MAX + 50 }, (_, n) => at(n, n, { Player: `P:${n}` }));
    expect(listMarkers({ ...BASE, Players: players })).toHaveLength(MARKERS_MAX);
  });
});

describe("a text from the game", () => {
  test("is cut by letters as people count them", () => {
    expect(shortenText("абвгд", 3)).toBe("абв…");
    expect(shortenText("👩‍👩‍👧x", 1)).toBe("👩‍👩‍👧…");
    expect(shortenText("abc", 3)).toBe("abc");
  });

  test("keeps nothing that turns or breaks the line around it", () => {
    expect(shortenText("a\u202eb\u0000c\u2028d\ne", 20)).toBe("a\ufffdb\ufffdc\ufffdd e");
  });

  test("is short even when it is one letter with a thousand marks, or a megabyte", () => {
    expect(shortenText(`a${"\u0301".repeat(1000)}`, 5).length).toBeLessThanOrEqual(61);
    expect(shortenText("W".repeat(1_000_000), 18)).toHaveLength(19);
  });
});
