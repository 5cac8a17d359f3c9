// deploy/grafana-dashboard.json asks only for metrics and labels that a running Gatehouse has.
import { afterAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { MemoryArchive } from "../event-archive.ts";
import { startFakeGameApi } from "../fake-game-api.ts";
import { startGatehouse } from "../start-gatehouse.ts";

type Panel = {
  readonly title: string;
  readonly type: string;
  readonly targets?: readonly { readonly expr: string }[];
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
};

const file = readFileSync(join(import.meta.dir, "../../deploy/grafana-dashboard.json"), "utf8");
const dashboard = JSON.parse(file) as { readonly panels: readonly Panel[] };
const panels = dashboard.panels.filter(({ type }) => type !== "row");
const expressions = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));

const game = startFakeGameApi();
const archive = new MemoryArchive();
const env = { GATEHOUSE_UPSTREAM_URL: game.url, GATEHOUSE_WATCH: "on" };
const gatehouse = await startGatehouse({ archive, env });
afterAll(async () => {
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
