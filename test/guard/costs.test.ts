// What a start, an idle instance and a watched server cost, as ratios to a floor of the same run. Only processor time and memory
// are compared, never how long something takes, so a slow or busy machine cannot fail them. The bounds leave a third of room.
import { afterEach, expect } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { readResidentMb } from "../../bench/process-usage.ts";
import { median } from "../../bench/statistics.ts";
import { BASE_INFO, startFakeGameApi } from "../fake-game-api.ts";
import { type Need, testWith } from "../needs.ts";
import { CHECKOUT, type GatehouseProcess, run, serve, stop } from "../run-gatehouse.ts";
import { startGatehouse } from "../start-gatehouse.ts";
import { cleanUp, makeFolder } from "../temporary.ts";
import { until } from "../until.ts";

const TURNS = 5;
const SERVERS = 20;
const READINGS = 600;
const WATCH_INTERVAL_MS = 200;
const FLOOR = join(import.meta.dir, "floor.ts");

const START_MAX = 55;
const IDLE_MAX = 4.5;
const READING_MAX = 30;

const linux: Need = () => (process.platform === "linux" ? undefined : "only Linux tells what each thread used");

afterEach(cleanUp);

/** Processor time of all threads that are still there, in milliseconds. */
function readCpuMs(pid: number): number {
  let nanoseconds = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    nanoseconds += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[0]);
  }
  return nanoseconds / 1e6;
}

async function startFloor(cwd: string, args: readonly string[] = []): Promise<GatehouseProcess> {
  const floor = run(["--no-env-file", FLOOR, ...args], { cwd, program: process.execPath });
  await floor.waitForLine("listening on");
  return floor;
}

testWith(linux)("a start until it listens costs a small number of starts of a bare server", async () => {
  const cwd = makeFolder();
  const env = { GATEHOUSE_UPSTREAM_URL: "http://127.0.0.1:9" };
  // Makes the files, and the bundle where it is missing.
  await stop(await serve({ cwd, env, program: CHECKOUT }));
  const ratios: number[] = [];
  for (let turn = 0; turn < TURNS; turn++) {
    const gatehouse = await serve({ cwd, env, program: CHECKOUT });
    const ours = readCpuMs(gatehouse.pid);
    await stop(gatehouse);
    const floor = await startFloor(cwd);
    ratios.push(ours / readCpuMs(floor.pid));
    await stop(floor);
  }
  expect(median(ratios)).toBeLessThan(START_MAX);
});

testWith(linux)(
  "an idle instance, with its archive, needs a small number of times the memory of a bare server",
  async () => {
    const cwd = makeFolder();
    const env = { GATEHOUSE_UPSTREAM_URL: "http://127.0.0.1:9" };
    const gatehouse = await serve({ cwd, env, program: CHECKOUT });
    const floor = await startFloor(cwd);
    // The archive was opened, and what the start has left behind was collected.
    await Bun.sleep(2_500);
    expect(readResidentMb(gatehouse.pid) / readResidentMb(floor.pid)).toBeLessThan(IDLE_MAX);
  },
);

testWith(linux)("a reading of a watched server costs a small number of bare calls", async () => {
  const api = startFakeGameApi(() => Response.json(BASE_INFO));
  const cwd = makeFolder();
  const env = {
    GATEHOUSE_UPSTREAM_URL: api.url,
    GATEHOUSE_WATCH: "on",
    GATEHOUSE_WATCH_INTERVAL_MS: String(WATCH_INTERVAL_MS),
  };
  const filler = await startGatehouse({ folder: join(cwd, "data"), env: { ...env, GATEHOUSE_WATCH: "off" } });
  for (let i = 0; i < SERVERS; i++) await filler.addServer({ serverKey: `key-Server${i}` });
  await filler.stop();
  const gatehouse = await serve({ cwd, env, program: CHECKOUT });
  const hasRead = (count: number) => () => api.calls.length >= count;
  await until("the servers are not watched", hasRead(READINGS / 4));
  const [before, callsBefore] = [readCpuMs(gatehouse.pid), api.calls.length];
  await until("the readings do not come", hasRead(callsBefore + READINGS));
  const ours = (readCpuMs(gatehouse.pid) - before) / (api.calls.length - callsBefore);
  await stop(gatehouse);
  const floor = await startFloor(cwd, [api.url, String(READINGS)]);
  const startCost = readCpuMs(floor.pid);
  await floor.waitForLine("done");
  const theirs = (readCpuMs(floor.pid) - startCost) / READINGS;
  expect(ours / theirs).toBeLessThan(READING_MAX);
  await api.stop();
});
