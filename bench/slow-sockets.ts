// npm run bench:slow: how long good callers wait beside thousands of slow sockets: alone, while the slow ones connect, and
// while they are held. Prints ratios to the first, and the memory of Gatehouse. Uses a folder that is deleted afterwards.
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { mintToken } from "../src/core/token.ts";
import { ALL_SECTIONS_INFO, BASE_INFO, startFakeGameApi } from "../test/fake-game-api.ts";
import { openSocket, writeRequest } from "../test/faults/raw-socket.ts";
import { FRESH_FOREVER_MS, GATEHOUSE, settingsOf } from "./contenders/gatehouse.ts";
import { fillKeys, fillServers, openSqlite } from "./fill-store.ts";
import { chooseCores } from "./machine.ts";
import { readResidentMb } from "./process-usage.ts";
import { startProgram } from "./processes.ts";

const SLOW_SOCKETS = 5_000;
const CONNECTED_PER_SECOND = 1_000;
const SAMPLES = 4_000;
/** Below 120, so that none is refused. */
const REQUESTS_PER_KEY = 100;
const KEYS_PER_PHASE = SAMPLES / REQUESTS_PER_KEY;
const GOOD_KEYS = 3 * KEYS_PER_PHASE;
const SLOW_KEYS = 20;
/** With their long names, about 3 MB of JSON. */
const VEHICLES = 9_000;
const LONG_NAME = "n".repeat(250);
/** Good callers send a request this long after the last answer. */
const THINK_MS = 1;

type Phase = {
  readonly name: string;
  readonly p50: number;
  readonly p99: number;
  readonly residentMb: number;
};

const folder = mkdtempSync(join(tmpdir(), "gatehouse-bench-"));
const Vehicles = Array.from({ length: VEHICLES }, () => ({
  ...ALL_SECTIONS_INFO.Vehicles[0],
  Name: LONG_NAME,
}));
const api = startFakeGameApi(() => Response.json({ ...BASE_INFO, Vehicles }));
try {
  const phases = await measure();
  const alone = phases[0];
  console.table(
    phases.map(({ name, p50, p99, residentMb }) => ({
      phase: name,
      "p50 beside alone": alone ? (p50 / alone.p50).toFixed(2) : "",
      "p99 beside alone": alone ? (p99 / alone.p99).toFixed(2) : "",
      "resident (MB)": residentMb.toFixed(0),
    })),
  );
} finally {
  await api.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function measure(): Promise<Phase[]> {
  const tokens = Array.from({ length: GOOD_KEYS + SLOW_KEYS }, () => mintToken(randomBytes));
  const store = openSqlite(folder);
  await fillKeys(store, await fillServers(store, 1), tokens);
  await store.close();
  const cores = chooseCores();
  const gatehouse = await startProgram({
    command: GATEHOUSE,
    core: cores.server,
    env: { ...settingsOf(folder, api.url), GATEHOUSE_FRESH_MS: FRESH_FOREVER_MS },
  });
  const port = Number(new URL(gatehouse.urls[0] ?? "").port);
  const good = tokens.slice(SLOW_KEYS);
  const sample = async (name: string, first: number): Promise<Phase> => {
    const keys = good.slice(first * KEYS_PER_PHASE, (first + 1) * KEYS_PER_PHASE);
    const { p50, p99 } = await sampleLatency(port, keys);
    return { name, p50, p99, residentMb: readResidentMb(gatehouse.pid) };
  };
  // Loads the reading and compiles the path.
  await sampleLatency(port, tokens.slice(0, SLOW_KEYS), SLOW_KEYS * 10);
  const alone = await sample("alone", 0);
  const slow = startSlowClients(port, tokens.slice(0, SLOW_KEYS));
  const connecting = await sample(`while ${SLOW_SOCKETS} slow sockets connect`, 1);
  await slow.isOpen;
  const held = await sample(`while ${SLOW_SOCKETS} slow sockets are held`, 2);
  slow.stop();
  await gatehouse.stop();
  return [alone, connecting, held];
}

function startSlowClients(port: number, tokens: readonly string[]) {
  const script = resolve(import.meta.dir, "slow-clients.ts");
  const args = [port, SLOW_SOCKETS, CONNECTED_PER_SECOND, JSON.stringify(tokens)].map(String);
  const command = [
    "sh",
    "-c",
    'ulimit -n 10000; exec nice -n 19 "$@"',
    "sh",
    process.execPath,
    script,
    ...args,
  ];
  const child = Bun.spawn(command, { stdin: "pipe", stdout: "pipe", stderr: "inherit" });
  return { isOpen: child.stdout.getReader().read(), stop: () => void child.kill() };
}

/** Latencies in milliseconds of one caller with a kept connection. */
async function sampleLatency(port: number, tokens: readonly string[], samples = SAMPLES) {
  const socket = await openSocket({ port });
  const times: number[] = [];
  for (let asked = 0; asked < samples; asked++) {
    const token = tokens[asked % tokens.length];
    const startedAt = performance.now();
    socket.write(writeRequest("/v2/game/server", [`Authorization: Bearer ${token}`]));
    const answer = await socket.readAnswer();
    if (answer?.status !== 200) throw new Error(`a good caller got ${answer?.status}`);
    times.push(performance.now() - startedAt);
    await Bun.sleep(THINK_MS);
  }
  socket.destroy();
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.floor(times.length * share)] ?? Number.NaN;
  return { p50: at(0.5), p99: at(0.99) };
}
