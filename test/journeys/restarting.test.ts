// State that must survive a restart.
import { expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { BASE_INFO, startFakeGameApi } from "../fake-game-api.ts";
import { FakeClock, startGatehouse } from "../start-gatehouse.ts";

test("a pause after a 429 survives a restart, and does not apply to another game API", async () => {
  const clock = new FakeClock();
  const limited = () => Response.json({ code: 4001 }, { status: 429, headers: { "Retry-After": "600" } });
  let answer: () => Response = limited;
  const api = startFakeGameApi(() => answer());
  const other = startFakeGameApi(() => Response.json(BASE_INFO));
  const at = (url: string) => ({ clock, env: { GATEHOUSE_UPSTREAM_URL: url } });
  const first = await startGatehouse(at(api.url));
  const { folder } = first;
  const { token } = await first.addKey(await first.addServer());
  expect((await first.get("/v2/game/server", token)).status).toBe(400);
  await first.app.stop();
  answer = () => Response.json(BASE_INFO);

  const second = await startGatehouse({ ...at(api.url), folder });
  const refused = await second.get("/v2/game/server", token);
  expect(await refused.json()).toMatchObject({ code: 5019, upstream_code: 4001 });
  expect(refused.headers.get("retry-after")).toBe("600");
  await second.app.stop();

  const third = await startGatehouse({ ...at(other.url), folder });
  expect((await third.get("/v2/game/server", token)).status).toBe(200);
  await third.app.stop();

  clock.advance(600_000);
  const fourth = await startGatehouse({ ...at(api.url), folder });
  expect((await fourth.get("/v2/game/server", token)).status).toBe(200);
  expect(api.calls).toHaveLength(2);
  await fourth.stop();
  rmSync(folder, { recursive: true });
  await Promise.all([api.stop(), other.stop()]);
});

test("a pause that an operator has lifted does not come back with a restart", async () => {
  const clock = new FakeClock();
  const limited = () => Response.json({ code: 4001 }, { status: 429, headers: { "Retry-After": "86400" } });
  const api = startFakeGameApi(limited);
  const env = { GATEHOUSE_UPSTREAM_URL: api.url };
  const first = await startGatehouse({ clock, env });
  const { folder } = first;
  const { token } = await first.addKey(await first.addServer());
  await first.get("/v2/game/server", token);
  clock.advance(1_000);
  expect((await first.admin("POST", "/admin/upstream/resume")).status).toBe(200);
  await first.app.stop();

  api.answer = () => Response.json(BASE_INFO);
  const second = await startGatehouse({ clock, env, folder });
  expect((await second.get("/v2/game/server", token)).status).toBe(200);
  await second.stop();
  rmSync(folder, { recursive: true });
  await api.stop();
});

test("a server key that the game API has refused is not tried again after a restart, until it is replaced or the server is deleted", async () => {
  const clock = new FakeClock();
  const api = startFakeGameApi(() => Response.json({ code: 2002, message: "invalid key" }, { status: 403 }));
  const env = { GATEHOUSE_UPSTREAM_URL: api.url };
  const first = await startGatehouse({ clock, env });
  const { folder } = first;
  const homes = [await first.addServer(), await first.addServer({ name: "Other", serverKey: "other-Server" })];
  const tokens: string[] = [];
  for (const home of homes) tokens.push((await first.addKey(home)).token);
  for (const token of tokens) expect((await first.get("/v2/game/server", token)).status).toBe(400);
  await first.app.stop();

  const second = await startGatehouse({ clock, env, folder });
  for (const token of tokens) {
    const answer = await second.get("/v2/game/server", token);
    expect(await answer.json()).toMatchObject({ code: 5019, upstream_code: 2002 });
  }
  expect(api.calls).toHaveLength(2);
  const readiness = await (await second.get("/readyz")).text();
  expect(readiness).toContain("refused 2 server key(s)");
  const [set = "", deleted = ""] = homes.map(({ serverId }) => `/admin/servers/${serverId}`);
  expect((await second.admin("PATCH", set, { server_key: "test-Server" })).status).toBe(200);
  expect((await second.admin("DELETE", deleted)).status).toBe(200);
  await second.app.stop();

  const third = await startGatehouse({ clock, env, folder });
  expect(await (await third.get("/readyz")).text()).not.toContain("refused");
  expect((await third.get("/v2/game/server", tokens[0] ?? "")).status).toBe(400);
  expect(api.calls).toHaveLength(3);
  await third.stop();
  rmSync(folder, { recursive: true });
  await api.stop();
});

test("a global key that the game API has refused is not used again after a restart, until a server key is set or the global key or the game API is another", async () => {
  const clock = new FakeClock();
  const refused = () => Response.json({ code: 2003, message: "invalid global key" }, { status: 403 });
  let answer: () => Response = refused;
  const api = startFakeGameApi(() => answer());
  const other = startFakeGameApi(() => Response.json(BASE_INFO));
  const settingsOf = (url: string, globalKey: string) => {
    return { clock, env: { GATEHOUSE_UPSTREAM_URL: url, GATEHOUSE_UPSTREAM_GLOBAL_KEY: globalKey } };
  };
  const first = await startGatehouse(settingsOf(api.url, "first-key"));
  const { folder } = first;
  const homes = [await first.addServer(), await first.addServer({ name: "Other", serverKey: "other-Server" })];
  const tokens: string[] = [];
  for (const home of homes) tokens.push((await first.addKey(home)).token);
  expect((await first.get("/v2/game/server", tokens[0] ?? "")).status).toBe(400);
  await first.app.stop();
  answer = () => Response.json(BASE_INFO);

  const second = await startGatehouse({ ...settingsOf(api.url, "first-key"), folder });
  for (const token of tokens) {
    const body = await (await second.get("/v2/game/server", token)).json();
    expect(body).toMatchObject({ code: 5019, upstream_code: 2003 });
  }
  expect(await (await second.get("/readyz")).text()).toContain("refused GATEHOUSE_UPSTREAM_GLOBAL_KEY");
  expect(api.calls).toHaveLength(1);
  await second.app.stop();

  for (const [url, globalKey] of [
    [other.url, "first-key"],
    [api.url, "second-key"],
  ] as const) {
    const elsewhere = await startGatehouse({ ...settingsOf(url, globalKey), folder });
    expect((await elsewhere.get("/v2/game/server", tokens[0] ?? "")).status).toBe(200);
    await elsewhere.app.stop();
  }

  // The key of a server that this process has not read yet.
  const third = await startGatehouse({ ...settingsOf(api.url, "first-key"), folder });
  expect((await third.get("/v2/game/server", tokens[0] ?? "")).status).toBe(400);
  const path = `/admin/servers/${homes[1]?.serverId}`;
  expect((await third.admin("PATCH", path, { name: "Renamed" })).status).toBe(200);
  expect((await third.get("/v2/game/server", tokens[0] ?? "")).status).toBe(400);
  expect((await third.admin("PATCH", path, { server_key: "other-Server" })).status).toBe(200);
  for (const token of tokens) expect((await third.get("/v2/game/server", token)).status).toBe(200);
  await third.app.stop();

  const fourth = await startGatehouse({ ...settingsOf(api.url, "first-key"), folder });
  expect((await fourth.get("/v2/game/server", tokens[0] ?? "")).status).toBe(200);
  await fourth.stop();
  rmSync(folder, { recursive: true });
  await Promise.all([api.stop(), other.stop()]);
});
