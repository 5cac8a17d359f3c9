// /healthz, /readyz and /metrics, and that none of them reveals a secret.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Readiness } from "../../src/core/wire/health.ts";
import { type Simulator, startSimulator } from "../../src/simulator/simulator.ts";
import { FakeClock, startGatehouse, type TestGatehouse } from "../start-gatehouse.ts";

const METRICS_TOKEN = "a-token-for-prometheus-0123456789";

let simulator: Simulator;
let gatehouse: TestGatehouse;
let masterKey: string;

beforeAll(async () => {
  const clock = new FakeClock();
  simulator = await startSimulator({ readLimit: 35, clock: clock.read });
  gatehouse = await startGatehouse({
    clock,
    env: { GATEHOUSE_UPSTREAM_URL: simulator.url, GATEHOUSE_METRICS_TOKEN: METRICS_TOKEN },
  });
  masterKey = readFileSync(join(gatehouse.folder, "master.key"), "utf8").trim();
});
afterAll(async () => {
  await gatehouse.stop();
  await simulator.stop();
});

async function scrape(): Promise<Map<string, number>> {
  const text = await (await gatehouse.get("/metrics", METRICS_TOKEN)).text();
  const samples = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(
    samples.map((line) => {
      const cut = line.lastIndexOf(" ");
      return [line.slice(0, cut), Number(line.slice(cut + 1))];
    }),
  );
}

const tellReady = async () => (await (await gatehouse.get("/readyz")).json()) as Readiness;

test("/healthz and /readyz need no key and report no problem", async () => {
  expect(await (await gatehouse.get("/healthz")).json()).toEqual({ status: "ok" });
  expect(await (await gatehouse.get("/readyz")).json()).toEqual({ status: "ready", callers: "served", notices: [] });
});

describe("/metrics", () => {
  test("accepts the master key and its own token, and nothing else", async () => {
    for (const token of [masterKey, METRICS_TOKEN]) expect((await gatehouse.get("/metrics", token)).status).toBe(200);
    expect((await gatehouse.get("/metrics")).status).toBe(401);
    expect((await gatehouse.get("/metrics", `${METRICS_TOKEN}x`)).status).toBe(401);
  });

  test("is Prometheus text: every family has help and type and comes once, every sample is a number", async () => {
    const response = await gatehouse.get("/metrics", METRICS_TOKEN);
    expect(response.headers.get("content-type")).toStartWith("text/plain; version=0.0.4");
    const lines = (await response.text()).split("\n");
    const listNames = (start: string) =>
      lines.filter((line) => line.startsWith(start)).map((line) => line.split(" ")[2]);
    const named = new Set(listNames("# TYPE "));
    expect(listNames("# TYPE ")).toEqual([...named]);
    expect(listNames("# HELP ")).toEqual([...named]);
    for (const line of lines.filter((line) => line !== "" && !line.startsWith("#"))) {
      const [, name = "", value = ""] = /^([a-z_]+)(?:\{[^}]*\})? (\S+)$/.exec(line) ?? [];
      expect(named.has(name) || named.has(name.replace(/_(?:bucket|sum|count)$/, ""))).toBe(true);
      expect(Number.isFinite(Number(value))).toBe(true);
    }
  });

  test("shows requests by route, status and code, hits, calls and the remaining budget", async () => {
    const server = await gatehouse.addServer({ serverKey: "watched-Town" });
    const { token } = await gatehouse.addKey(server);
    const before = await scrape();
    const grown = async (name: string) => ((await scrape()).get(name) ?? 0) - (before.get(name) ?? 0);
    for (let i = 0; i < 121; i++) await gatehouse.get("/v2/game/server", token);
    await gatehouse.get("/v2/any/game/server");
    expect(await grown('gatehouse_requests_total{route="/v2/game/server",status="200",code="0"}')).toBe(120);
    expect(await grown('gatehouse_requests_total{route="/v2/game/server",status="429",code="5016"}')).toBe(1);
    expect(await grown('gatehouse_requests_total{route="/v2/:community/game/server",status="401",code="5007"}')).toBe(
      1,
    );
    expect(await grown('gatehouse_request_duration_seconds_count{route="/v2/game/server"}')).toBe(121);
    expect(await grown('gatehouse_upstream_calls_total{outcome="ok"}')).toBe(1);
    expect(await grown("gatehouse_cache_hits_total")).toBe(119);
    const now = await scrape();
    expect(now.get("gatehouse_upstream_budget_limit")).toBe(35);
    expect(now.get("gatehouse_upstream_budget_remaining")).toBe(34);
    expect(now.get("gatehouse_active_servers")).toBe(1);
  });

  test("shows a spam block, an open breaker, a refused key and a pause; /readyz has them as notices", async () => {
    const makeKey = async (name: string) => gatehouse.addKey(await gatehouse.addServer({ serverKey: `a-${name}` }));
    const [spammer, broken, refused, limited] = [
      await makeKey("Spam"),
      await makeKey("Broken"),
      await makeKey("Refused"),
      await makeKey("Limited"),
    ];
    for (let i = 0; i < 520; i++) await gatehouse.get("/v2/game/server", spammer.token);
    simulator.arm({ kind: "code", code: 1001, server: "Broken" });
    for (let i = 0; i < 5; i++) await gatehouse.get("/v2/game/server", broken.token);
    simulator.arm({ kind: "code", code: 2002, server: "Refused" });
    await gatehouse.get("/v2/game/server", refused.token);
    simulator.arm({ kind: "rate-limit", retry_after: 30, server: "Limited" });
    await gatehouse.get("/v2/game/server", limited.token);
    const now = await scrape();
    expect(now.get("gatehouse_blocked_keys")).toBe(1);
    expect(now.get("gatehouse_breakers_open")).toBe(1);
    expect(now.get("gatehouse_refused_server_keys")).toBe(1);
    expect(now.get("gatehouse_upstream_pause_seconds")).toBe(30);
    const { callers, notices } = await tellReady();
    expect(callers).toBe("partly");
    // The simulator follows the clock of the test, and the machine does not.
    expect(notices.filter(({ code }) => code !== "clock_wrong")).toMatchObject([
      { code: "upstream_paused", retry_after: 30, since: gatehouse.clock.now, until: gatehouse.clock.now + 30_000 },
      { code: "upstream_failing", count: 1, since: gatehouse.clock.now },
      { code: "server_keys_refused", count: 1, since: gatehouse.clock.now },
      { code: "keys_blocked", count: 1, until: gatehouse.clock.now + 300_000 },
    ]);
    await simulator.clearFaults();
  });

  test("a flood of invalid tokens does not hide a wrong master key in the log", async () => {
    gatehouse.clock.advance(60_000);
    const before = gatehouse.logLines.length;
    for (let i = 0; i < 5; i++) await gatehouse.get("/v2/game/server", `gth_invented${i}`);
    await gatehouse.get("/admin/keys", "not-the-master-key");
    const lines = gatehouse.logLines.slice(before);
    expect(lines.filter((line) => line.includes("an invalid token"))).toHaveLength(1);
    expect(lines.filter((line) => line.includes("a wrong master key"))).toHaveLength(1);
  });

  test("has no token, no key and no player in it, nor do the logs", async () => {
    const server = await gatehouse.addServer({ serverKey: "canary-ServerKey" });
    const { token, keyId } = await gatehouse.addKey(server);
    gatehouse.clock.advance(60_000);
    const body = (await (await gatehouse.get("/v2/game/server?Players=true", token)).json()) as {
      Players: { Player: string }[];
    };
    const [name = ""] = (body.Players[0]?.Player ?? "").split(":");
    expect(name).not.toBe("");
    await gatehouse.get(`/v2/game/server?token=${token}`);
    const text = await (await gatehouse.get("/metrics", METRICS_TOKEN)).text();
    const told = text + gatehouse.logLines.join("");
    for (const secret of [token, "canary", "ServerKey", name, masterKey, METRICS_TOKEN]) {
      expect(told).not.toContain(secret);
    }
    expect(text).not.toContain(keyId);
  });
});

test("/status says on a page what /readyz says, and names no server", async () => {
  const readPage = async () => {
    const page = await gatehouse.get("/status");
    expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
    return page.text();
  };
  const server = await gatehouse.addServer({ name: "<b>Cedar</b>", serverKey: "invalid-Status" });
  await gatehouse.get("/v2/game/server", (await gatehouse.addKey(server)).token);
  const page = await readPage();
  expect(page).toContain("Some requests are refused");
  expect(page).toMatch(/The game API has refused \d server key\(s\)/);
  expect(page).not.toContain("Cedar");
});
