// npm run bench:streams: what open streams cost. Fan-out beside a bare Bun.serve that sends the same bytes; cached reads beside
// events that go to many streams; memory and delivery with thousands of streams. The events come from the simulator through
// watching and the ledger. Prints ratios and the goals. Uses a folder that is deleted afterwards.
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { mintToken } from "../src/core/keys/token.ts";
import { STREAMS_PER_KEY_MAX } from "../src/gateway/events/stream-slots.ts";
import { type Simulator, startSimulator } from "../src/simulator/simulator.ts";
import { ALL_SECTIONS_PATH, READ_PATH } from "./cases.ts";
import { GATEHOUSE, settingsOf } from "./contenders/gatehouse.ts";
import { fillKeys, fillServers, openSqlite } from "./fill-store.ts";
import { type Goal, printGoals } from "./goals.ts";
import { type Measured, measureLoad, putLoad } from "./load.ts";
import { chooseCores, pinProcess } from "./machine.ts";
import { readCpuMicros, readResidentMb } from "./process-usage.ts";
import { type Program, startProgram } from "./processes.ts";
import { Progress } from "./progress.ts";
import { CONNECTIONS, READ_KEYS } from "./settings.ts";
import { PLAYERS, writeTokens } from "./stage.ts";
import { median, spread } from "./statistics.ts";
import { type Delivery, Subscribers } from "./subscribers.ts";

const STREAM_PATH = `${READ_PATH}/events/stream`;
/** The most streams of any part; every key may have twenty. */
const MANY_STREAMS = 2_000;
const STREAM_KEYS = MANY_STREAMS / STREAMS_PER_KEY_MAX;

/**
 * Fan-out: the events of one delivery. They stay below what waits for a reader at most, so that no stream falls behind. The
 * log shows more entries than a delivery has, so that each list overlaps with the one before.
 */
const BURSTS = [
  { title: "bursts of 1,000 events", events: 1_000, logWindow: 1_200, intervalMs: 250, deliveries: 1 },
  { title: "single events", events: 1, logWindow: 50, intervalMs: 50, deliveries: 5 },
] as const;
const CONTENDERS = ["floor", "gatehouse"] as const;

const READ_STREAMS = 200;
const EVENTS_PER_SECOND = 100;
const READ_INTERVAL_MS = 100;
/** A turn in which fewer of the expected events arrived did not do what its name says. */
const EVENTS_SHARE_MIN = 0.9;
const READ_CASES = [
  { title: "cached read, base only", path: READ_PATH },
  { title: "cached read, nine sections", path: ALL_SECTIONS_PATH },
] as const;
const MODES = ["without", "with"] as const;

const MANY_INTERVAL_MS = 1_000;
const MANY_EVENTS = 10;
const SETTLE_MS = 2_000;
/** Where the turns of the one that is compared with differ by more, the machine was not quiet. */
const SPREAD_MAX = 1.1;
const PARTS = ["fan-out", "reads", "many"] as const;
const USAGE = `npm run bench:streams -- [--quick] [--rounds 5] [--seconds 10] [--subscribers 500] [--only ${PARTS.join(",")}]`;

type Contender = (typeof CONTENDERS)[number];
type Mode = (typeof MODES)[number];
type Part = (typeof PARTS)[number];
type Settings = {
  readonly rounds: number;
  readonly seconds: number;
  readonly subscribers: number;
  readonly deliveries: number;
  readonly parts: ReadonlySet<Part>;
};
type FanOut = { readonly perSecond: number; readonly perCpuSecond: number };
type Many = { readonly kilobytes: number; readonly slowestMs: number; readonly medianMs: number };

const settings = readSettings();
const cores = chooseCores();
// The harness, with the simulator and the subscribers, must not use the core of the server.
pinProcess(process.pid, cores.load);
const folder = mkdtempSync(join(tmpdir(), "gatehouse-bench-"));
const progress = new Progress();
try {
  const streamTokens = Array.from({ length: STREAM_KEYS }, () => mintToken(randomBytes));
  const readTokens = Array.from({ length: READ_KEYS }, () => mintToken(randomBytes));
  const goals: Goal[] = [];
  if (settings.parts.has("fan-out")) goals.push(...printFanOut(await measureFanOut(streamTokens)));
  if (settings.parts.has("reads")) goals.push(...printReads(await measureReads(streamTokens, readTokens)));
  if (settings.parts.has("many")) goals.push(...printMany(await measureMany(streamTokens)));
  printGoals(goals);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
// The runtime keeps connections of fetch open.
process.exit(0);

/** A server whose time stands still, so that every event is one of a burst. */
function startStill(logWindow: number): Promise<Simulator> {
  const now = Date.now();
  return startSimulator({
    seed: 1,
    players: PLAYERS,
    maxPlayers: PLAYERS,
    readLimit: 0,
    logWindow,
    // While time stands still, a list that is shortened would stay so.
    quirks: { logWindowVaries: false },
    clock: () => now,
  });
}

function armBurst(simulator: Simulator, count: number): void {
  simulator.arm({ kind: "burst", list: "CommandLogs", target: "reads", count, times: 1 });
}

/** Every reading finds the events that are due, however late it comes. Ends when the returned timer is cleared. */
function startSteadyEvents(simulator: Simulator): Timer {
  let readings = -1;
  let startedAt = performance.now();
  return setInterval(() => {
    const { reads } = simulator.calls(Number.MAX_SAFE_INTEGER).totals;
    // The burst that was armed last still waits for its reading.
    if (reads === readings) return;
    const count = Math.floor(((performance.now() - startedAt) * EVENTS_PER_SECOND) / 1000);
    if (count === 0) return;
    startedAt += (count * 1000) / EVENTS_PER_SECOND;
    readings = reads;
    armBurst(simulator, count);
  }, READ_INTERVAL_MS / 4);
}

async function fill(tokens: readonly string[]): Promise<string> {
  const data = mkdtempSync(join(folder, "data-"));
  const store = await openSqlite(data);
  await fillKeys(store, await fillServers(store, 1), tokens);
  await store.close();
  return data;
}

function startGatehouse(data: string, simulator: Simulator, intervalMs: number): Promise<Program> {
  const env = {
    ...settingsOf(data, simulator.url),
    GATEHOUSE_WATCH: "on",
    GATEHOUSE_WATCH_INTERVAL_MS: String(intervalMs),
  };
  return startProgram({ command: GATEHOUSE, core: cores.server, env });
}

async function measureFanOut(tokens: readonly string[]): Promise<Record<Contender, FanOut[]>[]> {
  progress.part("fan-out", BURSTS.length * settings.rounds * CONTENDERS.length);
  const results: Record<Contender, FanOut[]>[] = [];
  for (const burst of BURSTS) results.push(await measureBursts(burst, tokens));
  progress.end();
  return results;
}

async function measureBursts(
  { title, events, logWindow, intervalMs, deliveries }: (typeof BURSTS)[number],
  tokens: readonly string[],
): Promise<Record<Contender, FanOut[]>> {
  const { rounds, subscribers: count } = settings;
  const times = settings.deliveries * deliveries;
  const simulator = await startStill(logWindow);
  const gatehouse = await startGatehouse(await fill(tokens), simulator, intervalMs);
  const script = join(import.meta.dir, "contenders/fan-out.mjs");
  const command = [process.execPath, "--no-env-file", script];
  const floor = await startProgram({ command, core: cores.server });
  const results: Record<Contender, FanOut[]> = { floor: [], gatehouse: [] };
  try {
    const url = gatehouse.urls[0] + STREAM_PATH;
    const ours = await Subscribers.open({ url, tokens, count });
    const theirs = await Subscribers.open({ url: floor.urls[0] ?? "", tokens, count });
    const bytes = await recordBurst(simulator, url, tokens.at(-1) ?? "", events);
    const sendOurs = () => deliver(ours, events, () => armBurst(simulator, events));
    const sendTheirs = () => deliver(theirs, events, () => post(floor, bytes));
    // Both are compiled before the first turn.
    await measureDeliveries(gatehouse.pid, events * count, times, sendOurs);
    await measureDeliveries(floor.pid, events * count, times, sendTheirs);
    for (let round = 0; round < rounds; round++) {
      for (const contender of round % 2 === 0 ? CONTENDERS : CONTENDERS.toReversed()) {
        const [pid, send] = contender === "floor" ? [floor.pid, sendTheirs] : ([gatehouse.pid, sendOurs] as const);
        const result = await measureDeliveries(pid, events * count, times, send);
        results[contender].push(result);
        const rates = [result.perSecond, result.perCpuSecond].map((rate) => Math.round(rate));
        progress.step(`${title}, ${contender}: ${rates[0]} deliveries/s, ${rates[1]} per processor second`);
      }
    }
    ours.close();
    theirs.close();
  } finally {
    await Promise.all([gatehouse.stop(), floor.stop()]);
    await simulator.stop();
  }
  return results;
}

async function deliver(subscribers: Subscribers, events: number, send: () => void | Promise<void>): Promise<Delivery> {
  const delivery = subscribers.expect(events);
  await send();
  return delivery;
}

async function post(floor: Program, body: Uint8Array<ArrayBuffer>): Promise<void> {
  await fetch(floor.urls[0] ?? "", { method: "POST", body });
}

/** The processor time of Gatehouse includes that of reading the game API and of recording. */
async function measureDeliveries(
  pid: number,
  copies: number,
  times: number,
  send: () => Promise<Delivery>,
): Promise<FanOut> {
  const tookMs: number[] = [];
  const cpuBefore = readCpuMicros(pid);
  for (let i = 0; i < times; i++) {
    const { firstAt, lastAt } = await send();
    tookMs.push(lastAt - firstAt);
  }
  const cpuSeconds = (readCpuMicros(pid) - cpuBefore) / 1e6;
  return {
    perSecond: (copies * 1000) / median(tookMs),
    perCpuSecond: (copies * times) / cpuSeconds,
  };
}

/** The bytes that Gatehouse sends to one subscriber for one burst. */
async function recordBurst(
  simulator: Simulator,
  url: string,
  token: string,
  events: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const answer = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
  if (!answer.ok || !answer.body) throw new Error(`the stream was refused: ${await answer.text()}`);
  const reader = answer.body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) throw new Error("the stream ended");
    const isFirst = text === "";
    text += decoder.decode(value, { stream: true });
    if (isFirst) armBurst(simulator, events);
    const messages = text.split("\n\n").slice(0, -1);
    const wanted = messages.filter((message) => message.includes("event: command.used\n"));
    if (wanted.length < events) continue;
    void reader.cancel();
    return new TextEncoder().encode(wanted.map((message) => `${message}\n\n`).join(""));
  }
}

async function measureReads(
  streamTokens: readonly string[],
  readTokens: readonly string[],
): Promise<Record<Mode, Measured[][]>> {
  const { rounds } = settings;
  const tokensPath = writeTokens(folder, "tokens.txt", readTokens);
  const turns: Record<Mode, Measured[][]> = { without: [], with: [] };
  progress.part("reads", rounds * MODES.length);
  for (let round = 0; round < rounds; round++) {
    for (const mode of round % 2 === 0 ? MODES : MODES.toReversed()) {
      const data = await fill([...streamTokens, ...readTokens]);
      const results = await measureReadTurn(mode, data, streamTokens, tokensPath);
      turns[mode].push(results);
      const rates = results.map(({ perSecond, p99Ms }) => `${Math.round(perSecond)}/s p99 ${p99Ms.toFixed(1)} ms`);
      progress.step(`${mode} streams: ${rates.join(", ")}`);
      rmSync(data, { recursive: true, force: true });
    }
  }
  progress.end();
  return turns;
}

/** The events are made and recorded in both turns; only the streams differ. */
async function measureReadTurn(
  mode: Mode,
  data: string,
  tokens: readonly string[],
  tokensPath: string,
): Promise<Measured[]> {
  const simulator = await startStill(50);
  const program = await startGatehouse(data, simulator, READ_INTERVAL_MS);
  const url = program.urls[0] ?? "";
  const keys = { tokensPath, first: 0, count: READ_KEYS, connections: CONNECTIONS };
  let events: Timer | undefined;
  try {
    const count = mode === "with" ? READ_STREAMS : 0;
    const subscribers = await Subscribers.open({ url: url + STREAM_PATH, tokens, count });
    events = startSteadyEvents(simulator);
    for (const { path } of READ_CASES) await putLoad({ ...keys, url: url + path, seconds: 3 }, cores.load);
    const results: Measured[] = [];
    const totalBefore = subscribers.total;
    const startedAt = performance.now();
    for (const { title, path } of READ_CASES) {
      const load = { ...keys, url: url + path, seconds: settings.seconds };
      const result = await measureLoad(load, cores.load, program.pid);
      if (result.refused > result.requests * 0.001)
        throw new Error(`${title}, ${mode} streams: ${result.refused} requests were refused`);
      results.push(result);
    }
    const seconds = (performance.now() - startedAt) / 1000;
    checkEvents((subscribers.total - totalBefore) / seconds, count * EVENTS_PER_SECOND);
    subscribers.checkOpen();
    subscribers.close();
    return results;
  } finally {
    clearInterval(events);
    await program.stop();
    await simulator.stop();
  }
}

function checkEvents(perSecond: number, expected: number): void {
  if (perSecond >= expected * EVENTS_SHARE_MIN) return;
  throw new Error(`${Math.round(perSecond)} events a second arrived, ${expected} were expected`);
}

async function measureMany(tokens: readonly string[]): Promise<Many> {
  const simulator = await startStill(50);
  const program = await startGatehouse(await fill(tokens), simulator, MANY_INTERVAL_MS);
  progress.part("many", 1 + MANY_EVENTS);
  try {
    const url = program.urls[0] + STREAM_PATH;
    // The first streams compile the paths; their memory is not that of a stream.
    const first = await Subscribers.open({ url, tokens, count: STREAM_KEYS });
    for (let i = 0; i < 3; i++) await deliver(first, 1, () => armBurst(simulator, 1));
    first.close();
    await Bun.sleep(SETTLE_MS);
    const before = readResidentMb(program.pid);
    const subscribers = await Subscribers.open({ url, tokens, count: MANY_STREAMS });
    progress.step(`${MANY_STREAMS} streams are open`);
    const sinceSeen: number[] = [];
    for (let i = 0; i < MANY_EVENTS; i++) {
      const { sinceSeenMs } = await deliver(subscribers, 1, () => armBurst(simulator, 1));
      sinceSeen.push(sinceSeenMs);
      progress.step(`an event reached all after ${sinceSeenMs} ms`);
    }
    await Bun.sleep(SETTLE_MS);
    const after = readResidentMb(program.pid);
    subscribers.checkOpen();
    subscribers.close();
    progress.end();
    return {
      kilobytes: ((after - before) * 1e3) / MANY_STREAMS,
      slowestMs: Math.max(...sinceSeen),
      medianMs: median(sinceSeen),
    };
  } finally {
    await program.stop();
    await simulator.stop();
  }
}

function printFanOut(results: readonly Record<Contender, FanOut[]>[]): Goal[] {
  const rows = results.map(({ floor, gatehouse }, index) => {
    const ratio = (what: keyof FanOut) =>
      median(gatehouse.map((turn, round) => turn[what] / (floor[round]?.[what] ?? Number.NaN)));
    return {
      title: BURSTS[index]?.title ?? "",
      perSecond: ratio("perSecond"),
      perCpuSecond: ratio("perCpuSecond"),
      spread: spread(floor.map(({ perCpuSecond }) => perCpuSecond)),
    };
  });
  console.log(
    `\nFan-out to ${settings.subscribers} subscribers beside bare Bun; medians of ${settings.rounds} rounds:`,
  );
  console.table(
    rows.map((row) => ({
      case: row.title,
      "deliveries/s": row.perSecond.toFixed(3),
      "deliveries per second of processor time": row.perCpuSecond.toFixed(3),
      "spread of bare Bun": row.spread.toFixed(2),
    })),
  );
  warnOfNoise(rows, "of bare Bun");
  return rows.flatMap(({ title, perSecond, perCpuSecond }): Goal[] => {
    return [
      { name: `fan-out beside bare Bun, ${title}`, isAtLeast: true, wanted: 0.6, found: perSecond },
      { name: `the same by processor time, ${title}`, isAtLeast: true, wanted: 0.75, found: perCpuSecond },
    ];
  });
}

function printReads(turns: Record<Mode, Measured[][]>): Goal[] {
  const rows = READ_CASES.map(({ title }, index) => {
    const list = (mode: Mode, what: "perSecond" | "p50Ms" | "p99Ms" | "cpuMicros") =>
      turns[mode].map((results) => results[index]?.[what] ?? Number.NaN);
    const ratio = (what: "perSecond" | "p50Ms" | "p99Ms" | "cpuMicros") => {
      const without = list("without", what);
      return median(list("with", what).map((value, round) => value / (without[round] ?? Number.NaN)));
    };
    return {
      title,
      perSecond: ratio("perSecond"),
      p50: ratio("p50Ms"),
      p99: ratio("p99Ms"),
      cpu: ratio("cpuMicros"),
      spread: spread(list("without", "perSecond")),
    };
  });
  console.log(
    `\nReads beside ${EVENTS_PER_SECOND} events a second to ${READ_STREAMS} streams, compared with no streams; medians of ${settings.rounds} rounds:`,
  );
  console.table(
    rows.map((row) => ({
      case: row.title,
      "requests/s": row.perSecond.toFixed(3),
      p50: row.p50.toFixed(2),
      p99: row.p99.toFixed(2),
      "processor time": row.cpu.toFixed(2),
      "spread without streams": row.spread.toFixed(2),
    })),
  );
  warnOfNoise(rows, "without streams");
  return rows.map(({ title, perSecond }) => {
    return {
      name: `${title}: requests/s with streams beside without`,
      isAtLeast: true,
      wanted: 0.8,
      found: perSecond,
    };
  });
}

function printMany({ kilobytes, slowestMs, medianMs }: Many): Goal[] {
  console.log(
    `\n${MANY_STREAMS} streams: an event reached all ${medianMs} ms after its reading (median of ${MANY_EVENTS}).\n`,
  );
  return [
    { name: `${MANY_STREAMS} streams: KB for each`, isAtLeast: false, wanted: 40, found: kilobytes },
    {
      name: `${MANY_STREAMS} streams: slowest event, ms until all had it`,
      isAtLeast: false,
      wanted: 1000,
      found: slowestMs,
    },
  ];
}

function warnOfNoise(rows: readonly { readonly spread: number }[], which: string): void {
  if (rows.some((row) => row.spread > SPREAD_MAX))
    console.log(`The machine was not quiet: the turns ${which} differ. The ratios say little.\n`);
}

function readSettings(): Settings {
  try {
    const { values } = parseArgs({
      options: {
        quick: { type: "boolean", default: false },
        rounds: { type: "string" },
        seconds: { type: "string" },
        subscribers: { type: "string", default: "500" },
        only: { type: "string", default: PARTS.join(",") },
      },
    });
    const { quick } = values;
    const rounds = Number(values.rounds ?? (quick ? 2 : 5));
    const seconds = Number(values.seconds ?? (quick ? 5 : 10));
    const subscribers = Number(values.subscribers);
    if (!(rounds >= 1) || !(seconds >= 1)) throw new Error("rounds and seconds must be 1 or more");
    if (!(subscribers >= 1 && subscribers < MANY_STREAMS))
      throw new Error(`subscribers must be 1 or more and fewer than ${MANY_STREAMS}`);
    return { rounds, seconds, subscribers, deliveries: quick ? 10 : 20, parts: parseParts(values.only) };
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n${USAGE}`);
    process.exit(2);
  }
}

function parseParts(list: string): ReadonlySet<Part> {
  const parts = list.split(",").map((name) => {
    const part = PARTS.find((known) => known === name);
    if (!part) throw new Error(`unknown part "${name}"`);
    return part;
  });
  return new Set(parts);
}
