// The simulator of the game API: opens the port and connects it with the simulated towns, the game API's protocol and the faults.
import { type CallList, CallLog } from "./call-log.ts";
import { ControlApi } from "./control-api.ts";
import { FaultList } from "./fault-list.ts";
import { HookKeys, type HookPost, HookSender, postTo } from "./hook-sender.ts";
import { Listener } from "./listener.ts";
import { LOG_WINDOW_MAX } from "./log-lists.ts";
import { LIMIT_MAX, PLAYERS_MAX, SPEED_MAX, SPEED_MIN } from "./option-limits.ts";
import { type EntryList, Protocol } from "./protocol.ts";
import { chooseQuirks, type QuirkChoice, type Quirks } from "./quirks.ts";
import { RequestHandler } from "./request-handler.ts";
import { ResponseTimers } from "./response-writer.ts";
import { TownRegistry } from "./town-registry.ts";

export type { QuirkName } from "./quirks.ts";

/** The response to the request that armed `refused` needs this long to be sent. */
const PAUSE_DELAY_MS = 30;
/** How often the towns are advanced to tell what happened. */
const HOOKS_EVERY_MS = 1_000;

export type SimulatorOptions = {
  host?: string;
  /** 0 picks a free port. */
  port?: number;
  seed?: number;
  /** The average number of players in each town; 0 makes every server offline. */
  players?: number;
  /** How many can play at once, `players` by default: then a queue forms when more want to play. */
  maxPlayers?: number;
  /** How many simulated seconds pass in one second of the clock. Timestamps stay those of the clock. */
  speed?: number;
  /** Reads per minute and source address, 0 for no limit. */
  readLimit?: number;
  /** The least time between two commands of a server, 0 for no limit. */
  commandIntervalMs?: number;
  /** How many entries each of the four log lists shows. */
  logWindow?: number;
  quirks?: QuirkChoice;
  /** Where custom commands and emergency calls are sent, as the game does. */
  webhook?: string;
  clock?: () => number;
};

export type Simulator = {
  readonly url: string;
  readonly port: number;
  /** Of the key that webhooks are signed with, new at every start: base64 of its SPKI form. */
  readonly publicKey: string;
  /** Sends a probe, and then what happens in every town. A town is advanced every second from now on. */
  sendHooks(post: HookPost): void;
  /** Arms a fault as `POST /_faults` does. Throws a RangeError that names the invalid field. */
  arm(fault: Record<string, unknown>): void;
  /** Clears every fault and ends a running `refused`. */
  clearFaults(): Promise<void>;
  /** The calls so far, oldest first, as in `GET /_calls`. */
  calls(since?: number): CallList;
  clearCalls(): void;
  /** Every log entry of a server's town, oldest first, as in `GET /_entries`; undefined when it was never called. */
  findEntries(server: string, since?: number): EntryList | undefined;
  stop(): Promise<void>;
};

/** Throws a RangeError that names the option that is out of range. */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const { host = "127.0.0.1", port = 0, seed = 1, players = 24, speed = 1, clock = Date.now } = options;
  const {
    readLimit = 35,
    commandIntervalMs = 5000,
    maxPlayers = Math.max(1, players),
    logWindow = 50,
  } = options;
  checkWhole("players", players, 0, PLAYERS_MAX);
  checkWhole("maxPlayers", maxPlayers, 1, PLAYERS_MAX);
  checkRange("speed", speed, SPEED_MIN, SPEED_MAX);
  checkWhole("readLimit", readLimit, 0, LIMIT_MAX);
  checkWhole("logWindow", logWindow, 1, LOG_WINDOW_MAX);
  checkRange("commandIntervalMs", commandIntervalMs, 0, LIMIT_MAX);

  const towns = new TownRegistry({ seed, playersWanted: players, maxPlayers, speed, logWindow });
  const quirks = chooseQuirks(options.quirks);
  const protocol = new Protocol({ seed, towns, quirks, readLimit, commandIntervalMs, clock });
  const simulator = new RunningSimulator(protocol, towns, quirks, seed, clock);
  await simulator.listen(host, port);
  if (options.webhook !== undefined) simulator.sendHooks(postTo(options.webhook));
  return simulator;
}

class RunningSimulator implements Simulator {
  readonly #calls = new CallLog();
  readonly #timers = new ResponseTimers();
  readonly #protocol: Protocol;
  readonly #towns: TownRegistry;
  readonly #quirks: Quirks;
  readonly #seed: number;
  readonly #clock: () => number;
  readonly #keys = new HookKeys();
  readonly #control: ControlApi;
  readonly #handler: RequestHandler;
  #listener: Listener | undefined;
  #host = "";
  #pauseTimer: ReturnType<typeof setTimeout> | undefined;
  #hookTimer: ReturnType<typeof setInterval> | undefined;
  #sender: HookSender | undefined;

  constructor(protocol: Protocol, towns: TownRegistry, quirks: Quirks, seed: number, clock: () => number) {
    this.#protocol = protocol;
    this.#towns = towns;
    this.#quirks = quirks;
    this.#seed = seed;
    this.#clock = clock;
    const state = { faults: new FaultList(), calls: this.#calls, clock };
    const control = new ControlApi({
      ...state,
      findEntries: (server, since) => protocol.findEntries(server, since),
      pausePort: (seconds) => this.#schedulePause(seconds),
      cancelPause: () => clearTimeout(this.#pauseTimer),
    });
    this.#control = control;
    this.#handler = new RequestHandler({ ...state, control, protocol, timers: this.#timers });
  }

  get url(): string {
    return `http://${this.#host.includes(":") ? `[${this.#host}]` : this.#host}:${this.port}`;
  }

  get port(): number {
    return this.#listener?.port ?? 0;
  }

  get publicKey(): string {
    return this.#keys.publicKey;
  }

  sendHooks(post: HookPost): void {
    this.#stopHooks();
    const sender = new HookSender({
      post,
      keys: this.#keys,
      quirks: this.#quirks,
      seed: this.#seed,
      clock: this.#clock,
    });
    this.#sender = sender;
    this.#towns.collectHooks(this.#quirks);
    this.#hookTimer = setInterval(() => {
      for (const { serverId, events } of this.#towns.takeHooks(this.#clock())) sender.send(serverId, events);
    }, HOOKS_EVERY_MS);
    this.#hookTimer.unref();
  }

  #stopHooks(): void {
    clearInterval(this.#hookTimer);
    this.#sender?.stop();
  }

  async listen(host: string, port: number): Promise<void> {
    this.#host = host;
    this.#listener = await Listener.open(
      (request, response) =>
        // A request fails only when its client has disconnected, so there is nobody to answer.
        void this.#handler.handle(request, response).catch(() => response.destroy()),
      host,
      port,
    );
  }

  arm(fault: Record<string, unknown>): void {
    const result = this.#control.arm(fault);
    if (!("fault" in result)) throw new RangeError(result.message);
  }

  async clearFaults(): Promise<void> {
    this.#control.clearFaults();
    await this.#listener?.resume();
  }

  calls(since?: number): CallList {
    return this.#calls.list(since);
  }

  clearCalls(): void {
    this.#calls.clear();
  }

  findEntries(server: string, since = 0): EntryList | undefined {
    return this.#protocol.findEntries(server, since);
  }

  async stop(): Promise<void> {
    clearTimeout(this.#pauseTimer);
    this.#stopHooks();
    this.#timers.clear();
    await this.#listener?.close();
  }

  #schedulePause(seconds: number): void {
    clearTimeout(this.#pauseTimer);
    this.#pauseTimer = setTimeout(() => this.#listener?.pause(seconds * 1000), PAUSE_DELAY_MS);
  }
}

function checkWhole(name: string, value: number, least: number, most: number): void {
  checkRange(name, value, least, most);
  if (!Number.isInteger(value)) throw new RangeError(`${name} must be a whole number`);
}

function checkRange(name: string, value: number, least: number, most: number): void {
  if (!(value >= least && value <= most)) throw new RangeError(`${name} must be from ${least} to ${most}`);
}
