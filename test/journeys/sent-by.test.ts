// Who sent a command, from the browser to the game and back: in the command, in the event that the game's log becomes, in the
// record of the player that it was aimed at, and in the staff report.
import { expect, test } from "bun:test";
import type { StaffPage } from "../../src/core/wire/history.ts";
import type { PlayerRecord } from "../../src/core/wire/players.ts";
import { MemoryArchive } from "../event-archive.ts";
import { ALL_SECTIONS_INFO, BASE_INFO } from "../fake-game-api.ts";
import { addPerson, signIn } from "../people.ts";
import { until } from "../until.ts";
import { readAs } from "./operator.ts";
import { openStage } from "./stage.ts";

const PATH = "/v2/game/server";
const QUIET = { ...BASE_INFO, ...ALL_SECTIONS_INFO, CommandLogs: [], ModCalls: [] };

const archive = new MemoryArchive();
const { game, gatehouse } = await openStage({ archive, answer: () => Response.json(QUIET) });

type EventsBody = { items: { id: string; meta?: { command_id: string; sent_by: object; targets: string[] } }[] };

test("a person's command has the person's name everywhere, and counts for their player", async () => {
  const { clock } = gatehouse;
  const server = await gatehouse.addServer();
  const { serverId } = server;
  const person = await addPerson(gatehouse, { playerId: "4711", servers: [{ serverId, role: "head" }] });
  const token = await (await signIn(gatehouse, person)).token(serverId);
  const sent_by = { kind: "person", id: person.personId, name: person.name };
  const start = clock.now;
  const recorded = async () => (await archive.readOpenHistory(serverId)).counts.last?.at === clock.now;
  expect((await gatehouse.get(PATH, token)).status).toBe(200);
  await until("the first reading is not recorded", recorded);

  const headers = { Authorization: `Bearer ${token}` };
  const sent = await gatehouse.admin("POST", `${PATH}/command`, { command: ":pm player hello" }, headers);
  const { command_id } = await readAs<{ command_id: string }>(sent, 202);
  const show = async () =>
    readAs<{ status: string; sent_by: object }>(await gatehouse.get(`${PATH}/command/${command_id}`, token));
  await until("the command is not sent", async () => (await show()).status === "sent");
  expect((await show()).sent_by).toEqual(sent_by);

  const entry = { Player: "Remote Server", Timestamp: start / 1_000, Command: ":pm player hello" };
  game.answer = () => Response.json({ ...QUIET, CommandLogs: [entry] });
  clock.advance(30_000);
  expect((await gatehouse.get(PATH, token)).status).toBe(200);
  await until("the second reading is not recorded", recorded);
  const events = await readAs<EventsBody>(await gatehouse.get(`${PATH}/events?types=command.used`, token));
  expect(events.items.map(({ meta }) => meta)).toEqual([{ command_id, sent_by, targets: ["PlayerName:123"] }]);
  const { commands } = await readAs<PlayerRecord>(await gatehouse.get(`${PATH}/players/123`, token));
  expect(commands).toMatchObject([{ sent_by, by: entry.Player, event_id: events.items[0]?.id }]);

  const query = `from=${start - 60_000}&to=${clock.now + 60_000}`;
  const report = await readAs<StaffPage>(
    await gatehouse.admin("GET", `/admin/servers/${serverId}/history/staff?${query}`),
  );
  expect(report.items).toContainEqual(
    expect.objectContaining({ player: `${person.name}:4711`, id: "4711", commands: 1 }),
  );
});
