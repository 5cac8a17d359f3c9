// What the run `slow` does: holds slow sockets of eight kinds against a real Gatehouse, while good callers ask on. Every slow
// socket must be cut in time, every good request answered, and the memory stay small.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { median } from "../../bench/statistics.ts";
import { ALL_SECTIONS_INFO, BASE_INFO, startFakeGameApi } from "../fake-game-api.ts";
import { openSocket, type RawSocket, sendRaw, writeRequest } from "../raw-socket.ts";
import { type Listening, serve } from "../run-gatehouse.ts";
import { startGatehouse } from "../start-gatehouse.ts";
import { makeFolder, undoLater } from "../temporary.ts";
import type { Tools, Verdict } from "./long-run.ts";
import type { KindOutcome, SlowClientsOptions } from "./slow-clients.ts";

export const CUT_WITHIN_MS = 15_000;
export const MEMORY_MAX_MB = 200;
const SLOWER_MAX = 2;
/** One in ten reads a large answer. */
const READERS_SHARE = 0.1;
/** With their long names, 3.3 MB of JSON. */
const VEHICLES = 9_000;
const LONG_NAME = "n".repeat(280);
const LARGE_PATH = "/v2/game/server?Vehicles=true";
/** Together they may ask 1,200 times in a second, which is more than the good callers do. */
const GOOD_KEYS = 600;
/** Enough for the slow sockets that send a key, none of which may be over its limit. */
const SLOW_KEYS = 400;
/** A good caller with a kept connection asks again this long after an answer, one with new connections later. */
const THINK_MS = 1;
const NEW_CONNECTION_MS = 50;
/** Descriptors of each process beside the slow sockets. */
const OTHER_DESCRIPTORS = 200;
/** The snapshot is never read again. */
const FRESH_MS = "1000000000000";

export type SlowOptions = {
  readonly count: number;
  readonly rounds: number;
  /** How long good callers are measured alone, while the slow sockets connect, and while all are held. */
  readonly phaseMs: number;
  /** Timing decides only where nothing else runs. */
  readonly isTimed: boolean;
};

type Round = {
  readonly connecting: number;
  readonly held: number;
  readonly kinds: readonly KindOutcome[];
};

export async function holdSlowSockets(options: SlowOptions, tools: Tools): Promise<Verdict> {
  const { count, rounds, phaseMs, isTimed } = options;
  const { gatehouse, goodTokens, slowTokens } = await startStage(count);
  const callers = new GoodCallers(gatehouse.port, goodTokens);
  callers.start();
  await callers.measureP99(phaseMs);
  const clients: SlowClientsOptions = {
    port: gatehouse.port,
    count,
    readers: Math.ceil(count * READERS_SHARE),
    connectMs: phaseMs,
    tokens: slowTokens,
    largePath: LARGE_PATH,
  };
  const done: Round[] = [];
  while (done.length < rounds && !tools.stopped.aborted) {
    const progress = (share: number, text: string) => {
      tools.progress((done.length + share) / rounds, `round ${done.length + 1} of ${rounds}: ${text}`);
    };
    done.push(await holdOnce(clients, callers, phaseMs, { ...tools, progress }));
  }
  await callers.stop();
  tools.progress(1, "done");
  const figures = {
    ...summarize(done),
    memoryPeakMb: readPeakMb(gatehouse.pid),
    goodRequests: callers.requests,
    goodFailed: callers.failures.length,
  };
  const problems = [
    ...judgeSockets(done, isTimed ? CUT_WITHIN_MS : Number.POSITIVE_INFINITY),
    ...(figures.goodFailed === 0
      ? []
      : [`${figures.goodFailed} good requests failed, the first with: ${callers.failures[0]}`]),
    ...(figures.memoryPeakMb <= MEMORY_MAX_MB
      ? []
      : [`${figures.memoryPeakMb} MB of memory, more than ${MEMORY_MAX_MB}`]),
    ...(!isTimed || figures.p99Held <= SLOWER_MAX
      ? []
      : [`good callers waited ${figures.p99Held} times as long (p99), more than ${SLOWER_MAX}`]),
  ];
  const summary =
    `${figures.sockets} slow sockets in ${rounds} rounds, ${figures.cut} cut, the last after ${(figures.longestKeptMs / 1000).toFixed(1)} s; ` +
    `p99 of good callers ${figures.p99Connecting} times while they connect, ${figures.p99Held} times while they are held; ` +
    `${figures.memoryPeakMb} MB; ${figures.goodRequests} good requests, ${figures.goodFailed} failed`;
  return { summary, figures, problems };
}

function summarize(rounds: readonly Round[]) {
  const kinds = rounds.flatMap((round) => round.kinds);
  const sum = (of: (kind: KindOutcome) => number) => kinds.reduce((total, kind) => total + of(kind), 0);
  const toRatio = (values: readonly number[]) => Number(median(values).toFixed(2));
  return {
    sockets: sum(({ sockets }) => sockets),
    cut: sum(({ cut }) => cut),
    longestKeptMs: Math.round(Math.max(...kinds.map(({ longestKeptMs }) => longestKeptMs))),
    p99Connecting: toRatio(rounds.map(({ connecting }) => connecting)),
    p99Held: toRatio(rounds.map(({ held }) => held)),
  };
}

export function judgeSockets(rounds: readonly Pick<Round, "kinds">[], cutWithinMs: number): string[] {
  return rounds.flatMap(({ kinds }, at) =>
    kinds.flatMap(({ kind, sockets, cut, failed, longestKeptMs }) => {
      const where = `round ${at + 1}, "${kind}"`;
      const problems: string[] = [];
      if (failed > 0) problems.push(`${where}: ${failed} of ${sockets} could not connect or got a wrong answer`);
      if (cut < sockets) problems.push(`${where}: ${sockets - cut} of ${sockets} were not cut`);
      if (longestKeptMs > cutWithinMs) problems.push(`${where}: one was kept for ${Math.round(longestKeptMs)} ms`);
      return problems;
    }),
  );
}

/** The p99 of good callers beside the slow sockets, as a multiple of theirs alone, and what became of the sockets. */
async function holdOnce(
  clients: SlowClientsOptions,
  callers: GoodCallers,
  phaseMs: number,
  { stopped, progress }: Pick<Tools, "stopped" | "progress">,
): Promise<Round> {
  progress(0, "good callers alone");
  const alone = await callers.measureP99(phaseMs);
  progress(0.2, `${clients.count} slow sockets connect`);
  const slow = startSlowClients(clients, stopped);
  const connecting = await callers.measureP99(slow.opened);
  progress(0.4, "all are held");
  const held = await callers.measureP99(phaseMs);
  progress(0.6, "until all are cut");
  const kinds = await slow.kinds;
  return { connecting: connecting / alone, held: held / alone, kinds };
}

async function startStage(count: number) {
  const limit = Number(Bun.spawnSync(["sh", "-c", "ulimit -Hn"]).stdout.toString());
  if (limit < count + OTHER_DESCRIPTORS)
    throw new Error(`${count} sockets need ${count + OTHER_DESCRIPTORS} descriptors, and this machine allows ${limit}`);
  const Vehicles = Array.from({ length: VEHICLES }, () => ({
    ...ALL_SECTIONS_INFO.Vehicles[0],
    Name: LONG_NAME,
  }));
  const api = startFakeGameApi(() => Response.json({ ...BASE_INFO, Vehicles }));
  undoLater(() => api.stop());
  const folder = makeFolder();
  const env = { GATEHOUSE_UPSTREAM_URL: api.url, GATEHOUSE_FRESH_MS: FRESH_MS };
  const before = await startGatehouse({ folder, env });
  const server = await before.addServer();
  const tokens: string[] = [];
  while (tokens.length < GOOD_KEYS + SLOW_KEYS) tokens.push((await before.addKey(server, { commands: ["*"] })).token);
  await before.stop();
  const gatehouse: Listening = await serve({
    cwd: folder,
    env: { ...env, GATEHOUSE_DATA_DIR: folder },
    before: `ulimit -n ${limit}`,
  });
  return { gatehouse, slowTokens: tokens.slice(0, SLOW_KEYS), goodTokens: tokens.slice(SLOW_KEYS) };
}

function startSlowClients(options: SlowClientsOptions, signal: AbortSignal) {
  const script = resolve(import.meta.dir, "slow-clients.ts");
  const program = [process.execPath, "--no-env-file", script, JSON.stringify(options)];
  const command = [
    "sh",
    "-c",
    `ulimit -n ${options.count + OTHER_DESCRIPTORS}; exec nice -n 19 "$@"`,
    "sh",
    ...program,
  ];
  const child = Bun.spawn(command, { stdin: "ignore", stdout: "pipe", stderr: "inherit", signal });
  undoLater(() => child.kill("SIGKILL"));
  const lines = readLines(child.stdout);
  const opened = lines.next();
  const kinds = opened.then(async () => {
    const line = (await lines.next()).value;
    if (line === undefined) throw new Error("the slow clients ended without a result");
    return JSON.parse(line) as KindOutcome[];
  });
  // Awaited later than it may fail.
  kinds.catch(() => {});
  return { opened, kinds };
}

async function* readLines(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, undefined> {
  let rest = "";
  const decoder = new TextDecoder();
  for await (const chunk of stream) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
  return undefined;
}

/** Two callers that ask all the time: one on a kept connection, which is measured, and one on new connections. */
class GoodCallers {
  readonly #port: number;
  readonly #tokens: readonly string[];
  #times: number[] = [];
  #isStopped = false;
  #ended: Promise<unknown> = Promise.resolve();
  requests = 0;
  readonly failures: string[] = [];

  constructor(port: number, tokens: readonly string[]) {
    this.#port = port;
    this.#tokens = tokens;
  }

  start(): void {
    this.#ended = Promise.all([this.#askOnKept(), this.#askOnNew()]);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#ended;
  }

  /** In milliseconds, of the requests that are answered during this time. */
  async measureP99(during: number | Promise<unknown>): Promise<number> {
    this.#times = [];
    await (typeof during === "number" ? Bun.sleep(during) : during);
    const times = this.#times.toSorted((a, b) => a - b);
    return times[Math.floor(times.length * 0.99)] ?? Number.NaN;
  }

  async #askOnKept(): Promise<void> {
    let socket: RawSocket | undefined;
    while (!this.#isStopped) {
      const startedAt = performance.now();
      await this.#count(async () => {
        const kept = socket ?? (await openSocket({ port: this.#port }));
        // A connection whose answer is late is not used again.
        socket = undefined;
        kept.write(this.#nextRequest());
        const answer = await kept.readAnswer();
        if (answer) socket = kept;
        return answer;
      });
      this.#times.push(performance.now() - startedAt);
      await Bun.sleep(THINK_MS);
    }
    socket?.destroy();
  }

  async #askOnNew(): Promise<void> {
    while (!this.#isStopped) {
      await this.#count(() => sendRaw({ port: this.#port }, this.#nextRequest()));
      await Bun.sleep(NEW_CONNECTION_MS);
    }
  }

  async #count(ask: () => ReturnType<RawSocket["readAnswer"]>): Promise<void> {
    this.requests++;
    try {
      const answer = await ask();
      if (answer?.status !== 200) this.failures.push(answer ? `status ${answer.status}` : "no answer");
    } catch (error) {
      this.failures.push(String(error));
    }
  }

  #nextRequest(): string {
    const token = this.#tokens[this.requests % this.#tokens.length];
    return writeRequest("/v2/game/server", [`Authorization: Bearer ${token}`]);
  }
}

/** The most memory that the process ever had. */
function readPeakMb(pid: number): number {
  const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Math.round((Number(kilobytes) * 1024) / 1e6);
}
