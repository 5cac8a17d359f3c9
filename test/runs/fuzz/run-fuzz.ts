// The fuzz run: a real process with the simulator as its game API, workers that send requests and judge the answers, and what
// must hold at the end: the same process, alive, its memory flat, its log without faults and secrets.
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { ERRORS } from "../../../src/core/errors.ts";
import { Random } from "../../../src/simulator/random.ts";
import { openSocket, type RawAnswer, type RawSocket } from "../../faults/raw-socket.ts";
import { createWitness } from "../../journeys/openapi-witness.ts";
import { type Listening, makeFolder, serve, undoLater } from "../../process/run-gatehouse.ts";
import { HookSigner } from "../../signed-hooks.ts";
import { WebhookReceiver } from "../../webhook-receiver.ts";
import type { Tools, Verdict } from "../long-run.ts";
import { findLogFaults, Judge, readCode } from "./judge.ts";
import { type FuzzedOperation, listOperations } from "./operations.ts";
import { makeRawRequest } from "./raw-requests.ts";
import { type FuzzedRequest, isSocket, type Mode, RequestMaker } from "./requests.ts";
import { MASTER_KEY, World } from "./world.ts";

const WORKERS = 24;
/** No answer may take longer; those that may wait by design do so for less. */
const DEADLINE_MS = 10_000;
/** The memory is compared with that after this share of the requests; in short runs after half of them, but not later. */
const WARM_SHARE = 0.2;
const WARM_REQUESTS = 50_000;
const GROWTH_MAX = 1.25;
/** A process grows at first, whatever it does. Below this it need not be flat, so that short runs say little. */
const UNSETTLED_MB = 320;
const RAW_SHARE = 0.02;
/** How many picks of an operation are kept that is chosen less often than the others. */
const RARE_SHARE = 0.1;
const WAITING_OPERATIONS: ReadonlySet<string> = new Set(["testWebhook", "forgetPlayer"]);
const STREAM_MS = 500;
const RAW_MS = 300;
const PROBLEMS_MAX = 200;
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
  readonly #warmAfter: number;
  readonly #tools: Tools;
  readonly #random: Random;
  readonly #gatehouse: Listening;
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
  #sent = 0;
  #rawSent = 0;
  #obsolete = 0;
  #slowestMs = 0;
  #slowest = "";
  #warmMb = 0;

  private constructor(count: number, tools: Tools, stage: Stage) {
    const { gatehouse, signer, document, receiverUrl } = stage;
    this.#count = count;
    this.#warmAfter = Math.max(count * WARM_SHARE, Math.min(count / 2, WARM_REQUESTS));
    this.#tools = tools;
    this.#gatehouse = gatehouse;
    this.#random = new Random(tools.seed);
    this.#operations = listOperations(document);
    this.#usual = this.#operations.filter((operation) => !isRare(operation));
    this.#byId = new Map(this.#operations.map((operation) => [operation.id, operation]));
    this.#world = new World(this.#random, signer, (...asked) => ask(gatehouse.url, ...asked));
    this.#maker = new RequestMaker(this.#random, this.#world, gatehouse.url, receiverUrl);
    this.#judge = new Judge(createWitness(document), this.#operations);
  }

  static async start(count: number, tools: Tools): Promise<FuzzRun> {
    const run = new FuzzRun(count, tools, await openStage(tools.seed));
    await run.#world.build();
    return run;
  }

  async finish(): Promise<Verdict> {
    await Promise.all(Array.from({ length: WORKERS }, () => this.#work()));
    const { pid, url } = this.#gatehouse;
    const health = await fetch(`${url}/healthz`).catch(() => undefined);
    if (health?.status !== 200) this.#report("the process does not answer /healthz at the end");
    const endMb = readResidentMb(pid);
    const limitMb = Math.max(this.#warmMb * GROWTH_MAX, UNSETTLED_MB);
    if (!(endMb <= limitMb))
      this.#report(`memory grew from ${this.#warmMb.toFixed(0)} to ${endMb.toFixed(0)} MB`);
    for (const fault of findLogFaults(this.#gatehouse.stderr + this.#gatehouse.stdout)) this.#report(fault);
    const expected = this.#operations.filter(({ canSucceed }) => canSucceed);
    for (const { id } of expected) if (!this.#succeeded.has(id)) this.#report(`${id} never succeeded`);
    return this.#conclude(endMb);
  }

  #conclude(endMb: number): Verdict {
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
      answers5xx: ofClass(5) - this.#obsolete,
      answers503: this.#statuses.get(503) ?? 0,
      answersObsolete: this.#obsolete,
      rawRequests: this.#rawSent,
      memoryStartMb: Math.round(this.#warmMb),
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
      if (this.#warmMb === 0 && this.#sent >= this.#warmAfter)
        this.#warmMb = readResidentMb(this.#gatehouse.pid);
      if (this.#sent % 100 === 0 && this.#sent < this.#count)
        this.#tools.progress(
          this.#sent / this.#count,
          `${this.#sent} requests, ${this.#problems.size} problems`,
        );
    }
    line.close();
  }

  async #sendNext(line: Line): Promise<void> {
    const excess = this.#world.takeExcessServer();
    if (excess !== undefined) {
      await this.#exchange(line, this.#maker.makeDeletion(this.#get("deleteServer"), excess));
      return;
    }
    const random = this.#random;
    const waiting = this.#operations.filter(({ id, canSucceed }) => canSucceed && !this.#succeeded.has(id));
    const isWaiting = waiting.length > 0 && random.chance(0.5);
    const operation = random.pick(
      isWaiting ? waiting : random.chance(RARE_SHARE) ? this.#operations : this.#usual,
    );
    const provider = this.#maker.findProvider(operation);
    const mode = isWaiting || provider !== undefined ? "valid" : random.pick(MODES);
    const next = provider === undefined ? operation : this.#get(provider);
    await this.#exchange(line, await this.#maker.make(next, mode));
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
      this.#report(`${describe(request)}: ${error instanceof Error ? error.message : error}`);
      return;
    }
    if (!answer) {
      this.#report(`${describe(request)}: the connection was closed without an answer`);
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
    if (status === ERRORS.obsolete.status && readCode(read.body) === ERRORS.obsolete.code) this.#obsolete++;
    for (const fault of this.#judge.findFaults(request, read)) this.#report(fault, describe(request));
    if (status < 300 && request.operation && !request.isAstray) {
      this.#succeeded.add(request.operation.id);
      this.#world.learn(request.operation.id, request.key, read);
    }
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
      for (const fault of this.#judge.findRawFaults(answer))
        this.#report(fault, JSON.stringify(bytes.slice(0, 200)));
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

type Stage = {
  readonly gatehouse: Listening;
  readonly signer: HookSigner;
  readonly document: Record<string, unknown>;
  readonly receiverUrl: string;
};

async function openStage(seed: number): Promise<Stage> {
  const folder = makeFolder();
  const simulator = await serve({ cwd: folder }, [
    ...["simulate", "--port", "0", "--seed", String(seed)],
    ...["--read-limit", "0", "--command-interval", "0"],
  ]);
  const receiver = await WebhookReceiver.start();
  undoLater(() => receiver.stop());
  const signer = new HookSigner();
  const gatehouse = await serve({
    cwd: folder,
    env: {
      GATEHOUSE_UPSTREAM_URL: simulator.url,
      GATEHOUSE_MASTER_KEY: MASTER_KEY,
      // So that every request can come from another address, and no address uses its limits up.
      GATEHOUSE_TRUST_PROXY: "127.0.0.1",
      GATEHOUSE_WATCH: "on",
      GATEHOUSE_COMMAND_INTERVAL_MS: "100",
      GATEHOUSE_WEBHOOKS_PRIVATE: "allow",
      GATEHOUSE_GAME_PUBLIC_KEY: signer.publicKey,
    },
  });
  const answer = await fetch(`${gatehouse.url}/openapi.json`);
  const document = (await answer.json()) as Record<string, unknown>;
  return { gatehouse, signer, document, receiverUrl: receiver.url };
}

/** A connection that is used again and again, and opened again when it was closed. */
class Line {
  readonly #port: number;
  #socket: RawSocket | undefined;

  constructor(port: number) {
    this.#port = port;
  }

  /** Undefined when the connection was closed without an answer. `frame` is sent after an upgrade. */
  async send(request: FuzzedRequest, frame: string | undefined): Promise<RawAnswer | undefined> {
    const isFresh = this.#socket === undefined || this.#socket.isClosed;
    const answer = await this.#sendOnce(request, frame);
    // An idle connection may be closed at any time.
    return answer || isFresh ? answer : this.#sendOnce(request, frame);
  }

  close(): void {
    this.#socket?.destroy();
    this.#socket = undefined;
  }

  async #sendOnce(request: FuzzedRequest, frame: string | undefined): Promise<RawAnswer | undefined> {
    if (this.#socket?.isClosed) this.close();
    const socket = this.#socket ?? (await openSocket({ port: this.#port }));
    this.#socket = socket;
    socket.write(toBytes(request));
    const isHead = request.method === "HEAD";
    const answer = await socket.readAnswer({ isHead, deadlineMs: DEADLINE_MS }).catch((error) => {
      this.close();
      throw error;
    });
    if (!answer) {
      this.close();
      return undefined;
    }
    const { headers, status } = answer;
    if (status === 101) {
      if (frame !== undefined) socket.write(maskFrame(frame));
      const body = await readSome(socket);
      this.close();
      return { ...answer, body: /"op":"(?:hello|event|bye)"/.test(body) || frame !== undefined ? "" : body };
    }
    if (headers.get("content-type") === "text/event-stream" && !isHead) {
      const body = await readSome(socket);
      this.close();
      return { ...answer, body };
    }
    if (headers.get("connection") === "close" || request.method === "CONNECT") this.close();
    return answer;
  }
}

/** What comes next on a stream. */
async function readSome(socket: RawSocket): Promise<string> {
  const until = performance.now() + STREAM_MS;
  while (socket.received === "" && !socket.isClosed && performance.now() < until) await Bun.sleep(2);
  return socket.received;
}

function toBytes({ method, target, headers, body }: FuzzedRequest): Uint8Array {
  const head = Buffer.from(`${method} ${target} HTTP/1.1\r\n${headers.join("\r\n")}\r\n\r\n`, "latin1");
  return body ? Buffer.concat([head, body]) : head;
}

/** A text frame of a client, with a mask of zeros. */
function maskFrame(text: string): Uint8Array {
  const payload = Buffer.from(text);
  const { length } = payload;
  const head =
    length < 126 ? [0x81, 0x80 | length, 0, 0, 0, 0] : [0x81, 0xfe, length >> 8, length & 0xff, 0, 0, 0, 0];
  return Buffer.concat([Buffer.from(head), payload]);
}

function unpack(answer: RawAnswer): RawAnswer {
  if (answer.headers.get("content-encoding") !== "gzip" || answer.bytes.length === 0) return answer;
  return { ...answer, body: gunzipSync(answer.bytes).toString("utf8") };
}

function describe({ method, target, body }: FuzzedRequest): string {
  const content = body ? ` ${Buffer.from(body).toString("utf8").slice(0, 200)}` : "";
  return `${method} ${target.slice(0, 200)}${content}`;
}

async function ask(
  url: string,
  method: string,
  path: string,
  body?: unknown,
): Promise<Record<string, unknown>> {
  const answer = await fetch(url + path, {
    method,
    headers: { Authorization: `Bearer ${MASTER_KEY}`, "Content-Type": "application/json" },
    ...(body !== undefined && { body: body instanceof Uint8Array ? new Blob([body]) : JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path} answers ${answer.status}: ${text}`);
  return text === "" ? {} : (JSON.parse(text) as Record<string, unknown>);
}

function readResidentMb(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return (Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) * 1024) / 1e6;
}
