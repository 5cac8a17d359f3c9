// Wires the gateway: reading servers, sending commands, counting the usage of keys.
import type { Config } from "../config.ts";
import type { Log } from "../core/ports/log.ts";
import { SECTIONS } from "../core/sections.ts";
import { CommandDispatcher, type Pause } from "../gateway/commands/command-dispatcher.ts";
import { CommandMeter } from "../gateway/commands/command-meter.ts";
import { PlayerForgetting } from "../gateway/events/player-forgetting.ts";
import { UsageMeter, type WritePace } from "../gateway/keys/usage-meter.ts";
import { Relay } from "../gateway/readings/relay.ts";
import { RelayMeter } from "../gateway/readings/relay-meter.ts";
import { type Resources, TIMER_MAX_MS } from "./open-resources.ts";

const BURST_QUIET_MS = 100;
/** SQLite writes on our event loop: small batches and long sleeps leave room for requests. */
const USAGE_PACE_EMBEDDED: WritePace = { batchMax: 100, sleepFactor: 100 };
/** Redis does not block our event loop, and the other instances wait for what we write: no sleeps. */
const USAGE_PACE_SHARED: WritePace = { batchMax: 500, sleepFactor: 0 };
const COMMAND_LOGS = SECTIONS.indexOf("CommandLogs");

export type GatewayOptions = {
  readonly sleep?: (ms: number) => Promise<void>;
  /** How the workers that send commands wait. */
  readonly pause?: Pause;
  readonly burstQuietMs?: number;
};

export type Gateway = {
  readonly relay: Relay;
  readonly relayMeter: RelayMeter;
  readonly dispatcher: CommandDispatcher;
  readonly commandMeter: CommandMeter;
  readonly usage: UsageMeter;
  readonly forgetting: PlayerForgetting;
};

export function wireGateway(
  config: Config,
  { store, shared, clock, upstream, upstreamTimeoutMs, upstreamIdentity, notes }: Resources,
  log: Log,
  options: GatewayOptions,
): Gateway {
  const relayMeter = new RelayMeter();
  const commandMeter = new CommandMeter();
  const relay = new Relay({
    upstream,
    servers: store.servers,
    clock,
    sleep: options.sleep ?? Bun.sleep,
    settings: {
      timeoutMs: upstreamTimeoutMs,
      freshMs: config.freshMs,
      staleMs: config.staleMs,
      hasGlobalKey: config.upstreamGlobalKey !== undefined,
      isSimulator: config.upstreamUrl === undefined,
      identity: upstreamIdentity,
    },
    meter: relayMeter,
    log,
    share: shared?.relayShare,
    notes,
  });
  const dispatcher = new CommandDispatcher({
    store,
    upstream,
    outlook: relay.outlook,
    clock,
    pause: options.pause ?? pauseUntilWoken,
    intervalMs: config.commandIntervalMs,
    ttlMs: config.commandTtlMs,
    burstQuietMs: options.burstQuietMs ?? BURST_QUIET_MS,
    meter: commandMeter,
    log,
  });
  relay.observeResume(() => dispatcher.wakeWorkers());
  relay.listeners.add("confirming commands", ({ serverId, parts, fetchedAt }) => {
    return dispatcher.confirm(serverId, parts.sections[COMMAND_LOGS] ?? "[]", fetchedAt);
  });
  const usage = new UsageMeter({
    store: store.usage,
    log,
    pace: shared ? USAGE_PACE_SHARED : USAGE_PACE_EMBEDDED,
    pause: pauseUntilWoken,
  });
  const forgetting = new PlayerForgetting({
    archive: undefined,
    recorder: undefined,
    settings: store.settings,
    clock,
    sleep: Bun.sleep,
    log,
  });
  return { relay, relayMeter, dispatcher, commandMeter, usage, forgetting };
}

function pauseUntilWoken(ms: number, wake: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, Math.min(ms, TIMER_MAX_MS));
  const wakeUp = () => resolve();
  wake.addEventListener("abort", wakeUp);
  return promise.finally(() => {
    clearTimeout(timer);
    wake.removeEventListener("abort", wakeUp);
  });
}
