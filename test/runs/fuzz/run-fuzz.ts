// The fuzz run: a real process with the simulator as its game API, workers that send requests and judge the answers, and what
// must hold at the end: the same process, alive, its memory flat, its log without faults and secrets.
import { readResidentMb } from "../../../bench/process-usage.ts";
import { median } from "../../../bench/statistics.ts";
import { ERRORS } from "../../../src/core/errors.ts";
import { Random } from "../../../src/simulator/random.ts";
import { createWitness } from "../../journeys/openapi-witness.ts";
import { openSocket, type RawAnswer } from "../../raw-socket.ts";
import type { Listening } from "../../run-gatehouse.ts";
import type { WebhookReceiver } from "../../webhook-receiver.ts";
import type { Tools, Verdict } from "../long-run.ts";
import { describeRequest, type FuzzedRequest, isSocket } from "./fuzzed-request.ts";
import { findLogFaults, isObsoleteTarget, Judge, readCode } from "./judge.ts";
import { Line, unpack } from "./line.ts";
import { type FuzzedOperation, listOperations } from "./operations.ts";
import { makeRawRequest } from "./raw-requests.ts";
import { type Mode, RequestMaker } from "./requests.ts";
import { ask, openStage, type Stage } from "./stage.ts";
import { World } from "./world.ts";

const WORKERS = 24;
/** The memory at the end is compared with that after this share of the requests, or after this many, but half at most. */
const WARM_SHARE = 0.2;
const WARM_REQUESTS = 50_000;
/** The parts that are compared, as a share of all samples of the memory. */
const PART_SHARE = 0.1;
const GROWTH_MAX = 1.15;
/** A process grows at first, whatever it does. Below this it need not be flat, so that short runs say little. */
const UNSETTLED_MB = 250;
const PROGRESS_EVERY = 100;
const RAW_SHARE = 0.02;
/** The share of choices in which rare operations take part. */
const RARE_SHARE = 0.1;
const WAITING_OPERATIONS: ReadonlySet<string> = new Set(["testWebhook", "forgetPlayer"]);
/** How often an operation that never succeeded is tried at the end. */
const MISSING_ROUNDS = 50;
const RAW_MS = 300;
const PROBLEMS_MAX = 200;
/** What clients of the game API are told then. */
const GAME_FAILED = 1002;
const MODES: readonly Mode[] = [
  ...Array<Mode>(11).fill("valid"),
  ...Array<Mode>(5).fill("nearly"),
  ...Array<Mode>(2).fill("hostile"),
  ...Array<Mode>(2).fill("astray"),
];

export async function runFuzz(count: number, tools: Tools): Promise<Verdict> {
  const run = await FuzzRun.start(count, tools);
  return run.finish();
}

class FuzzRun {
  readonly #count: number;
  readonly #tools: Tools;
  readonly #random: Random;
  readonly #gatehouse: Listening;
  readonly #receiver: WebhookReceiver;
  readonly #operations: readonly FuzzedOperation[];
  readonly #usual: readonly FuzzedOperation[];
  readonly #byId: ReadonlyMap<string, FuzzedOperation>;
  readonly #world: World;
  readonly #maker: RequestMaker;
  readonly #judge: Judge;
  readonly #problems = new Map<string, { times: number; readonly example: string }>();
  readonly #succeeded = new Set<string>();
  /** How many answers there were of each status. */
  readonly #statuses = new Map<number, number>();
  /** Resident, in MB; one sample at each progress. */
  readonly #memory: number[] = [];
  #sent = 0;
  #rawSent = 0;
  #obsolete = 0;
  #asGame = 0;
  #slowestMs = 0;
  #slowest = "";

  private constructor(count: number, tools: Tools, stage: Stage) {
    const { gatehouse, document, receiver } = stage;
    this.#count = count;
    this.#tools = tools;
    this.#gatehouse = gatehouse;
    this.#receiver = receiver;
    this.#random = new Random(tools.seed);
    this.#operations = listOperations(document);
    this.#usual = this.#operations.filter((operation) => !isRare(operation));
    this.#byId = new Map(this.#operations.map((operation) => [operation.id, operation]));
    this.#world = new World(this.#random, stage, (...asked) => ask(gatehouse.url, ...asked));
    this.#maker = new RequestMaker(this.#random, this.#world, gatehouse.url, receiver.url);
    this.#judge = new Judge(createWitness(document), this.#operations);
  }

  static async start(count: number, tools: Tools): Promise<FuzzRun> {
    const run = new FuzzRun(count, tools, await openStage(tools.seed));
    await run.#world.build();
    return run;
  }

  async finish(): Promise<Verdict> {
    await Promise.all(Array.from({ length: WORKERS }, () => this.#work()));
    await this.#tryMissing();
    const health = await fetch(`${this.#gatehouse.url}/healthz`).catch(() => undefined);
    if (health?.status !== 200) this.#report("the process does not answer /healthz at the end");
    const { startMb, endMb } = this.#compareMemory();
    if (this.#memory.some(Number.isNaN)) this.#report("the memory of the process could not be read");
    // Written so that a run without samples is a problem too.
    if (!(endMb <= Math.max(startMb * GROWTH_MAX, UNSETTLED_MB)))
      this.#report(`memory grew from ${startMb.toFixed(0)} to ${endMb.toFixed(0)} MB`);
    for (const fault of findLogFaults(this.#gatehouse.stderr + this.#gatehouse.stdout)) this.#report(fault);
    for (const { id } of this.#listMissing()) this.#report(`${id} never succeeded`);
    return this.#conclude(startMb, endMb);
  }

  /** Of version 1, and in the game's own words when its API fails or refuses the key of a server. Any other is a fault. */
  #countFailure(request: FuzzedRequest, code: number | undefined): void {
    const isObsolete = code === ERRORS.obsolete.code || (request.method === "HEAD" && isObsoleteTarget(request.target));
    if (isObsolete) this.#obsolete++;
    else if (request.operation?.kind === "facade" && (code === GAME_FAILED || request.method === "HEAD"))
      this.#asGame++;
    else this.#report("status 500", describeRequest(request));
  }

  #compareMemory(): { startMb: number; endMb: number } {
    const warm = Math.max(WARM_SHARE, Math.min(0.5, WARM_REQUESTS / this.#count));
    const part = (from: number) => {
      const { length } = this.#memory;
      return median(this.#memory.slice(Math.floor(length * from), Math.ceil(length * (from + PART_SHARE))));
    };
    return { startMb: part(warm), endMb: part(1 - PART_SHARE) };
  }

  #conclude(startMb: number, endMb: number): Verdict {
    const ofClass = (digit: number) => {
      const counts = [...this.#statuses].filter(([status]) => Math.floor(status / 100) === digit);
      return counts.reduce((sum, [, times]) => sum + times, 0);
    };
    const figures = {
      requests: this.#sent,
      operations: this.#operations.length,
      answers2xx: ofClass(2) + ofClass(1),
      answers3xx: ofClass(3),
      answers4xx: ofClass(4),
      answers429: this.#statuses.get(429) ?? 0,
      answers5xx: ofClass(5) - this.#obsolete - this.#asGame,
      answers501: this.#statuses.get(501) ?? 0,
      answers503: this.#statuses.get(503) ?? 0,
      answersObsolete: this.#obsolete,
      answersAsTheGame: this.#asGame,
      rawRequests: this.#rawSent,
      memoryStartMb: Math.round(startMb),
      memoryEndMb: Math.round(endMb),
      slowestMs: Math.round(this.#slowestMs),
    };
    const problems = [...this.#problems].map(([text, { times, example }]) => {
      return `${text}${example === "" ? "" : ` [${example}]`}${times > 1 ? ` (${times} times)` : ""}`;
    });
    const { requests, operations, answers2xx, answers4xx, answers5xx, memoryStartMb, memoryEndMb } = figures;
    const summary =
      `${requests} requests over ${operations} operations: ${answers2xx} answered 2xx, ${answers4xx} 4xx, ` +
      `${answers5xx} 5xx; memory ${memoryStartMb} to ${memoryEndMb} MB; slowest ${figures.slowestMs} ms (${this.#slowest})`;
    return { summary, figures, problems };
  }

  async #work(): Promise<void> {
    const line = new Line(this.#gatehouse.port);
    while (this.#sent < this.#count && !this.#tools.stopped.aborted) {
      if (this.#random.chance(RAW_SHARE)) await this.#sendRaw();
      else await this.#sendNext(line);
      if (this.#sent % PROGRESS_EVERY === 0 && this.#sent < this.#count) this.#showProgress();
    }
    line.close();
  }

  #listMissing(): readonly FuzzedOperation[] {
    return this.#operations.filter(({ id, canSucceed }) => canSucceed && !this.#succeeded.has(id));
  }

  /** Alone, so that nobody else ends the session or deletes the server that the request is about. */
  async #tryMissing(): Promise<void> {
    const line = new Line(this.#gatehouse.port);
    for (let round = 0; round < MISSING_ROUNDS && !this.#tools.stopped.aborted; round++) {
      for (const operation of this.#listMissing()) await this.#sendValid(line, operation);
    }
    line.close();
  }

  #showProgress(): void {
    const residentMb = readResidentMb(this.#gatehouse.pid);
    this.#memory.push(residentMb);
    const text = `${this.#sent} requests, ${this.#problems.size} problems, ${Math.round(residentMb)} MB`;
    this.#tools.progress(this.#sent / this.#count, text);
    // Nobody looks at the webhooks that came.
    this.#receiver.accepted.splice(0);
  }

  async #sendNext(line: Line): Promise<void> {
    const excess = this.#world.takeExcessServer();
    if (excess !== undefined) {
      await this.#exchange(line, this.#maker.makeDeletion(this.#get("deleteServer"), excess));
      return;
    }
    const random = this.#random;
    const waiting = this.#listMissing();
    const isWaiting = waiting.length > 0 && random.chance(0.5);
    const operation = random.pick(isWaiting ? waiting : random.chance(RARE_SHARE) ? this.#operations : this.#usual);
    if (isWaiting || this.#maker.findProvider(operation) !== undefined) await this.#sendValid(line, operation);
    else await this.#exchange(line, await this.#maker.make(operation, random.pick(MODES)));
  }

  /** Sends the operation, or first the one that makes what it needs. */
  async #sendValid(line: Line, operation: FuzzedOperation): Promise<void> {
    const provider = this.#maker.findProvider(operation);
    await this.#exchange(
      line,
      await this.#maker.make(provider === undefined ? operation : this.#get(provider), "valid"),
    );
  }

  #get(id: string): FuzzedOperation {
    const operation = this.#byId.get(id);
    if (!operation) throw new Error(`no operation ${id}`);
    return operation;
  }

  async #exchange(line: Line, request: FuzzedRequest): Promise<void> {
    this.#sent++;
    const startedAt = performance.now();
    const isUpgrade = request.operation !== undefined && isSocket(request.operation);
    let answer: RawAnswer | undefined;
    try {
      answer = await line.send(request, isUpgrade ? this.#makeFrame() : undefined);
    } catch (error) {
      this.#report(`${describeRequest(request)}: ${error instanceof Error ? error.message : error}`);
      return;
    }
    if (!answer) {
      this.#report(`${describeRequest(request)}: the connection was closed without an answer`);
      return;
    }
    const ms = performance.now() - startedAt;
    if (ms > this.#slowestMs && !mayWait(request)) {
      this.#slowestMs = ms;
      this.#slowest = request.operation?.id ?? request.target;
    }
    const { status } = answer;
    this.#statuses.set(status, (this.#statuses.get(status) ?? 0) + 1);
    const read = unpack(answer);
    if (status === ERRORS.obsolete.status) this.#countFailure(request, readCode(read.body));
    for (const fault of this.#judge.findFaults(request, read)) this.#report(fault, describeRequest(request));
    const { operation, isAstray } = request;
    if (!operation || status >= 300) return;
    if (!isAstray) this.#succeeded.add(operation.id);
    // What was made must be known, so that it is deleted.
    if (!isAstray || status === 201) this.#world.learn(operation.id, request, read);
  }

  /** Sends bytes that need not be a request, over a connection of their own. */
  async #sendRaw(): Promise<void> {
    this.#sent++;
    this.#rawSent++;
    const key = await this.#world.takeKey();
    const bytes = makeRawRequest(this.#random, key.token);
    const socket = await openSocket({ port: this.#gatehouse.port });
    try {
      socket.write(bytes);
      const answer = await socket.readAnswer({ deadlineMs: RAW_MS }).catch(() => undefined);
      if (!answer) return;
      for (const fault of this.#judge.findRawFaults(answer)) this.#report(fault, JSON.stringify(bytes.slice(0, 200)));
    } finally {
      socket.destroy();
    }
  }

  /** What a client of the event socket sends first. */
  #makeFrame(): string {
    const random = this.#random;
    return random.pick([
      JSON.stringify({ op: "auth", token: random.pick(this.#world.oddKeys).token }),
      JSON.stringify({ op: "auth", token: 5, after: null }),
      "{",
      "x".repeat(5_000),
      "",
    ]);
  }

  /** `example` tells the first request; equal problems are counted. */
  #report(problem: string, example = ""): void {
    const known = this.#problems.get(problem);
    if (known) known.times++;
    else if (this.#problems.size < PROBLEMS_MAX) this.#problems.set(problem, { times: 1, example });
  }
}

/** Version 1 always answers the same; forgetting a player looks through every event there is. */
function isRare({ id, template }: FuzzedOperation): boolean {
  return template.startsWith("/v1/") || id === "forgetPlayer";
}

/** These take their time by design, as do a command through the façade and a waiting read. */
function mayWait({ operation, target }: FuzzedRequest): boolean {
  const isCommand = operation?.kind === "facade" && operation.method === "POST";
  return isCommand || target.includes("wait=") || WAITING_OPERATIONS.has(operation?.id ?? "");
}
