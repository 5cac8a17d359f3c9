// deploy/grafana-dashboard.json and the rules for Prometheus ask only for metrics and labels that a running Gatehouse has.
import { afterAll, expect, test } from "bun:test";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { MemoryArchive } from "../event-archive.ts";
import { startFakeGameApi } from "../fake-game-api.ts";
import { program, testWith } from "../needs.ts";
import { startGatehouse } from "../start-gatehouse.ts";
import { cleanUp, makeFolder } from "../temporary.ts";

type Panel = {
  readonly title: string;
  readonly type: string;
  readonly targets?: readonly { readonly expr: string }[];
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
};

const DEPLOY = join(import.meta.dir, "../../deploy");
/** Only with a PostgreSQL and a Redis. */
const SHARED = ["gatehouse_database_up", "gatehouse_redis_up"];

const rules = readFileSync(join(DEPLOY, "prometheus-rules.yml"), "utf8");
const file = readFileSync(join(DEPLOY, "grafana-dashboard.json"), "utf8");
const dashboard = JSON.parse(file) as { readonly panels: readonly Panel[] };
const panels = dashboard.panels.filter(({ type }) => type !== "row");
const expressions = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));

const game = startFakeGameApi();
const archive = new MemoryArchive();
const env = { GATEHOUSE_UPSTREAM_URL: game.url, GATEHOUSE_WATCH: "on" };
const gatehouse = await startGatehouse({ archive, env });
afterAll(async () => {
  await cleanUp();
  await gatehouse.stop();
  await game.stop();
});

/** The names of the metrics, each with the labels that any of its samples has. */
async function readMetrics(): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const server = await gatehouse.addServer();
  const { token } = await gatehouse.addKey(server);
  await gatehouse.get("/v2/game/server", token);
  const text = await (await gatehouse.get("/metrics", gatehouse.masterKey)).text();
  const found = new Map<string, Set<string>>();
  for (const [, name = ""] of text.matchAll(/^# TYPE (\w+)/gm)) found.set(name, new Set());
  for (const [, name = "", labels = ""] of text.matchAll(/^(\w+)(?:\{(.*)\})? /gm)) {
    const known = found.get(name) ?? new Set<string>();
    for (const [, label = ""] of labels.matchAll(/(\w+)="/g)) known.add(label);
    found.set(name, known);
  }
  return found;
}

test("every metric that a panel asks for is one of ours", async () => {
  const metrics = await readMetrics();
  const asked = expressions.flatMap((expr) => expr.match(/\b(?:gatehouse|process)_\w+/g) ?? []);
  expect(new Set(asked).size).toBeGreaterThan(30);
  expect(asked.filter((name) => !metrics.has(name))).toEqual([]);
});

test("every alert for Prometheus asks for metrics of ours, and says what to do", async () => {
  const metrics = await readMetrics();
  const alerts = rules.split("      - alert: ").slice(1);
  expect(alerts.length).toBeGreaterThan(8);
  for (const alert of alerts) {
    expect(alert).toMatch(/^ +summary: ".+"$/m);
    expect(alert).toMatch(/^ +action: ".+"$/m);
    const [, expr = ""] = /^ +expr: (.*)$/m.exec(alert) ?? [];
    const asked = expr.match(/\bgatehouse_\w+/g) ?? [];
    expect(asked.filter((name) => !metrics.has(name) && !SHARED.includes(name))).toEqual([]);
    expect(asked.length > 0 || expr.startsWith("up{")).toBe(true);
  }
});

testWith(program("promtool"))("Prometheus takes its files", async () => {
  const folder = makeFolder();
  for (const name of ["prometheus.yml", "prometheus-rules.yml"]) cpSync(join(DEPLOY, name), join(folder, name));
  writeFileSync(join(folder, "token"), "a token");
  const config = join(folder, "prometheus.yml");
  const named = readFileSync(config, "utf8").replace("/etc/prometheus/gatehouse-metrics-token", join(folder, "token"));
  writeFileSync(config, named);
  const judged = Bun.spawnSync(["promtool", "check", "config", config]);
  expect([judged.exitCode, judged.stdout.toString() + judged.stderr.toString()]).toEqual([
    0,
    expect.stringMatching(/SUCCESS: 1 rule files found[\s\S]*SUCCESS: \d+ rules found/),
  ]);
});

test("every panel asks for something, and by labels that the metric has", async () => {
  const metrics = await readMetrics();
  for (const { title, targets = [] } of panels) expect([title, targets.length > 0]).toEqual([title, true]);
  let compared = 0;
  for (const expr of expressions) {
    const [, label = "", name = ""] = /by \((\w+)\) \(.*?((?:gatehouse|process)_\w+)/.exec(expr) ?? [];
    const labels = metrics.get(name);
    // A metric that has counted nothing yet has no labels.
    if (!labels?.size) continue;
    expect([expr, labels.has(label)]).toEqual([expr, true]);
    compared++;
  }
  expect(compared).toBeGreaterThan(8);
});

test("no panel lies on another", () => {
  for (const [index, { gridPos: a }] of dashboard.panels.entries()) {
    expect(a.x + a.w).toBeLessThanOrEqual(24);
    for (const { gridPos: b } of dashboard.panels.slice(index + 1)) {
      const isApart = a.x + a.w <= b.x || b.x + b.w <= a.x || a.y + a.h <= b.y || b.y + b.h <= a.y;
      expect(isApart).toBe(true);
    }
  }
});
