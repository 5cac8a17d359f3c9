// The short form of npm run outages: each kind of outage once.
import { afterEach, expect, test } from "bun:test";
import { endFleets } from "../instances/fleet.ts";
import { mounting, testWith } from "../needs.ts";
import { stopPostgresServers } from "../postgres-server.ts";
import { runDiskOutages } from "./outage-disk.ts";
import { runPostgresOutages } from "./outage-postgres.ts";
import { runRedisOutages } from "./outage-redis.ts";
import type { OutageReport } from "./outage-stage.ts";

const TEST_MS = 180_000;
const SEED = 24;

afterEach(async () => {
  await endFleets();
  await stopPostgresServers();
});

function expectKept(report: OutageReport): void {
  console.log(JSON.stringify(report));
  expect(report.problems).toEqual([]);
  expect(report.delivered).toBeLessThanOrEqual(report.accepted);
  for (const figure of ["accepted", "delivered", "webhookEvents"] as const) expect(report[figure]).toBeGreaterThan(10);
}

testWith(mounting)(
  "a disk that is full again and again costs no accepted command, no event and no restart",
  async () => {
    const report = await runDiskOutages({ count: 1, seed: SEED });
    expectKept(report);
    expect(report.refused).toBeGreaterThan(0);
  },
  TEST_MS,
);

test(
  "a Redis that is full, frozen, emptied and killed refuses no command, and costs no event and no restart",
  async () => {
    const report = await runRedisOutages({ count: 1, seed: SEED });
    expectKept(report);
    expect(report.outages).toBe(4);
    expect(report.refused).toBe(0);
  },
  TEST_MS,
);

test(
  "a PostgreSQL that is full, frozen and killed costs no accepted command, no event and no restart",
  async () => {
    const report = await runPostgresOutages({ count: 1, seed: SEED });
    expectKept(report);
    expect(report.refused).toBeGreaterThan(0);
  },
  TEST_MS,
);
