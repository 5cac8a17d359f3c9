// Kills the real service again and again while clients send commands, and compares the accepted commands with those that the
// game has received. Used by `npm run torture` and torture.test.ts; facade-repeats.test.ts uses its parts.
import { type Simulator, startSimulator } from "../../src/simulator/simulator.ts";
import { startGatehouse } from "../start-gatehouse.ts";
import { type GatehouseProcess, makeFolder, run, until } from "./run-gatehouse.ts";

const SERVERS = 3;
const CLIENTS_PER_SERVER = 2;
/** The longest time until a listening process is killed. */
const LIFE_MAX_MS = 350;
/** One in this many processes is killed while it starts. */
const EARLY_KILL_SHARE = 0.15;
const START_MAX_MS = 300;
const COLLECT_EVERY_MS = 100;
const DRAIN_MS = 60_000;
const COMMANDS = "/v2/game/server/command";
const MASTER_KEY = "torture-master-key-0123456789abcdef";

export type TortureOptions = {
  readonly cycles: number;
  readonly seed: number;
  readonly onCycle?: (state: { readonly cycle: number; readonly accepted: number }) => void;
};

export type TortureReport = {
  readonly kills: number;
  readonly accepted: number;
  /** Submissions that were sent again, because the answer was lost or on purpose. */
  readonly repeated: number;
  readonly delivered: number;
  readonly statuses: Readonly<Record<string, number>>;
  /** Broken guarantees, one sentence each; empty when all hold. */
  readonly problems: readonly string[];
};

export type Home = { readonly serverId: string; readonly town: string; readonly token: string };
type Promised = { readonly commandId: string; readonly text: string; readonly client: string };
type CommandBody = { readonly command_id: string; readonly command: string; readonly status: string };

export async function runTorture({ cycles, seed, onCycle }: TortureOptions): Promise<TortureReport> {
  const random = createRandom(seed);
  const simulator = await startSimulator({ readLimit: 0, commandIntervalMs: 0 });
  const record = recordCalls(simulator);
  const folder = makeFolder();
  const homes = await makeHomes(folder, simulator.url);
  const service = new Service(folder, simulator.url);
  const promised = new Map<string, Promised[]>(homes.map(({ serverId }) => [serverId, []]));
  const problems: string[] = [];
  let repeated = 0;
  let isOver = false;

  /** Sends one command after the other. Repeats each with the same idempotency key until it is accepted. */
  async function submitAll(home: Home, client: string): Promise<void> {
    for (let count = 1; !isOver; count++) {
      // Every tenth command is unknown to the game and must end as `failed`.
      const text = `${count % 10 === 0 ? ":nonsense" : ":h"} ${client} ${count}`;
      const key = `${client}-${count}`;
      const commandId = await submitUntilAccepted(home, text, key);
      if (commandId === undefined) return;
      promised.get(home.serverId)?.push({ commandId, text, client });
      if (random() < 0.1) {
        repeated++;
        const again = await submitUntilAccepted(home, text, key);
        if (again !== undefined && again !== commandId) problems.push(`${text} was accepted twice`);
      }
    }
  }

  async function submitUntilAccepted(home: Home, text: string, key: string): Promise<string | undefined> {
    for (let attempt = 0; ; attempt++) {
      const url = await service.address();
      if (url === undefined) return undefined;
      const answer = await submit(url, home.token, text, key).catch(() => undefined);
      if (answer === undefined) repeated++;
      else if (answer.status === 202) return answer.commandId;
      else if (![409, 429, 503].includes(answer.status)) {
        problems.push(`${text} was answered with ${answer.status}`);
        return undefined;
      }
      if (isOver && attempt > 100) return undefined;
      await Bun.sleep(answer === undefined ? 2 : 15);
    }
  }

  try {
    const clients = homes.flatMap((home, index) =>
      Array.from({ length: CLIENTS_PER_SERVER }, (_, client) => submitAll(home, `s${index}c${client}`)),
    );
    for (let cycle = 1; cycle <= cycles; cycle++) {
      await simulator.clearFaults();
      const slowMs = [0, 0, 3, 25][Math.floor(random() * 4)] ?? 0;
      if (slowMs > 0) simulator.arm({ kind: "slow", ms: slowMs, target: "commands" });
      const isEarly = random() < EARLY_KILL_SHARE;
      await service.live(isEarly ? { startMs: random() * START_MAX_MS } : { lifeMs: random() * LIFE_MAX_MS });
      const accepted = [...promised.values()].reduce((sum, { length }) => sum + length, 0);
      onCycle?.({ cycle, accepted });
    }
    await simulator.clearFaults();
    await service.start();
    isOver = true;
    await Promise.all(clients);
    await until("the queues are not drained", () => service.isDrained(), DRAIN_MS);
    const stored = new Map<string, CommandBody[]>();
    for (const { serverId } of homes) stored.set(serverId, await service.list(serverId));
    await service.stop();
    const calls = record.stop();

    const statuses: Record<string, number> = {};
    let delivered = 0;
    for (const { serverId, town } of homes) {
      const commands = stored.get(serverId) ?? [];
      for (const { status } of commands) statuses[status] = (statuses[status] ?? 0) + 1;
      const got = calls.filter(({ server }) => server === town).map(({ command = "" }) => command);
      delivered += got.length;
      problems.push(...compare(commands, promised.get(serverId) ?? [], got, cycles));
    }
    const accepted = [...promised.values()].reduce((sum, { length }) => sum + length, 0);
    return { kills: cycles, accepted, repeated, delivered, statuses, problems };
  } finally {
    isOver = true;
    await service.stop();
    record.stop();
    await simulator.stop();
  }
}

/** Compares, for one server, the accepted commands, their status in the service, and the commands that the game received. */
function compare(
  commands: readonly CommandBody[],
  promised: readonly Promised[],
  got: readonly string[],
  kills: number,
): string[] {
  const problems: string[] = [];
  const byId = new Map(commands.map((command) => [command.command_id, command]));
  const timesGot = new Map<string, number>();
  for (const text of got) timesGot.set(text, (timesGot.get(text) ?? 0) + 1);

  for (const { commandId, text } of promised) {
    const command = byId.get(commandId);
    if (!command) problems.push(`${text} was accepted and is gone`);
    else if (command.command !== text) problems.push(`${text} became ${command.command}`);
  }
  for (const { command, status } of commands) {
    const times = timesGot.get(command) ?? 0;
    if (!["sent", "failed", "unknown"].includes(status)) problems.push(`${command} is still ${status}`);
    if (times > 1) problems.push(`${command} was delivered ${times} times`);
    if (times === 0 && status !== "unknown") problems.push(`${command} is ${status} and never arrived`);
    const isNonsense = command.startsWith(":nonsense");
    if (status !== "unknown" && isNonsense !== (status === "failed"))
      problems.push(`${command} is ${status}`);
  }
  const texts = commands.map(({ command }) => command);
  if (new Set(texts).size !== texts.length) problems.push("one text is there twice");
  const places = new Map(texts.map((text, index) => [text, index]));
  let last = -1;
  for (const text of got) {
    const place = places.get(text);
    if (place === undefined) problems.push(`${text} arrived and was never accepted`);
    else if (place < last) problems.push(`${text} arrived out of order`);
    else last = place;
  }
  // Each client waits for one acceptance before its next command.
  const latest = new Map<string, number>();
  for (const text of texts) {
    const [, client = "", count = "0"] = text.split(" ");
    if (Number(count) <= (latest.get(client) ?? 0)) problems.push(`${text} was accepted out of order`);
    latest.set(client, Number(count));
  }
  const unknown = commands.filter(({ status }) => status === "unknown").length;
  if (unknown > kills) problems.push(`${unknown} are unknown after ${kills} kills`);
  return problems;
}

/** Runs one process after the other on one data folder. */
export class Service {
  readonly #folder: string;
  readonly #env: Record<string, string>;
  #child: GatehouseProcess | undefined;
  #isStopped = false;
  #up = Promise.withResolvers<string | undefined>();

  constructor(folder: string, upstreamUrl: string) {
    this.#folder = folder;
    this.#env = {
      GATEHOUSE_PORT: "0",
      GATEHOUSE_DATA_DIR: folder,
      GATEHOUSE_UPSTREAM_URL: upstreamUrl,
      GATEHOUSE_COMMAND_INTERVAL_MS: "1",
      GATEHOUSE_MASTER_KEY: MASTER_KEY,
      GATEHOUSE_LOG_LEVEL: "error",
      // The record of calls must not overflow with readings, and only commands are looked at.
      GATEHOUSE_WATCH: "off",
      GATEHOUSE_ARCHIVE: "off",
    };
  }

  /** The address, when the process listens; undefined when no process is started any more. */
  address(): Promise<string | undefined> {
    return this.#up.promise;
  }

  async start(): Promise<string> {
    const child = run(["serve"], { cwd: this.#folder, env: this.#env });
    this.#child = child;
    const line = await child.waitForLine("listening on");
    const url = /listening on (\S+)$/.exec(line)?.[1] ?? "";
    this.#up.resolve(url);
    return url;
  }

  /** Starts a process and kills it, this long after it listens or after its start. */
  async live(span: { readonly startMs: number } | { readonly lifeMs: number }): Promise<void> {
    const started = this.start();
    // A process that is killed early never prints its address.
    started.catch(() => {});
    if ("lifeMs" in span) await started;
    await Bun.sleep("lifeMs" in span ? span.lifeMs : span.startMs);
    this.#child?.kill("SIGKILL");
    await this.#child?.exited;
    await started.catch(() => {});
    this.#up = replace(this.#up);
  }

  async list(serverId: string, status = ""): Promise<CommandBody[]> {
    const found: CommandBody[] = [];
    let cursor = "";
    do {
      const path = `/admin/commands?server_id=${serverId}&limit=200${status}${cursor}`;
      const page = await this.#ask<{ items: CommandBody[]; next: string | null }>(path);
      found.push(...page.items);
      cursor = page.next === null ? "" : `&cursor=${page.next}`;
    } while (cursor !== "");
    return found.reverse();
  }

  async isDrained(): Promise<boolean> {
    for (const status of ["queued", "sending"]) {
      const { items } = await this.#ask<{ items: unknown[] }>(`/admin/commands?limit=1&status=${status}`);
      if (items.length > 0) return false;
    }
    return true;
  }

  async stop(): Promise<void> {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#child?.kill("SIGTERM");
    await this.#child?.exited;
    this.#up.resolve(undefined);
    this.#up = replace(this.#up);
    this.#up.resolve(undefined);
  }

  async #ask<T>(path: string): Promise<T> {
    const response = await fetch(`${await this.address()}${path}`, {
      headers: { Authorization: `Bearer ${MASTER_KEY}` },
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  }
}

/** Callers that wait for the old promise then wait for the new one. */
function replace<T>(old: PromiseWithResolvers<T>): PromiseWithResolvers<T> {
  const next = Promise.withResolvers<T>();
  old.resolve(next.promise);
  return next;
}

async function submit(url: string, token: string, command: string, key: string) {
  const response = await fetch(url + COMMANDS, {
    method: "POST",
    headers: {
      Authorization: `Bearer ${token}`,
      "Content-Type": "application/json",
      "Idempotency-Key": key,
    },
    body: JSON.stringify({ command }),
  });
  const body = (await response.json()) as { command_id?: string };
  return { status: response.status, commandId: body.command_id ?? "" };
}

export async function makeHomes(folder: string, upstreamUrl: string): Promise<Home[]> {
  const env = { GATEHOUSE_UPSTREAM_URL: upstreamUrl, GATEHOUSE_MASTER_KEY: MASTER_KEY };
  const gatehouse = await startGatehouse({ folder, env });
  const homes: Home[] = [];
  for (let index = 0; index < SERVERS; index++) {
    const town = `Torture${index}`;
    const server = await gatehouse.addServer({ name: town, serverKey: `key-${town}` });
    const { token } = await gatehouse.addKey(server, { commands: ["*"] });
    homes.push({ serverId: server.serverId, town, token });
  }
  await gatehouse.stop();
  return homes;
}

/** The simulator keeps only its last calls, so they are fetched regularly. */
export function recordCalls(simulator: Simulator) {
  const calls: ReturnType<Simulator["calls"]>["calls"] = [];
  let next = 0;
  const collect = () => {
    const found = simulator.calls(next);
    if (found.calls.length > 0 && found.calls[0]?.index !== next) throw new Error("calls were missed");
    calls.push(...found.calls);
    next = found.next;
  };
  const timer = setInterval(collect, COLLECT_EVERY_MS);
  return {
    stop() {
      clearInterval(timer);
      collect();
      return calls.filter(({ kind }) => kind === "command");
    },
  };
}

/** mulberry32: the same seed gives the same delays. */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
