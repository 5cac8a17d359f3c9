// Answers of the game API that say the same in another shape or spelling make no events.
import { beforeEach, describe, expect, test } from "bun:test";
import type { EventPage } from "../../src/core/wire/event.ts";
import { MemoryArchive } from "../event-archive.ts";
import { BASE_INFO } from "../fake-game-api.ts";
import { until } from "../until.ts";
import { openStage } from "./stage.ts";

const archive = new MemoryArchive();
let serverId: string;
let token: string;

const { game, gatehouse } = await openStage({ archive });
beforeEach(async () => {
  const server = await gatehouse.addServer();
  serverId = server.serverId;
  token = (await gatehouse.addKey(server)).token;
});

/** Lets a caller read these sections, and waits until the reading is recorded. */
async function read(sections: string): Promise<void> {
  const { clock } = gatehouse;
  clock.advance(10_000);
  game.answer = () => new Response(`${JSON.stringify(BASE_INFO).slice(0, -1)},${sections}}`);
  expect((await gatehouse.get("/v2/game/server", token)).status).toBe(200);
  await until("the reading is not recorded", async () => {
    const { counts } = await archive.readOpenHistory(serverId);
    return counts.last?.at === clock.now;
  });
}

async function readTypes(): Promise<string[]> {
  const answer = await gatehouse.get("/v2/game/server/events?after=earliest", token);
  return ((await answer.json()) as EventPage).items.map(({ type }) => type);
}

describe("a map of Staff", () => {
  const SHOWN = '"Staff":{"Admins":{},"Mods":{"2":"Mo","3":"Ma"},"Helpers":{}}';

  test.each(['"Mods":null', '"Mods":"x"', '"Mods":[1]'])(
    "that is null or of another type tells nothing: %s",
    async (mods) => {
      await read(SHOWN);
      await read(`"Staff":{${mods}}`);
      await read(SHOWN);
      expect(await readTypes()).toEqual([]);
    },
  );

  test.each(['"Mods":{}', '"Mods":[]', '"Admins":{}', ""])(
    "that is empty or missing has lost its members: %s",
    async (mods) => {
      await read(SHOWN);
      await read(`"Staff":{${mods}}`);
      expect(await readTypes()).toEqual(["staff.removed", "staff.removed"]);
    },
  );
});

test("the same integers in another spelling are the same entries, the same call and the same queue", async () => {
  const seconds = gatehouse.clock.now / 1_000;
  const sections = (zero: string) =>
    `"JoinLogs":[{"Join":true,"Timestamp":${seconds}${zero},"Player":"A:1"}],"Queue":[7${zero}],` +
    `"EmergencyCalls":[{"Team":"Fire","CallNumber":7${zero},"StartedAt":${seconds}${zero}}]`;
  await read(sections(""));
  const before = await readTypes();
  expect(before.toSorted()).toEqual(["call.opened", "player.joined"]);
  for (const zero of [".0", "", "e0", "", ""]) await read(sections(zero));
  expect(await readTypes()).toEqual(before);
});
