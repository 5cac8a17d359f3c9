// The simulator of the game API: opens the port and connects it with the simulated towns, the game API's protocol and the faults.
// The port can pause, so that connections are really refused, and then listens again as before.
import { createServer, type RequestListener, type Server } from "node:http";
import { type CallList, CallLog } from "./call-log.ts";
import { ControlApi } from "./control-api.ts";
import { FaultList } from "./fault-kinds.ts";
import { HookKeys, type HookPost, HookSender, postTo } from "./hook-sender.ts";
import { LIMIT_MAX, LOG_WINDOW_MAX, PLAYERS_MAX, SPEED_MAX, SPEED_MIN } from "./log-lists.ts";
import { type EntryList, Protocol, type ProtocolRules } from "./protocol.ts";
import { chooseQuirks, type QuirkChoice } from "./quirks.ts";
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

/** Throws a RangeError that names the option that is out of range. */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const { host = "127.0.0.1", port = 0, seed = 1, players = 24, speed = 1, clock = Date.now } = options;
  const { readLimit = 35, commandIntervalMs = 5000, maxPlayers = Math.max(1, players), logWindow = 50 } = options;
  checkWhole("players", players, 0, PLAYERS_MAX);
  checkWhole("maxPlayers", maxPlayers, 1, PLAYERS_MAX);
  checkRange("speed", speed, SPEED_MIN, SPEED_MAX);
  checkWhole("readLimit", readLimit, 0, LIMIT_MAX);
  checkWhole("logWindow", logWindow, 1, LOG_WINDOW_MAX);
  checkRange("commandIntervalMs", commandIntervalMs, 0, LIMIT_MAX);

  const towns = new TownRegistry({ seed, playersWanted: players, maxPlayers, speed, logWindow });
  const quirks = chooseQuirks(options.quirks);
  const simulator = new Simulator({ seed, towns, quirks, readLimit, commandIntervalMs, clock });
  await simulator.listen(host, port);
  if (options.webhook !== undefined) simulator.sendHooks(postTo(options.webhook));
  return simulator;
}

export class Simulator {
  readonly #rules: ProtocolRules;
  readonly #protocol: Protocol;
  readonly #calls = new CallLog();
  readonly #timers = new ResponseTimers();
  readonly #keys = new HookKeys();
  readonly #control: ControlApi;
  readonly #handler: RequestHandler;
  #listener: Listener | undefined;
  #host = "";
  #pauseTimer: ReturnType<typeof setTimeout> | undefined;
  #hookTimer: ReturnType<typeof setInterval> | undefined;
  #sender: HookSender | undefined;

  constructor(rules: ProtocolRules) {
    this.#rules = rules;
    this.#protocol = new Protocol(rules);
    const state = { faults: new FaultList(), calls: this.#calls, clock: rules.clock };
    this.#control = new ControlApi({
      ...state,
      findEntries: (server, since) => this.findEntries(server, since),
      pausePort: (seconds) => this.#schedulePause(seconds),
      cancelPause: () => clearTimeout(this.#pauseTimer),
    });
    this.#handler = new RequestHandler({
      ...state,
      control: this.#control,
      protocol: this.#protocol,
      timers: this.#timers,
    });
  }

  get url(): string {
    return `http://${this.#host.includes(":") ? `[${this.#host}]` : this.#host}:${this.port}`;
  }

  get port(): number {
    return this.#listener?.port ?? 0;
  }

  /** Of the key that webhooks are signed with, new at every start: base64 of its SPKI form. */
  get publicKey(): string {
    return this.#keys.publicKey;
  }

  /** Sends a probe, and then what happens in every town. A town is advanced every second from now on. */
  sendHooks(post: HookPost): void {
    this.#stopHooks();
    const { towns, quirks, seed, clock } = this.#rules;
    const sender = new HookSender({ post, keys: this.#keys, quirks, seed, clock });
    this.#sender = sender;
    towns.collectHooks(quirks);
    this.#hookTimer = setInterval(() => {
      for (const { serverId, events } of towns.takeHooks(clock())) sender.send(serverId, events);
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

  /** Arms a fault as `POST /_faults` does. Throws a RangeError that names the invalid field. */
  arm(fault: Record<string, unknown>): void {
    const result = this.#control.arm(fault);
    if (!("fault" in result)) throw new RangeError(result.message);
  }

  /** Clears every fault and ends a running `refused`. */
  async clearFaults(): Promise<void> {
    this.#control.clearFaults();
    await this.#listener?.resume();
  }

  /** The calls so far, oldest first, as in `GET /_calls`. */
  calls(since?: number): CallList {
    return this.#calls.list(since);
  }

  clearCalls(): void {
    this.#calls.clear();
  }

  /** Every log entry of a server's town, oldest first, as in `GET /_entries`; undefined when it was never called. */
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

const RETRY_MS = 100;
// Longer than clients keep idle connections, so that the simulator never closes a connection that a client reuses.
const KEEP_ALIVE_MS = 75_000;

class Listener {
  readonly port: number;
  readonly #server: Server;
  readonly #host: string;
  /** Set during a pause. */
  #resumeTimer: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  private constructor(server: Server, host: string, port: number) {
    this.#server = server;
    this.#host = host;
    this.port = port;
  }

  /** Port 0 picks a free one. */
  static async open(handle: RequestListener, host: string, port: number): Promise<Listener> {
    // node:http rather than Bun.serve: only it can reset a connection or announce more bytes than it sends.
    const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, handle);
    return new Listener(server, host, await listen(server, host, port));
  }

  /** Closes all connections and refuses new ones for this long. */
  pause(ms: number): void {
    if (this.#resumeTimer === undefined) this.#stopListening();
    else clearTimeout(this.#resumeTimer);
    this.#scheduleResume(ms);
  }

  /** Ends a pause early. */
  async resume(): Promise<void> {
    if (this.#resumeTimer === undefined) return;
    clearTimeout(this.#resumeTimer);
    this.#resumeTimer = undefined;
    try {
      if (!this.#isClosed) await listen(this.#server, this.#host, this.port);
    } catch {
      // Another process has taken the port meanwhile. Retry, because clients know no other port.
      this.#scheduleResume(RETRY_MS);
    }
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#resumeTimer);
    if (this.#resumeTimer === undefined) this.#stopListening();
  }

  #scheduleResume(ms: number): void {
    this.#resumeTimer = setTimeout(() => void this.resume(), ms);
  }

  #stopListening(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

function listen(server: Server, host: string, port: number): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const fail = (error: Error) => reject(error);
  server.once("error", fail);
  server.listen(port, host, () => {
    server.off("error", fail);
    const address = server.address();
    if (typeof address === "object" && address !== null) resolve(address.port);
    else reject(new Error("the listener has no port"));
  });
  return promise;
}
