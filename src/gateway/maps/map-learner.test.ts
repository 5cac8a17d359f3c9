// Learning the map costs the archive one write a minute, and nothing while it is away.
import { expect, test } from "bun:test";
import { ArchiveUnavailable } from "../../core/errors.ts";
import type { GameReading } from "../../core/events/reading.ts";
import type { SeenPlace } from "../../core/maps/seen-places.ts";
import { MapLearner, WAITING_PLACES_MAX, WRITE_EVERY_MS } from "./map-learner.ts";

const player = (x: number, StreetName: unknown = "Park Street", PostalCode: unknown = null) => ({
  Player: "Ann:1",
  Location: { LocationX: x, LocationZ: 10, StreetName, PostalCode },
});

function read(...players: object[]): GameReading {
  return { at: 0, gameServer: "game", settings: {}, sections: { Players: players }, offline: null };
}

function start() {
  const stage = {
    now: 1_000_000,
    fault: undefined as Error | undefined,
    faults: [] as unknown[],
    writes: [] as { serverId: string; places: readonly SeenPlace[] }[],
  };
  const archive = {
    async addPlaces(serverId: string, places: readonly SeenPlace[]) {
      if (stage.fault) throw stage.fault;
      stage.writes.push({ serverId, places });
    },
  };
  const learner = new MapLearner(
    archive,
    () => stage.now,
    (error) => stage.faults.push(error),
  );
  return { stage, learner };
}

test("positions of many readings become one write a minute, added up for each cell", async () => {
  const { stage, learner } = start();
  for (let n = 0; n < 50; n += 1) learner.take("srv_a", read(player(5), player(15), player(500, "Elm", "7")));
  expect(stage.writes).toEqual([]);
  stage.now += WRITE_EVERY_MS;
  learner.take("srv_a", read(player(5)));
  await learner.write();
  const at = { cellZ: 0, sumZ: 10 };
  expect(stage.writes).toEqual([
    {
      serverId: "srv_a",
      places: [
        { ...at, kind: "street", name: "Park Street", cellX: 0, count: 101, sumX: 50 * 20 + 5, sumZ: 1_010 },
        { ...at, kind: "street", name: "Elm", cellX: 12, count: 50, sumX: 1_000, sumZ: 500 },
        { ...at, kind: "postal", name: "7", cellX: 12, count: 50, sumX: 1_000, sumZ: 500 },
      ],
    },
  ]);
  stage.now += WRITE_EVERY_MS - 1;
  learner.take("srv_a", read(player(5)));
  expect(stage.writes).toHaveLength(1);
});

test("while the archive is away the places wait, up to a maximum, and nothing is logged", async () => {
  const { stage, learner } = start();
  stage.fault = new ArchiveUnavailable("away");
  learner.take("srv_a", read(...Array.from({ length: WAITING_PLACES_MAX + 50 }, (_, n) => player(n * 40))));
  await learner.write();
  stage.fault = undefined;
  await learner.write();
  expect(stage.writes.map(({ places }) => places.length)).toEqual([WAITING_PLACES_MAX]);
  expect(stage.faults).toEqual([]);
});

test("a deleted server is forgotten, and a bug is told and stops nothing", async () => {
  const { stage, learner } = start();
  learner.take("srv_a", read(player(5)));
  learner.removeServer("srv_a");
  await learner.write();
  expect(stage.writes).toEqual([]);
  stage.fault = new TypeError("a bug");
  learner.take("srv_b", read(player(5)));
  await learner.write();
  expect(stage.faults).toEqual([stage.fault]);
});

test("offline servers and readings without players or positions teach nothing", async () => {
  const { stage, learner } = start();
  learner.take("srv_a", { ...read(), sections: {} });
  learner.take("srv_a", read());
  learner.take("srv_a", read({ Player: "Ann:1" }, { Player: "Bob:2", Location: null }));
  await learner.write();
  expect(stage.writes).toEqual([]);
});
