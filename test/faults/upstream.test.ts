// Every error code and every transport fault of the game API, over HTTP against the simulator: the right 5019, before the
// deadline, with the right number of calls.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { GameServer } from "../../src/core/game-server.ts";
import { type Simulator, startSimulator } from "../../src/simulator/simulator.ts";
import { BASE_INFO, type FakeGameApi, startFakeGameApi } from "../fake-game-api.ts";
import { startGatehouse, type TestGatehouse } from "../start-gatehouse.ts";

const FRESH_MS = 2_000;
/** For the faults that only a timeout ends. */
const SHORT_TIMEOUT_MS = 2_000;
/** Far above a deadline that is kept, and far below a missing one. */
const PATIENCE_MS = 30_000;

type Failure = { code: number; message: string; upstream_code: number; upstream_message: string };

let simulator: Simulator;
let gatehouse: TestGatehouse;
/** With a short timeout, which a normal answer on a busy machine may miss. */
let impatient: TestGatehouse;
let server: GameServer;
let token: string;
let serverCount = 0;

beforeAll(async () => {
  simulator = await startSimulator({ readLimit: 0 });
  const upstream = { GATEHOUSE_UPSTREAM_URL: simulator.url };
  gatehouse = await startGatehouse({ env: { ...upstream, GATEHOUSE_UPSTREAM_TIMEOUT_MS: "30000" } });
  impatient = await startGatehouse({
    env: { ...upstream, GATEHOUSE_UPSTREAM_TIMEOUT_MS: String(SHORT_TIMEOUT_MS) },
  });
});
afterAll(async () => {
  await gatehouse.stop();
  await impatient.stop();
  await simulator.stop();
});
beforeEach(async () => {
  server = await gatehouse.addServer({ serverKey: `fault-Town${++serverCount}` });
  token = (await gatehouse.addKey(server)).token;
  // Ends a pause that an earlier test has caused.
  gatehouse.clock.advance(3_600_000);
  simulator.clearCalls();
});
afterEach(() => simulator.clearFaults());

const read = () => gatehouse.get("/v2/game/server?Players=true", token);
const callsMade = () => simulator.calls().calls.length;

async function readFailure(ask = read): Promise<Failure & { retryAfter: string | null }> {
  const startedAt = performance.now();
  const response = await ask();
  expect(response.status).toBe(400);
  expect(response.headers.get("x-ratelimit-remaining")).not.toBeNull();
  expect(response.headers.get("etag")).toBeNull();
  expect(response.headers.get("x-cache")).toBeNull();
  expect(response.headers.get("age")).toBeNull();
  expect(performance.now() - startedAt).toBeLessThan(PATIENCE_MS);
  const body = (await response.json()) as Failure;
  expect(body).toMatchObject({ code: 5019, message: "game_api_error" });
  expect(typeof body.upstream_message).toBe("string");
  return { ...body, retryAfter: response.headers.get("retry-after") };
}

describe("codes of the game API", () => {
  for (const code of [2000, 2001, 2002, 2003, 2004]) {
    test(`${code}: answered from memory until the key is set again, be it the same`, async () => {
      simulator.arm({ kind: "code", code });
      expect((await readFailure()).upstream_code).toBe(code);
      await simulator.clearFaults();
      gatehouse.clock.advance(86_400_000);
      for (let i = 0; i < 5; i++) expect((await readFailure()).upstream_code).toBe(code);
      expect(callsMade()).toBe(1);
      await gatehouse.app.store.servers.update(server.serverId, { serverKey: `fault-Town${serverCount}` });
      expect((await read()).status).toBe(200);
      expect(callsMade()).toBe(2);
    });
  }

  test("3002: remembered for one freshness period", async () => {
    simulator.arm({ kind: "code", code: 3002 });
    for (let i = 0; i < 4; i++) {
      expect(await readFailure()).toMatchObject({ upstream_code: 3002, retryAfter: "2" });
    }
    expect(callsMade()).toBe(1);
    await simulator.clearFaults();
    gatehouse.clock.advance(FRESH_MS - 1);
    expect((await readFailure()).upstream_code).toBe(3002);
    gatehouse.clock.advance(1);
    expect((await read()).status).toBe(200);
    expect(callsMade()).toBe(2);
  });

  for (const code of [3001, 4000, 4002, 4003, 9998, 9999]) {
    test(`${code}: reported, neither remembered nor held against the server`, async () => {
      simulator.arm({ kind: "code", code });
      for (let i = 0; i < 8; i++) expect((await readFailure()).upstream_code).toBe(code);
      expect(callsMade()).toBe(8);
    });
  }

  for (const code of [0, 1001, 1002]) {
    test(`${code}: five in a row open the breaker; then no call, the last failure at once, one probe when it is due`, async () => {
      simulator.arm({ kind: "code", code });
      for (let i = 0; i < 20; i++) expect((await readFailure()).upstream_code).toBe(code);
      expect(callsMade()).toBe(5);
      expect((await readFailure()).retryAfter).toBe("5");
      gatehouse.clock.advance(4_999);
      expect((await readFailure()).retryAfter).toBe("1");
      expect(callsMade()).toBe(5);
      gatehouse.clock.advance(1);
      await readFailure();
      expect(callsMade()).toBe(6);
      gatehouse.clock.advance(9_999);
      await readFailure();
      expect(callsMade()).toBe(6);
      await simulator.clearFaults();
      gatehouse.clock.advance(1);
      expect((await read()).status).toBe(200);
      expect(callsMade()).toBe(7);
    });
  }

  test("4001: no call for any server before the time that it names; callers get Retry-After", async () => {
    simulator.arm({ kind: "rate-limit", retry_after: 30, times: 1 });
    const refused = await readFailure();
    expect(refused).toMatchObject({ upstream_code: 4001, retryAfter: "30" });
    const other = await gatehouse.addKey(await gatehouse.addServer({ serverKey: `other-Town${serverCount}` }));
    gatehouse.clock.advance(29_500);
    const response = await gatehouse.get("/v2/game/server", other.token);
    expect(response.status).toBe(400);
    expect(response.headers.get("retry-after")).toBe("1");
    expect(await response.json()).toMatchObject({ code: 5019, upstream_code: 4001 });
    expect(callsMade()).toBe(1);
    gatehouse.clock.advance(500);
    expect((await read()).status).toBe(200);
  });

  test("a 429 without a code is 4001; without any time the pause is 5 s, doubling", async () => {
    const fault = {
      kind: "rate-limit",
      with_code: false,
      headers: false,
      retry_header: false,
      retry_body: false,
    };
    simulator.arm({ ...fault, times: 2 });
    expect(await readFailure()).toMatchObject({ upstream_code: 4001, retryAfter: "5" });
    gatehouse.clock.advance(5_000);
    expect(await readFailure()).toMatchObject({ upstream_code: 4001, retryAfter: "10" });
    expect(callsMade()).toBe(2);
    gatehouse.clock.advance(10_000);
    expect((await read()).status).toBe(200);
  });

  test("a fresh snapshot is still served during a pause", async () => {
    await read();
    const other = await gatehouse.addKey(await gatehouse.addServer({ serverKey: `pause-Town${serverCount}` }));
    simulator.arm({ kind: "rate-limit", retry_after: 30, times: 1 });
    expect((await gatehouse.get("/v2/game/server", other.token)).status).toBe(400);
    const response = await read();
    expect(response.status).toBe(200);
    expect(response.headers.get("x-cache")).toBe("hit");
  });
});

describe("transport faults", () => {
  const faults: Record<string, Record<string, unknown>> = {
    reset: { kind: "reset" },
    truncated: { kind: "truncated" },
    "not JSON": { kind: "not-json" },
    "an HTML page with 502": { kind: "html-502" },
    "a 50 MB answer": { kind: "huge" },
    "a compressed 50 MB answer": { kind: "huge", gzip: true },
  };
  const endless: Record<string, Record<string, unknown>> = {
    hang: { kind: "hang" },
    drip: { kind: "drip", ms: 50 },
    "slow beyond the deadline": { kind: "slow", ms: 30_000 },
  };
  for (const [name, fault] of Object.entries({ ...faults, ...endless })) {
    test(`${name}: upstream_code 0 and a plain sentence, inside the deadline, after one call`, async () => {
      const asked = name in endless ? impatient : gatehouse;
      const key = await asked.addKey(await asked.addServer({ serverKey: `transport-Town${serverCount}` }));
      const ask = () => asked.get("/v2/game/server?Players=true", key.token);
      simulator.arm(fault);
      const failure = await readFailure(ask);
      expect(failure.upstream_code).toBe(0);
      expect(failure.upstream_message).toMatch(/^The game API\b.*\.$/);
      expect(callsMade()).toBe(1);
      await simulator.clearFaults();
      expect((await ask()).status).toBe(200);
    });
  }

  test("refused: upstream_code 0; works again when the game API is back, without a restart", async () => {
    const gone = startFakeGameApi();
    await gone.stop();
    const lonely = await startGatehouse({ env: { GATEHOUSE_UPSTREAM_URL: gone.url } });
    const key = await lonely.addKey(await lonely.addServer());
    const response = await lonely.get("/v2/game/server", key.token);
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({
      code: 5019,
      message: "game_api_error",
      upstream_code: 0,
      upstream_message: "The game API refused the connection.",
    });
    const back: FakeGameApi = startFakeGameApi(undefined, Number(new URL(gone.url).port));
    expect((await lonely.get("/v2/game/server", key.token)).status).toBe(200);
    await back.stop();
    await lonely.stop();
  });

  test("redirect: not followed, and the key is not sent to the other host", async () => {
    const trap = startFakeGameApi();
    simulator.arm({ kind: "redirect", to: `${trap.url}/v2/server` });
    expect((await readFailure()).upstream_code).toBe(0);
    expect(trap.calls).toHaveLength(0);
    await trap.stop();
  });

  test("a refusal that comes with HTTP 200 is a refusal all the same", async () => {
    simulator.arm({ kind: "code", code: 4003, status: 200 });
    expect((await readFailure()).upstream_code).toBe(4003);
  });

  test("of odd shapes, the values that match the schema are relayed", async () => {
    simulator.arm({ kind: "odd-shapes" });
    const response = await read();
    expect(response.status).toBe(200);
    expect(Object.keys((await response.json()) as object).at(-1)).toBe("Players");
  });

  test.each([
    ["1.3 million integers as Players", { Players: new Array(1_300_000).fill(12) }],
    [
      "200,000 Staff ids",
      { Staff: { Admins: Object.fromEntries(Array.from({ length: 200_000 }, (_, id) => [id, "A"])) } },
    ],
    ["a list nested a million times", `${"[".repeat(1_000_000)}${"]".repeat(1_000_000)}`],
  ])("%s are refused before they are checked one by one", async (_name, odd) => {
    const text = typeof odd === "string" ? odd : JSON.stringify({ ...BASE_INFO, ...odd });
    const game = startFakeGameApi(() => new Response(text));
    const hostile = await startGatehouse({ env: { GATEHOUSE_UPSTREAM_URL: game.url } });
    const key = await hostile.addKey(await hostile.addServer());
    const response = await hostile.get("/v2/game/server", key.token);
    expect(await response.json()).toMatchObject({
      code: 5019,
      upstream_code: 0,
      upstream_message: "The game API's answer has more values than a server's state can have.",
    });
    await hostile.stop();
    await game.stop();
  });

  test.each([
    ["larger than 4 MiB", () => new Response("x".repeat(5_000_000), { status: 429 })],
    ["damaged", () => new Response("x", { status: 429, headers: { "content-encoding": "gzip" } })],
  ])("a 429 whose body is %s is a limit all the same", async (_name, answer) => {
    const game = startFakeGameApi(answer);
    const limited = await startGatehouse({ env: { GATEHOUSE_UPSTREAM_URL: game.url } });
    const key = await limited.addKey(await limited.addServer());
    const response = await limited.get("/v2/game/server", key.token);
    expect(await response.json()).toMatchObject({ code: 5019, upstream_code: 4001 });
    expect(response.headers.get("retry-after")).toBe("5");
    await limited.get("/v2/game/server", key.token);
    expect(game.calls).toHaveLength(1);
    await limited.stop();
    await game.stop();
  });

  test("one hanging server does not hold up another", async () => {
    simulator.arm({ kind: "hang", server: `Town${serverCount}` });
    const stuck = await impatient.addKey(await impatient.addServer({ serverKey: `fault-Town${serverCount}` }));
    const hanging = impatient.get("/v2/game/server", stuck.token);
    const other = await impatient.addKey(await impatient.addServer({ serverKey: `free-Other${serverCount}` }));
    expect((await impatient.get("/v2/game/server", other.token)).status).toBe(200);
    expect((await hanging).status).toBe(400);
  });
});

describe("the budget", () => {
  test("the game API never has to refuse a call, with any number of servers, and no server starves", async () => {
    const clock = gatehouse.clock;
    const limited = await startSimulator({ readLimit: 10, clock: clock.read });
    const careful = await startGatehouse({ clock, env: { GATEHOUSE_UPSTREAM_URL: limited.url } });
    const keys = await Promise.all(
      Array.from({ length: 15 }, async (_, i) => careful.addKey(await careful.addServer({ serverKey: `a-S${i}` }))),
    );
    const served = new Set<string>();
    for (let second = 0; second < 240; second += 5) {
      for (const key of keys) {
        const response = await careful.get("/v2/game/server", key.token);
        if (response.status === 200) served.add(key.keyId);
        else expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
      }
      clock.advance(5_000);
    }
    const { totals } = limited.calls();
    expect(totals.limited).toBe(0);
    expect(totals.reads).toBeGreaterThan(20);
    expect(served.size).toBe(15);
    await careful.stop();
    await limited.stop();
  });
});
