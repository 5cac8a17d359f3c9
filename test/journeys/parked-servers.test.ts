// A server is served only by the kind of upstream that it was made for: the built-in simulator, or a real game API. With
// the other one it is parked: callers are told, and nothing is asked or sent.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { BASE_INFO } from "../fake-game-api.ts";
import { makeTestFolder, startGatehouse, type TestGatehouse } from "../start-gatehouse.ts";
import { addBot, type Game, startCommandGateway, startGame, WorkerClock } from "./commander.ts";
import { createOperator, expectRefusal, readAs, type ServerBody } from "./operator.ts";

let folder: string;
let clock: WorkerClock;
let game: Game;
let gatehouse: TestGatehouse | undefined;

beforeEach(() => {
  folder = makeTestFolder();
  clock = new WorkerClock();
  game = startGame(clock);
});
afterEach(async () => {
  await gatehouse?.stop();
  await game.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function restart(upstream: "real" | "simulator"): Promise<TestGatehouse> {
  await gatehouse?.stop();
  const env = upstream === "real" ? { GATEHOUSE_UPSTREAM_URL: game.url } : {};
  gatehouse = await startGatehouse({ folder, clock, env });
  return gatehouse;
}

const show = async (server: ServerBody): Promise<ServerBody> =>
  readAs((await gatehouse?.admin("GET", `/admin/servers/${server.server_id}`)) ?? Response.error());

function parkedBecause(words: string) {
  return {
    ...{ code: 5019, message: "game_api_error", upstream_code: 0 },
    upstream_message: expect.stringContaining(words),
  };
}

describe("a server of a real game API, started on the simulator,", () => {
  test("gets no simulated data: 5019/0 names the setting, for callers and operators", async () => {
    const operator = createOperator(await restart("real"));
    const town = await operator.addServer({ name: "Real town" });
    const { token } = await operator.addKey(town);
    expect(town.simulated).toBe(false);

    const started = await restart("simulator");
    const refusal = parkedBecause("GATEHOUSE_UPSTREAM_URL");
    await expectRefusal(await started.get("/v2/game/server?Players=true", token), 400, refusal);
    await expectRefusal(await started.admin("GET", `/admin/servers/${town.server_id}/info`), 400, refusal);
    expect(await show(town)).toMatchObject({ state: "parked", simulated: false, players: null });

    const real = await restart("real");
    expect(await readAs<object>(await real.get("/v2/game/server", token))).toEqual(BASE_INFO);
  });
});

describe("a server of the simulator, started with a real game API,", () => {
  test("is never asked of it: 5019/0 without a call", async () => {
    const operator = createOperator(await restart("simulator"));
    const town = await operator.addServer();
    const { token } = await operator.addKey(town);
    expect(town.simulated).toBe(true);

    const started = await restart("real");
    await expectRefusal(await started.get("/v2/game/server", token), 400, parkedBecause("real key"));
    expect(await show(town)).toMatchObject({ state: "parked", simulated: true });
    expect(game.calls).toHaveLength(0);

    const simulated = await restart("simulator");
    expect((await simulated.get("/v2/game/server", token)).status).toBe(200);
  });

  test("is tied to the real game API by a new key, which the audit log tells; other changes leave it parked", async () => {
    const town = await createOperator(await restart("simulator")).addServer();
    const started = await restart("real");
    const operator = createOperator(started);
    const path = `/admin/servers/${town.server_id}`;
    expect(await readAs<ServerBody>(await started.admin("PATCH", path, { name: "Renamed" }))).toMatchObject({
      ...{ state: "parked", simulated: true },
    });
    const changed = await started.admin("PATCH", path, { server_key: "real-Key" });
    expect(await readAs<ServerBody>(changed)).toMatchObject({ state: "not_asked", simulated: false });
    const { token } = await operator.addKey(town);
    expect((await started.get("/v2/game/server", token)).status).toBe(200);
    expect(game.calls.map(({ headers }) => headers.get("server-key"))).toEqual(["real-Key"]);
    const [entry] = (await operator.listAudit()).filter(({ action }) => action === "server.changed");
    expect(entry?.details).toEqual({
      before: { simulated: true },
      after: { server_key: "set anew", simulated: false },
    });
  });
});

describe("commands of a parked server", () => {
  test("are refused with 5019/0 while it is parked, and nothing is queued", async () => {
    const gateway = await startCommandGateway({ folder, clock, game });
    gatehouse = gateway.gatehouse;
    const bot = await addBot(gateway);
    await gatehouse.app.store.servers.update(bot.home.serverId, { isSimulated: true });
    for (const headers of [{}, { "Idempotency-Key": "new" }]) {
      await expectRefusal(await bot.submit(":h hello", headers), 400, parkedBecause("real key"));
    }
    expect((await gatehouse.app.store.commands.list({ limit: 9 })).items).toEqual([]);
    expect(game.got).toEqual([]);
  });

  test("that were accepted before are answered with the same receipt when they are repeated", async () => {
    const gateway = await startCommandGateway({ folder, clock, game });
    gatehouse = gateway.gatehouse;
    const bot = await addBot(gateway);
    const repeated = { "Idempotency-Key": "same" };
    const receipt = await bot.accept(":h hello", repeated);
    await gatehouse.app.store.servers.update(bot.home.serverId, { isSimulated: true });
    expect(await bot.accept(":h hello", repeated)).toEqual(receipt);
  });

  test("that waited already keep their place, are never sent to the wrong upstream, and are sent when the right one is back", async () => {
    let gateway = await startCommandGateway({ folder, clock, game });
    gatehouse = gateway.gatehouse;
    const bot = await addBot(gateway);
    const { store } = gatehouse.app;
    const draft = { serverId: bot.home.serverId, keyId: bot.keyId, idempotencyKey: undefined };
    await store.commands.accept({ ...draft, text: ":h waits" }, clock.now);
    await store.servers.update(bot.home.serverId, { isSimulated: true });
    await gatehouse.stop();

    gateway = await startCommandGateway({ folder, clock, game });
    gatehouse = gateway.gatehouse;
    await gateway.pass(60_000);
    await gateway.pass(60_000);
    const waiting = await gatehouse.app.store.commands.list({ status: "queued", limit: 9 });
    expect(waiting.items.map(({ text }) => text)).toEqual([":h waits"]);
    expect(game.got).toEqual([]);

    await gatehouse.app.store.servers.update(bot.home.serverId, { isSimulated: false });
    await gateway.pass(5_000);
    expect(game.got.map(({ text }) => text)).toEqual([":h waits"]);
  });

  test("that waited already expire when their time is over", async () => {
    const first = await startCommandGateway({ folder, clock, game });
    gatehouse = first.gatehouse;
    const bot = await addBot(first);
    const { store } = gatehouse.app;
    const draft = { serverId: bot.home.serverId, keyId: bot.keyId, idempotencyKey: undefined };
    await store.servers.update(bot.home.serverId, { isSimulated: true });
    await store.commands.accept({ ...draft, text: ":h late" }, clock.now);
    await gatehouse.stop();

    const second = await startCommandGateway({ folder, clock, game });
    gatehouse = second.gatehouse;
    await second.pass(600_001);
    const [command] = (await gatehouse.app.store.commands.list({ limit: 1 })).items;
    expect(command?.status).toBe("expired");
    expect(game.got).toEqual([]);
  });

  test("that waited for the other upstream fail when the server gets a key of this one", async () => {
    const gateway = await startCommandGateway({ folder, clock, game });
    gatehouse = gateway.gatehouse;
    const bot = await addBot(gateway);
    const { store } = gatehouse.app;
    await store.servers.update(bot.home.serverId, { isSimulated: true });
    const draft = { serverId: bot.home.serverId, keyId: bot.keyId, idempotencyKey: undefined };
    await store.commands.accept({ ...draft, text: ":kick everybody" }, clock.now);
    const path = `/admin/servers/${bot.home.serverId}`;
    await readAs(await gatehouse.admin("PATCH", path, { server_key: "real-Key" }));
    await gateway.pass(60_000);
    const [command] = (await store.commands.list({ limit: 1 })).items;
    expect(command).toMatchObject({
      ...{ status: "failed", upstreamCode: null },
      upstreamMessage: expect.stringContaining("another game API"),
    });
    expect(game.got).toEqual([]);
    expect((await bot.submit(":h hello")).status).toBe(202);
  });
});
