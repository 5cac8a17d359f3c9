// npm run bench:webhooks: what 1,000 webhooks cost: memory and processor time while nothing happens, and while each is sent
// events and a tenth of the receivers never answer. Uses a folder that is deleted afterwards.
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { NO_HISTORY } from "../src/core/history/history.ts";
import { mintToken } from "../src/core/keys/token.ts";
import type { Archive } from "../src/core/ports/archive.ts";
import { showUrl } from "../src/core/webhooks/address.ts";
import { writeWebhookSecret } from "../src/core/webhooks/standard.ts";
import { WEBHOOK_FORMATS, WEBHOOKS_PER_SERVER_MAX } from "../src/core/webhooks/webhook.ts";
import { createArchive } from "../src/database/archive/archive.ts";
import { openArchiveFile } from "../src/database/archive/open-archive-file.ts";
import { createWebhookSealer, Sealer } from "../src/database/sealer.ts";
import { SqliteDriver } from "../src/database/sqlite.ts";
import { makeWebhook } from "../test/archive/webhook-samples.ts";
import { makeEvent } from "../test/event-archive.ts";
import { READ_PATH } from "./cases.ts";
import { FRESH_FOREVER_MS, GATEHOUSE, settingsOf } from "./contenders/gatehouse.ts";
import { fillKeys, fillServers, openSqlite } from "./fill-store.ts";
import { printGoals } from "./goals.ts";
import { readCpuMicros, readResidentMb } from "./process-usage.ts";
import { type Program, startProgram } from "./processes.ts";
import { PLAYERS, SECRET } from "./stage.ts";
import { median } from "./statistics.ts";

const WEBHOOKS = 1_000;
const SERVERS = WEBHOOKS / WEBHOOKS_PER_SERVER_MAX;
/** One receiver of so many never answers. */
const DEAD_ONE_IN = 10;
const SETTLE_MS = 5_000;
const LOOK_EVERY_MS = 100;
const READS_EVERY_MS = 20;
const DELIVERY_DEADLINE_MS = 300_000;
const MEMORY_MAX_MB = 100;
/** In hundredths of a core. */
const IDLE_CPU_MAX = 5;
const USAGE = "npm run bench:webhooks -- [--seconds 20] [--events 20]";

type Measured = { readonly memoryMb: number; readonly cpu: number; readonly readMs: readonly number[] };

const { seconds, events } = readSettings();
const folder = mkdtempSync(join(tmpdir(), "gatehouse-bench-"));
try {
  const simulator = await startBenchSimulator();
  const none = await measure(simulator, 0);
  const all = await measure(simulator, WEBHOOKS);
  await simulator.stop();
  print(none, all);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** In a process of its own, so that the harness has time for its reads. */
function startReceivers(): Promise<Program> {
  const receivers = resolve(import.meta.dir, "webhook-receivers.ts");
  return startProgram({
    command: [process.execPath, "--no-env-file", receivers],
    core: undefined,
    addresses: 2,
  });
}

function startBenchSimulator(): Promise<Program> {
  const main = resolve(import.meta.dir, "../src/main.ts");
  const options = ["--port", "0", "--players", String(PLAYERS), "--read-limit", "0"];
  const command = [process.execPath, "--no-env-file", main, "simulate", ...options];
  return startProgram({ command, core: undefined });
}

async function measure(simulator: Program, webhooks: number) {
  const data = mkdtempSync(join(folder, "data-"));
  const token = mintToken(randomBytes);
  const store = await openSqlite(data);
  const serverIds = await fillServers(store, SERVERS);
  await fillKeys(store, serverIds, [token]);
  await store.close();
  const db = openArchiveFile(join(data, "archive.db"));
  db.exec("PRAGMA busy_timeout = 5000");
  const archive = createArchive(new SqliteDriver(db));
  const receivers = await startReceivers();
  const mustArrive = await createWebhooks(archive, serverIds, webhooks, receivers);
  const countReceived = async () => Number(await (await fetch(receivers.urls[0] ?? "")).text());
  const env = {
    ...settingsOf(data, simulator.urls[0] ?? ""),
    GATEHOUSE_FRESH_MS: FRESH_FOREVER_MS,
    GATEHOUSE_WEBHOOKS_PRIVATE: "allow",
    GATEHOUSE_EVENTS_DAYS: "100000",
    GATEHOUSE_RATE_LIMIT: "1000000",
  };
  const program = await startProgram({ command: GATEHOUSE, core: undefined, env });
  try {
    const read = () => timeRead(program, token);
    await read();
    await Bun.sleep(SETTLE_MS);
    const endsAt = Date.now() + seconds * 1_000;
    const idle = await look(program, read, async () => Date.now() >= endsAt);
    const before = await countReceived();
    const beganAt = Date.now();
    for (const serverId of serverIds) await addEvents(archive, serverId);
    const quiet = beganAt + seconds * 1_000;
    const busy = await look(program, read, async () => {
      if (webhooks === 0) return Date.now() >= quiet;
      const received = (await countReceived()) - before;
      if (Date.now() > beganAt + DELIVERY_DEADLINE_MS) throw new Error(`only ${received} requests arrived`);
      return received >= mustArrive;
    });
    return { idle, busy, requests: (await countReceived()) - before, deliveryMs: Date.now() - beganAt };
  } finally {
    await program.stop();
    await receivers.stop();
    db.close();
  }
}

/** Returns how many requests must arrive: each event at each receiver that answers, ten of them in a message to Discord. */
async function createWebhooks(
  archive: Archive,
  serverIds: readonly string[],
  count: number,
  { urls: [alive, dead] }: Program,
): Promise<number> {
  const sealer = createWebhookSealer(new Sealer(SECRET));
  let mustArrive = 0;
  for (let n = 0; n < count; n++) {
    const webhookId = `hook_${n}`;
    const format = WEBHOOK_FORMATS[n % WEBHOOK_FORMATS.length] ?? "standard";
    const isDead = n % DEAD_ONE_IN === 0;
    const url = `${isDead ? dead : alive}/in/${webhookId}`;
    const outcome = await archive.createWebhook(
      makeWebhook({
        webhookId,
        serverId: serverIds[n % SERVERS] ?? "",
        format,
        sealedUrl: sealer.seal(url, webhookId, "url"),
        shownUrl: showUrl(new URL(url)),
        sealedSecret: sealer.seal(writeWebhookSecret(randomBytes(32)), webhookId, "secret"),
      }),
    );
    if (outcome === "full") throw new Error("a server has too many webhooks");
    if (!isDead && format === "standard") mustArrive += events;
    if (!isDead && format === "discord") mustArrive += Math.ceil(events / 10);
  }
  return mustArrive;
}

async function addEvents(archive: Archive, serverId: string): Promise<void> {
  const { version } = await archive.load(serverId);
  const added = Array.from({ length: events }, (_, n) => makeEvent(n));
  await archive.record([
    { serverId, version, events: added, memory: [], history: NO_HISTORY, stillShown: [], now: Date.now() },
  ]);
}

async function timeRead({ urls }: Program, token: string): Promise<number> {
  const beganAt = performance.now();
  const answer = await fetch(urls[0] + READ_PATH, { headers: { Authorization: `Bearer ${token}` } });
  await answer.arrayBuffer();
  return performance.now() - beganAt;
}

/** The largest memory, and the share of a core, until it is over. Reads are made meanwhile. */
async function look({ pid }: Program, read: () => Promise<number>, isOver: () => Promise<boolean>): Promise<Measured> {
  const [beganAt, cpuBefore] = [performance.now(), readCpuMicros(pid)];
  const readMs: number[] = [];
  let memoryMb = 0;
  let lookAt = 0;
  for (;;) {
    readMs.push(await read());
    if (performance.now() >= lookAt) {
      if (await isOver()) break;
      memoryMb = Math.max(memoryMb, readResidentMb(pid));
      lookAt = performance.now() + LOOK_EVERY_MS;
    }
    await Bun.sleep(READS_EVERY_MS);
  }
  const cpu = ((readCpuMicros(pid) - cpuBefore) / 1_000 / (performance.now() - beganAt)) * 100;
  return { memoryMb, cpu, readMs };
}

type Run = Awaited<ReturnType<typeof measure>>;

function print(none: Run, all: Run): void {
  const row = (what: string, { memoryMb, cpu, readMs }: Measured) => ({
    what,
    "resident MB": memoryMb.toFixed(0),
    "% of a core": cpu.toFixed(1),
    "read, median ms": median(readMs).toFixed(2),
    "read, p99 ms": (readMs.toSorted((a, b) => a - b)[Math.floor(readMs.length * 0.99)] ?? 0).toFixed(2),
  });
  console.table([
    row("no webhooks, idle", none.idle),
    row("no webhooks, events are recorded", none.busy),
    row(`${WEBHOOKS} webhooks, idle`, all.idle),
    row(`${WEBHOOKS} webhooks, events are sent`, all.busy),
  ]);
  console.log(`${all.requests} requests in ${(all.deliveryMs / 1_000).toFixed(1)} s`);
  const cost = (a: Measured, b: Measured, of: "memoryMb" | "cpu") => a[of] - b[of];
  printGoals([
    {
      name: `memory of ${WEBHOOKS} webhooks, idle, MB`,
      isAtLeast: false,
      wanted: MEMORY_MAX_MB,
      found: cost(all.idle, none.idle, "memoryMb"),
    },
    {
      name: `memory of ${WEBHOOKS} webhooks, events are sent, MB`,
      isAtLeast: false,
      wanted: MEMORY_MAX_MB,
      found: cost(all.busy, none.busy, "memoryMb"),
    },
    {
      name: `processor time of ${WEBHOOKS} webhooks, idle, % of a core`,
      isAtLeast: false,
      wanted: IDLE_CPU_MAX,
      found: cost(all.idle, none.idle, "cpu"),
    },
  ]);
}

function readSettings(): { readonly seconds: number; readonly events: number } {
  try {
    const { values } = parseArgs({
      options: { seconds: { type: "string", default: "20" }, events: { type: "string", default: "20" } },
    });
    const [seconds, events] = [Number(values.seconds), Number(values.events)];
    if (!(seconds >= 1 && events >= 1)) throw new Error("--seconds and --events must be 1 or more");
    return { seconds, events };
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n${USAGE}`);
    process.exit(2);
  }
}
