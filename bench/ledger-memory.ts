// npm run bench:memory: whether the memory of Gatehouse stays flat while it records. Watched servers have a burst of entries
// at every reading; the resident memory after ten times as many events is compared with that after the first, alone and
// beside readers that take nothing of their pages. Uses a folder that is deleted afterwards.
import { Database } from "bun:sqlite";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { mintToken } from "../src/core/keys/token.ts";
import { GATEHOUSE, settingsOf } from "./contenders/gatehouse.ts";
import { fillKeys, fillServers, openSqlite } from "./fill-store.ts";
import { type Goal, printGoals } from "./goals.ts";
import { readResidentMb } from "./process-usage.ts";
import { type Program, startProgram } from "./processes.ts";
import { Progress } from "./progress.ts";
import { PLAYERS } from "./stage.ts";
import { median } from "./statistics.ts";

const SERVERS = 20;
const INTERVAL_MS = 200;
/** New entries at every reading; fewer than a list shows, so that none is lost. */
const BURST = 40;
const SLOW_READERS = 20;
/** Below the limit of a key in a minute, and more than fits into the buffers of the kernel. */
const PAGES_ASKED = 60;
const TIMES = 10;
const STEPS = TIMES;
const LOOK_EVERY_MS = 250;
const RATIO_MAX = 1.15;
const USAGE = "npm run bench:memory -- [--quick] [--events 50000]";

type Run = { readonly title: string; readonly memory: readonly number[] };

const first = readFirst();
const folder = mkdtempSync(join(tmpdir(), "gatehouse-bench-"));
const progress = new Progress();
try {
  progress.part("memory", 2 * STEPS);
  const runs = [
    await measure("recording alone", 0),
    await measure(`beside ${SLOW_READERS} readers that read nothing`, SLOW_READERS),
  ];
  progress.end();
  print(runs);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function measure(title: string, readers: number): Promise<Run> {
  const data = mkdtempSync(join(folder, "data-"));
  const tokens = Array.from({ length: SLOW_READERS }, () => mintToken(randomBytes));
  const store = await openSqlite(data);
  await fillKeys(store, await fillServers(store, SERVERS), tokens);
  await store.close();
  const simulator = await startBurstingSimulator();
  const env = {
    ...settingsOf(data, simulator.urls[0] ?? ""),
    GATEHOUSE_WATCH: "on",
    GATEHOUSE_WATCH_INTERVAL_MS: String(INTERVAL_MS),
  };
  const program = await startProgram({ command: GATEHOUSE, core: undefined, env });
  const port = Number(new URL(program.urls[0] ?? "").port);
  const slow = tokens.slice(0, readers).map((token) => new SlowReader(port, token));
  try {
    const memory: number[] = [];
    // Until then the engine compiles, and its heap grows to the size that the work needs.
    await lookAtMemory(program, join(data, "archive.db"), first);
    for (let step = 1; step <= STEPS; step++) {
      memory.push(await lookAtMemory(program, join(data, "archive.db"), (step + 1) * first));
      progress.step(`${title}: ${(step + 1) * first} events`);
    }
    return { title, memory };
  } finally {
    for (const reader of slow) reader.stop();
    await program.stop();
    await simulator.stop();
  }
}

async function startBurstingSimulator(): Promise<Program> {
  const main = resolve(import.meta.dir, "../src/main.ts");
  const options = ["--port", "0", "--players", String(PLAYERS), "--read-limit", "0"];
  const command = [process.execPath, "--no-env-file", main, "simulate", ...options];
  const simulator = await startProgram({ command, core: undefined });
  const fault = { kind: "burst", list: "CommandLogs", count: BURST, times: null };
  const answer = await fetch(`${simulator.urls[0]}/_faults`, { method: "POST", body: JSON.stringify(fault) });
  if (!answer.ok) throw new Error(`the burst was refused: ${await answer.text()}`);
  return simulator;
}

/** Asks for many pages at once and reads nothing. When it is disconnected, it comes again. */
class SlowReader {
  readonly #port: number;
  readonly #token: string;
  #socket: ReturnType<typeof connect> | undefined;
  #isStopped = false;

  constructor(port: number, token: string) {
    this.#port = port;
    this.#token = token;
    this.#open();
  }

  stop(): void {
    this.#isStopped = true;
    this.#socket?.destroy();
  }

  #open(): void {
    if (this.#isStopped) return;
    const path = "/v2/game/server/events?after=earliest&limit=500";
    const request = `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${this.#token}\r\n\r\n`;
    const socket = connect({ port: this.#port, host: "127.0.0.1" });
    this.#socket = socket;
    socket.on("error", () => {});
    socket.once("connect", () => {
      socket.pause();
      socket.write(request.repeat(PAGES_ASKED));
    });
    socket.once("close", () => setTimeout(() => this.#open(), 1_000));
  }
}

/** The median from now until so many events are recorded, because the garbage collector comes and goes. */
async function lookAtMemory({ pid }: Program, path: string, events: number): Promise<number> {
  const looks: number[] = [];
  while (countEvents(path) < events) {
    await Bun.sleep(LOOK_EVERY_MS);
    looks.push(readResidentMb(pid));
  }
  return median(looks);
}

function countEvents(path: string): number {
  const db = new Database(path, { readonly: true });
  try {
    db.exec("PRAGMA busy_timeout = 2000");
    const row = db.query<{ events: number | null }, []>("SELECT sum(last_number) AS events FROM ledgers");
    return row.get()?.events ?? 0;
  } finally {
    db.close();
  }
}

function print(runs: readonly Run[]): void {
  console.log("\nResident memory after so many events, beside the first:");
  console.table(
    Array.from({ length: STEPS }, (_, step) => ({
      events: ((step + 1) * first).toLocaleString("en"),
      ...Object.fromEntries(
        runs.map(({ title, memory }) => [title, ((memory[step] ?? 0) / (memory[0] ?? 1)).toFixed(2)]),
      ),
    })),
  );
  for (const { title, memory } of runs) console.log(`${title}: ${memory.map((mb) => mb.toFixed(0)).join(", ")} MB`);
  printGoals(
    runs.map(({ title, memory }): Goal => {
      const found = (memory.at(-1) ?? Number.NaN) / (memory[0] ?? Number.NaN);
      return {
        name: `${title}: memory after ${TIMES} times the events`,
        isAtLeast: false,
        wanted: RATIO_MAX,
        found,
      };
    }),
  );
}

/** How many events are recorded when the memory is looked at first. */
function readFirst(): number {
  try {
    const { values } = parseArgs({
      options: { quick: { type: "boolean", default: false }, events: { type: "string" } },
    });
    const events = Number(values.events ?? (values.quick ? 10_000 : 50_000));
    if (!(events >= 1)) throw new Error("--events must be 1 or more");
    return events;
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n${USAGE}`);
    process.exit(2);
  }
}
