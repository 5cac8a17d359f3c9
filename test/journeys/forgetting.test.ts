// An operator forgets a player: again and again, and neither the audit log nor the bytes of any file tell whom.
import { afterEach, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { BASE_INFO, type FakeGameApi } from "../fake-game-api.ts";
import { startGatehouse, type TestGatehouse } from "../start-gatehouse.ts";
import { until } from "../until.ts";
import { addBot, startCommandGateway } from "./commander.ts";

let gatehouse: TestGatehouse | undefined;
afterEach(() => gatehouse?.stop());

test("forgetting a player is answered 204, however often, and audited without the id", async () => {
  gatehouse = await startGatehouse();
  for (let time = 0; time < 2; time++) {
    const answer = await gatehouse.admin("DELETE", "/admin/players/987654321");
    expect([answer.status, await answer.text()]).toEqual([204, ""]);
  }
  const audit = await (await gatehouse.admin("GET", "/admin/audit")).text();
  expect(JSON.parse(audit).items.slice(0, 2)).toMatchObject(
    Array(2).fill({ action: "player.forgotten", target: "player", details: {} }),
  );
  expect(audit).not.toContain("987654321");
  expect(gatehouse.logLines.join()).not.toContain("987654321");
});

test.each(["Bob", "54x", "-1", "1.5", "5%204"])("%s is no id: 400 with 5104", async (id) => {
  gatehouse = await startGatehouse();
  const answer = await gatehouse.admin("DELETE", `/admin/players/${id}`);
  expect([answer.status, await answer.json()]).toMatchObject([400, { code: 5104, details: { id: "must be digits" } }]);
});

test("nobody but the operator may", async () => {
  gatehouse = await startGatehouse();
  const answer = await fetch(`${gatehouse.url}/admin/players/54`, { method: "DELETE" });
  expect(answer.status).toBe(401);
});

let game: FakeGameApi | undefined;
afterEach(() => game?.stop());

test("name and id are nowhere in the bytes of the store and the archive, and commands that wait are sent as they are", async () => {
  const own = await startCommandGateway({
    env: { GATEHOUSE_ARCHIVE: "sqlite", GATEHOUSE_LOG_LEVEL: "debug" },
  });
  ({ gatehouse, game } = own);
  const { folder } = gatehouse;
  const filesWith = (text: string) =>
    readdirSync(folder).filter((file) => readFileSync(join(folder, file)).includes(text));
  const JoinLogs = [{ Join: true, Timestamp: Math.floor(own.clock.now / 1_000), Player: "Zanzibar:987654321" }];
  own.game.read = () => Response.json({ ...BASE_INFO, JoinLogs });
  const bot = await addBot(own);
  expect((await bot.read()).status).toBe(200);
  await until("the reading is not recorded", async () => {
    return (await (await bot.ask("GET", "/v2/game/server/events")).text()).includes("Zanzibar");
  });
  const { command_id } = await bot.accept(":kick Zanzibar 987654321", { "Idempotency-Key": "once" });
  await own.settle();
  await bot.accept(":ban Zanzibar");
  expect(filesWith("Zanzibar").toSorted()).toEqual(["archive.db-wal", "gatehouse.db-wal"]);

  expect((await gatehouse.admin("DELETE", "/admin/players/987654321")).status).toBe(204);
  const listed = await (await gatehouse.admin("GET", "/admin/commands")).text();
  expect(listed).toContain(":kick deleted 0");
  expect(listed).not.toContain("987654321");
  const again = await bot.accept(":kick Zanzibar 987654321", { "Idempotency-Key": "once" });
  expect(again.command_id).toBe(command_id);
  await own.pass(60_000);
  expect(bot.got()).toEqual([":kick Zanzibar 987654321", ":ban Zanzibar"]);

  expect((await gatehouse.admin("DELETE", "/admin/players/987654321")).status).toBe(204);
  expect([filesWith("Zanzibar"), filesWith("987654321")]).toEqual([[], []]);
  expect(gatehouse.logLines.join()).not.toMatch(/Zanzibar|987654321/);
});
