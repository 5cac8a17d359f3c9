// The pretend game server: puts the towns, the protocol, the fault menu and the port together.
import type { ServerResponse } from "node:http";
import { ArmedFaults } from "./armed-faults.ts";
import { CallLog, type CallRecord, type CallTotals } from "./call-log.ts";
import { armFault, type ControlDesk } from "./control-desk.ts";
import { DeliveryTimers } from "./delivery.ts";
import { openListener } from "./listener.ts";
import { Protocol } from "./protocol.ts";
import { chooseQuirks, type QuirkChoice } from "./quirks.ts";
import { type Reception, receive } from "./reception.ts";
import { TownRegistry } from "./town-registry.ts";

export type { QuirkName } from "./quirks.ts";

const PLAYERS_MAX = 500;
const NO_TIGHTER_LIMIT = 1_000_000_000;
/** Leaves the answer to the call that armed `refused` time to get out. */
const PAUSE_DELAY_MS = 30;

export type SimulatorOptions = {
  host?: string;
  /** 0 picks a free one. */
  port?: number;
  seed?: number;
  /** The number of players around which each town hovers; 0 makes every server offline. */
  players?: number;
  /** The room in each town; as many as `players` if left out, so that there is a queue at rush hours. */
  maxPlayers?: number;
  /** Events happen so many times as often; timestamps stay those of the clock. */
  speed?: number;
  /** Reads a minute for each source address, 0 for no limit. */
  readLimit?: number;
  /** One command for each server in so many milliseconds, 0 for no limit. */
  commandIntervalMs?: number;
  quirks?: QuirkChoice;
  clock?: () => number;
};

export type Simulator = {
  readonly url: string;
  readonly port: number;
  /** Arms a fault as `POST /_faults` does; throws a RangeError that names the wrong field. */
  arm(fault: Record<string, unknown>): void;
  /** Clears every fault and ends a running `refused`. */
  clearFaults(): Promise<void>;
  /** What was asked, oldest first, as `GET /_calls` tells it. */
  calls(since?: number): { calls: CallRecord[]; next: number; totals: CallTotals };
  clearCalls(): void;
  stop(): Promise<void>;
};

export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const { host = "127.0.0.1", port = 0, seed = 1, players = 24, speed = 1, clock = Date.now } = options;
  const { readLimit = 35, commandIntervalMs = 5000, maxPlayers = Math.max(1, players) } = options;
  checkWhole("players", players, 0, PLAYERS_MAX);
  checkWhole("maxPlayers", maxPlayers, 1, PLAYERS_MAX);
  checkRange("speed", speed, 0.001, 1_000_000);
  checkWhole("readLimit", readLimit, 0, NO_TIGHTER_LIMIT);
  checkRange("commandIntervalMs", commandIntervalMs, 0, NO_TIGHTER_LIMIT);

  const towns = new TownRegistry({ seed, playersWanted: players, maxPlayers, speed });
  const quirks = chooseQuirks(options.quirks);
  const protocol = new Protocol({ seed, towns, quirks, readLimit, commandIntervalMs, clock });
  const timers = new DeliveryTimers();
  const desk: ControlDesk = {
    faults: new ArmedFaults(),
    calls: new CallLog(),
    clock,
    pause: () => {},
    stayOpen: () => {},
  };
  const reception: Reception = { desk, protocol, timers };
  const listener = await openListener(
    (request, response) => void receive(reception, request, response).catch(() => abandon(response)),
    host,
    port,
  );
  let pauseTimer: ReturnType<typeof setTimeout> | undefined;
  desk.pause = (seconds) => {
    clearTimeout(pauseTimer);
    pauseTimer = setTimeout(() => listener.pause(seconds * 1000), PAUSE_DELAY_MS);
  };
  desk.stayOpen = () => clearTimeout(pauseTimer);

  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${listener.port}`,
    port: listener.port,
    arm(fault) {
      const arming = armFault(desk, fault);
      if (!("fault" in arming)) throw new RangeError(arming.message);
    },
    async clearFaults() {
      clearTimeout(pauseTimer);
      desk.faults.clear();
      await listener.resume();
    },
    calls: (since) => desk.calls.list(since),
    clearCalls: () => desk.calls.clear(),
    async stop() {
      clearTimeout(pauseTimer);
      timers.clear();
      await listener.close();
    },
  };
}

/** A caller that went away in the middle of a request is nobody's fault; there is nobody left to answer. */
function abandon(response: ServerResponse): void {
  response.destroy();
}

function checkWhole(name: string, value: number, least: number, most: number): void {
  checkRange(name, value, least, most);
  if (!Number.isInteger(value)) throw new RangeError(`${name} must be a whole number`);
}

function checkRange(name: string, value: number, least: number, most: number): void {
  if (!(value >= least && value <= most)) throw new RangeError(`${name} must be from ${least} to ${most}`);
}
