// Wires the gateway: reading and watching servers, sending commands, counting the usage of keys, and with an archive also
// events, webhooks, maps and history.
import type { Config } from "../config.ts";
import type { Archive } from "../core/ports/archive.ts";
import { type SleepUntilWoken, TIMER_MAX_MS } from "../core/ports/clock.ts";
import type { Post } from "../core/ports/post.ts";
import { SECTIONS } from "../core/sections.ts";
import { WATCH_REASONS } from "../core/watch-reasons.ts";
import { CommandDispatcher } from "../gateway/commands/command-dispatcher.ts";
import { CommandEnds } from "../gateway/commands/command-ends.ts";
import { CommandMeter } from "../gateway/commands/command-meter.ts";
import { ArchiveMeter } from "../gateway/events/archive-meter.ts";
import { EventBell } from "../gateway/events/event-bell.ts";
import { EventReader } from "../gateway/events/event-reader.ts";
import { EventRecorder } from "../gateway/events/event-recorder.ts";
import { EventStreams } from "../gateway/events/event-streams.ts";
import { createIdentityHash } from "../gateway/events/identity-hash.ts";
import { meterArchive } from "../gateway/events/metered-archive.ts";
import { PlayerForgetting } from "../gateway/events/player-forgetting.ts";
import { recordReadings } from "../gateway/events/record-readings.ts";
import type { Recorder } from "../gateway/events/recorder.ts";
import { StreamSlots } from "../gateway/events/stream-slots.ts";
import { HistoryReader } from "../gateway/history/history-reader.ts";
import { UsageMeter, type WritePace } from "../gateway/keys/usage-meter.ts";
import { ServerMaps } from "../gateway/maps/server-maps.ts";
import { Relay } from "../gateway/readings/relay.ts";
import { RelayMeter } from "../gateway/readings/relay-meter.ts";
import { Watcher } from "../gateway/readings/watcher.ts";
import type { Basics, Resources } from "./open-resources.ts";
import { type Webhooks, wireWebhooks } from "./wire-webhooks.ts";

const BURST_QUIET_MS = 100;
/** SQLite writes on our event loop: small batches and long sleeps leave room for requests. */
const USAGE_PACE_EMBEDDED: WritePace = { batchMax: 100, sleepFactor: 100 };
/** Redis does not block our event loop, and the other instances wait for what we write: no sleeps. */
const USAGE_PACE_SHARED: WritePace = { batchMax: 500, sleepFactor: 0 };
const COMMAND_LOGS = SECTIONS.indexOf("CommandLogs");

export type GatewayOptions = {
  readonly sleep?: (ms: number) => Promise<void>;
  /** How the workers that send commands wait. */
  readonly pause?: SleepUntilWoken;
  readonly burstQuietMs?: number;
  /** How callers wait for the ends of their commands. */
  readonly waitForCommands?: SleepUntilWoken;
  /** How readers of events wait. */
  readonly waitForEvents?: SleepUntilWoken;
  readonly archive?: Archive;
  /** Sends to the receivers of webhooks. */
  readonly post?: Post;
};

/** Absent when nothing is to be remembered. */
type WiredArchive = {
  readonly archive: Archive;
  readonly recorder: Recorder;
  readonly events: EventReader;
  readonly streams: EventStreams;
  readonly webhooks: Webhooks;
  readonly maps: ServerMaps;
  readonly history: HistoryReader;
};

export type Gateway = {
  readonly relay: Relay;
  readonly watcher: Watcher;
  readonly relayMeter: RelayMeter;
  readonly dispatcher: CommandDispatcher;
  readonly commandMeter: CommandMeter;
  readonly commandEnds: CommandEnds;
  readonly usage: UsageMeter;
  readonly archiveMeter: ArchiveMeter;
  readonly forgetting: PlayerForgetting;
} & Partial<WiredArchive>;

export type GatewayWiring = {
  readonly config: Config;
  readonly resources: Resources;
  readonly basics: Pick<Basics, "log" | "secret">;
  readonly options: GatewayOptions;
};

export function wireGateway(wiring: GatewayWiring): Gateway {
  const { resources, options } = wiring;
  const { store, shared, clock, readingThread } = resources;
  const { log } = wiring.basics;
  const archiveMeter = readingThread?.meter ?? new ArchiveMeter();
  const archive = options.archive ? meterArchive(options.archive, archiveMeter) : resources.archive;
  const relayMeter = new RelayMeter();
  const relay = wireRelay(wiring, relayMeter);
  const commands = wireCommands(wiring, relay);
  const watcher = wireWatcher(wiring, relay, archive !== undefined);
  const usage = new UsageMeter({
    store: store.usage,
    log,
    pace: shared ? USAGE_PACE_SHARED : USAGE_PACE_EMBEDDED,
    pause: pauseUntilWoken,
  });
  const wiredArchive: Partial<WiredArchive> = archive ? wireArchive(wiring, archive, relay, watcher) : {};
  const forgetting = new PlayerForgetting({
    archive,
    commands: store.commands,
    recorder: wiredArchive.recorder,
    settings: store.settings,
    clock,
    sleep: Bun.sleep,
    log,
  });
  return { relay, relayMeter, ...commands, watcher, usage, archiveMeter, ...wiredArchive, forgetting };
}

function wireRelay({ config, resources, basics, options }: GatewayWiring, meter: RelayMeter): Relay {
  const { store, shared, clock, upstream, upstreamTimeoutMs, upstreamIdentity, notes } = resources;
  return new Relay({
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
    meter,
    log: basics.log,
    share: shared?.relayShare,
    notes,
  });
}

function wireCommands(
  { config, resources, basics, options }: GatewayWiring,
  relay: Relay,
): Pick<Gateway, "dispatcher" | "commandMeter" | "commandEnds"> {
  const { store, upstream, clock } = resources;
  const commandMeter = new CommandMeter();
  const commandEnds = new CommandEnds(store.commands, options.waitForCommands ?? pauseUntilWoken);
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
    log: basics.log,
    onSettled: (commandId) => commandEnds.wake(commandId),
  });
  relay.observeResume(() => dispatcher.wakeWorkers());
  relay.listeners.add("confirming commands", ({ serverId, parts, fetchedAt }) => {
    return dispatcher.confirm(serverId, parts.sections[COMMAND_LOGS] ?? "[]", fetchedAt);
  });
  return { dispatcher, commandMeter, commandEnds };
}

function wireWatcher(
  { config, resources, basics, options }: GatewayWiring,
  relay: Relay,
  hasArchive: boolean,
): Watcher {
  const { store, shared, clock } = resources;
  const offReason = config.isWatching ? undefined : WATCH_REASONS.watchOff;
  return new Watcher({
    relay,
    servers: store.servers,
    clock,
    pause: options.pause ?? pauseUntilWoken,
    log: basics.log,
    intervalMs: config.watchIntervalMs,
    offReason: hasArchive ? offReason : WATCH_REASONS.noArchive,
    lease: shared?.watchLease,
  });
}

function wireArchive(wiring: GatewayWiring, archive: Archive, relay: Relay, watcher: Watcher): WiredArchive {
  const { config, resources, options } = wiring;
  const { store, clock } = resources;
  const { log } = wiring.basics;
  const pause = options.waitForEvents ?? pauseUntilWoken;
  const recorder = wireRecorder(wiring, archive, relay, watcher);
  const bell = new EventBell({ archive, pause, log });
  recorder.onRecorded = (serverId) => bell.ring(serverId);
  const slots = new StreamSlots();
  return {
    archive,
    recorder,
    events: new EventReader({ archive, bell, slots, pause }),
    streams: new EventStreams({ archive, bell, slots, limits: store.limits, clock, pause, log }),
    webhooks: wireWebhooks({
      config,
      archive,
      bell,
      relay,
      watcher,
      resources,
      log,
      pause: pauseUntilWoken,
      post: options.post,
    }),
    maps: new ServerMaps({ archive, settings: store.settings }),
    history: new HistoryReader(archive),
  };
}

/** Records readings, and the failures that the watcher tells of. The recorder asks the watcher how a server is watched. */
function wireRecorder(
  { resources, basics: { log, secret } }: GatewayWiring,
  archive: Archive,
  relay: Relay,
  watcher: Watcher,
): Recorder {
  const { store, clock, readingThread } = resources;
  const planOf = (serverId: string) => watcher.planOf(serverId);
  if (readingThread) readingThread.planOf = planOf;
  const recorder =
    readingThread ??
    new EventRecorder({
      archive,
      clock,
      sleep: Bun.sleep,
      log,
      hash: createIdentityHash(secret, clock),
      commands: store.commands,
      planOf,
    });
  recordReadings(relay, recorder);
  watcher.onFailure = (serverId, failure, at) => recorder.takeFailure(serverId, failure, at);
  return recorder;
}

export function pauseUntilWoken(ms: number, wake: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, Math.min(ms, TIMER_MAX_MS));
  const wakeUp = () => resolve();
  wake.addEventListener("abort", wakeUp);
  return promise.finally(() => {
    clearTimeout(timer);
    wake.removeEventListener("abort", wakeUp);
  });
}
