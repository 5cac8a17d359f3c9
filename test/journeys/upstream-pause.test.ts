// A pause that the game API names can be looked at and ended by the operator.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { DAY_MS } from "../../src/core/durations.ts";
import { BASE_INFO, type FakeGameApi, startFakeGameApi } from "../fake-game-api.ts";
import { startGatehouse, type TestGatehouse } from "../start-gatehouse.ts";

let game: FakeGameApi;
let gatehouse: TestGatehouse;
let token: string;

beforeEach(async () => {
  game = startFakeGameApi();
  gatehouse = await startGatehouse({ env: { GATEHOUSE_UPSTREAM_URL: game.url } });
  token = (await gatehouse.addKey(await gatehouse.addServer(), { commands: ["*"] })).token;
});
afterEach(async () => {
  await gatehouse.stop();
  await game.stop();
});

const read = () => gatehouse.get("/v2/game/server", token);
const show = async () => (await gatehouse.admin("GET", "/admin/upstream")).json();
const listActions = async () => {
  const { items } = (await (await gatehouse.admin("GET", "/admin/audit")).json()) as {
    items: { action: string }[];
  };
  return items.filter(({ action }) => action.startsWith("upstream."));
};

function limit(headers: Record<string, string>): void {
  game.answer = () => Response.json({ code: 4001, message: "limited" }, { status: 429, headers });
}

test("without a pause the budget is shown, and resuming changes nothing", async () => {
  const nothing = {
    ...{ paused_until: null, paused_since: null, pause_reason: null, resumed_at: null },
    ...{ limit: null, remaining: null, reset_at: null },
    ...{ global_key_refused: false, failing_servers: 0, refused_keys: 0 },
  };
  expect(await show()).toEqual(nothing);
  const resetAt = Math.ceil(gatehouse.clock.now / 1000) + 30;
  game.answer = () => {
    const headers = {
      "X-RateLimit-Limit": "35",
      "X-RateLimit-Remaining": "34",
      "X-RateLimit-Reset": `${resetAt}`,
    };
    return Response.json(BASE_INFO, { headers });
  };
  expect((await read()).status).toBe(200);
  const known = { ...nothing, limit: 35, remaining: 34, reset_at: resetAt * 1000 };
  expect(await show()).toMatchObject({ limit: 35, remaining: 34 });
  const resumed = await gatehouse.admin("POST", "/admin/upstream/resume");
  expect([resumed.status, Object.keys((await resumed.json()) as object).sort()]).toEqual([
    200,
    Object.keys(known).sort(),
  ]);
  expect(await listActions()).toEqual([]);
});

test("a pause of a day is shown with its reason, and ended: the next read calls, and the change is audited", async () => {
  limit({ "Retry-After": String(DAY_MS / 1000) });
  expect((await read()).headers.get("retry-after")).toBe("86400");
  const pausedAt = gatehouse.clock.now;
  expect(await show()).toMatchObject({
    paused_until: pausedAt + DAY_MS,
    paused_since: pausedAt,
    pause_reason: "named_by_game_api",
    resumed_at: null,
  });
  gatehouse.clock.advance(60_000);
  expect((await read()).status).toBe(400);
  expect(game.calls).toHaveLength(1);

  game.answer = () => Response.json(BASE_INFO);
  const resumed = await gatehouse.admin("POST", "/admin/upstream/resume");
  expect(resumed.status).toBe(200);
  expect(await resumed.json()).toMatchObject({ paused_until: null, resumed_at: pausedAt + 60_000 });
  expect((await read()).status).toBe(200);
  expect(await show()).toMatchObject({ paused_until: null, resumed_at: pausedAt + 60_000 });
  expect(await listActions()).toMatchObject([
    {
      action: "upstream.resumed",
      target: "upstream",
      details: {
        before: { paused_until: pausedAt + DAY_MS, pause_reason: "named_by_game_api" },
        after: { paused_until: null },
      },
    },
  ]);
  await gatehouse.admin("POST", "/admin/upstream/resume");
  expect(await listActions()).toHaveLength(1);
});

test("after the end of a pause a new 429 pauses again; one without a time is a backoff", async () => {
  limit({ "Retry-After": "86400" });
  await read();
  gatehouse.clock.advance(1_000);
  await gatehouse.admin("POST", "/admin/upstream/resume");
  limit({});
  expect((await read()).headers.get("retry-after")).toBe("5");
  expect(await show()).toMatchObject({ pause_reason: "backoff" });
  expect(game.calls).toHaveLength(2);
});

test("a command that waits for the end of a pause is sent when the pause is ended", async () => {
  limit({ "Retry-After": "86400" });
  await read();
  const sent = Promise.withResolvers<void>();
  game.answer = async (request) => {
    if (request.method !== "POST") return Response.json(BASE_INFO);
    sent.resolve();
    return Response.json({ message: "Success" });
  };
  const accepted = await fetch(`${gatehouse.url}/v2/game/server/command`, {
    method: "POST",
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
    body: JSON.stringify({ command: ":h hello" }),
  });
  expect(accepted.status).toBe(202);
  gatehouse.clock.advance(1_000);
  await gatehouse.admin("POST", "/admin/upstream/resume");
  await sent.promise;
});

test("both paths ask for the master key", async () => {
  expect((await gatehouse.get("/admin/upstream", token)).status).toBe(401);
  const response = await fetch(`${gatehouse.url}/admin/upstream/resume`, { method: "POST" });
  expect(response.status).toBe(401);
});
