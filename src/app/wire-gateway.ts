// Wires the gateway: reading servers, sending commands, counting the usage of keys.
import type { Config } from "../config.ts";
import type { Archive } from "../core/ports/archive.ts";
import { type Clock, TIMER_MAX_MS } from "../core/ports/clock.ts";
import type { LimitStore } from "../core/ports/limits.ts";
import type { Log } from "../core/ports/log.ts";
import type { Post } from "../core/ports/post.ts";
import { SECTIONS } from "../core/sections.ts";
import { WATCH_REASONS } from "../core/watch-reasons.ts";
import { CommandDispatcher, type Pause } from "../gateway/commands/command-dispatcher.ts";
import { CommandEnds } from "../gateway/commands/command-ends.ts";
import { CommandMeter } from "../gateway/commands/command-meter.ts";
import { ArchiveMeter } from "../gateway/events/archive-meter.ts";
import { EventBell } from "../gateway/events/event-bell.ts";
import { EventReader } from "../gateway/events/event-reader.ts";
import { EventRecorder } from "../gateway/events/event-recorder.ts";
import { EventStreams } from "../gateway/events/event-streams.ts";
import { createIdentityHash } from "../gateway/events/identity-hash.ts";
import { MeteredArchive } from "../gateway/events/metered-archive.ts";
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
  readonly pause?: Pause;
  readonly burstQuietMs?: number;
  /** How callers wait for the ends of their commands. */
  readonly waitForCommands?: Pause;
  /** How readers of events wait. */
  readonly waitForEvents?: Pause;
  readonly archive?: Archive;
  /** Sends to the receivers of webhooks. */
  readonly post?: Post;
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
  /** Undefined when nothing is to be remembered. */
  readonly archive: Archive | undefined;
  /** Undefined without an archive. */
  readonly recorder: Recorder | undefined;
  /** Undefined without an archive. */
  readonly events: EventReader | undefined;
  /** Undefined without an archive. */
  readonly streams: EventStreams | undefined;
  /** Undefined without an archive. */
  readonly webhooks: Webhooks | undefined;
  readonly forgetting: PlayerForgetting;
  /** Undefined without an archive. */
  readonly maps: ServerMaps | undefined;
  /** Undefined without an archive. */
  readonly history: HistoryReader | undefined;
};

export function wireGateway(
  config: Config,
  resources: Resources,
  { log, secret }: Pick<Basics, "log" | "secret">,
  options: GatewayOptions,
): Gateway {
  const { store, shared, clock, upstream, upstreamTimeoutMs, upstreamIdentity, notes } = resources;
  const { archive: configured, readingThread } = resources;
  const archiveMeter = readingThread?.meter ?? new ArchiveMeter();
  const archive = options.archive ? new MeteredArchive(options.archive, archiveMeter) : configured;
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
    log,
    onSettled: (commandId) => commandEnds.wake(commandId),
  });
  const watcher = new Watcher({
    relay,
    servers: store.servers,
    clock,
    pause: options.pause ?? pauseUntilWoken,
    log,
    intervalMs: config.watchIntervalMs,
    offReason: archive ? (config.isWatching ? undefined : WATCH_REASONS.watchOff) : WATCH_REASONS.noArchive,
    lease: shared?.watchLease,
    tellFailure: (serverId, failure, at) => recorder?.takeFailure(serverId, failure, at),
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
  const planOf = (serverId: string) => watcher.planOf(serverId);
  if (readingThread) readingThread.planOf = planOf;
  const recorder: Recorder | undefined =
    readingThread ??
    (archive &&
      new EventRecorder({
        archive,
        clock,
        sleep: Bun.sleep,
        log,
        hash: createIdentityHash(secret, clock),
        commands: store.commands,
        planOf,
      }));
  if (recorder) recordReadings(relay, recorder);
  const wired = archive && recorder && wireEvents(archive, recorder, store.limits, clock, options, log);
  const forgetting = new PlayerForgetting({
    archive,
    recorder,
    settings: store.settings,
    clock,
    sleep: Bun.sleep,
    log,
  });
  const maps = archive && new ServerMaps({ archive, settings: store.settings });
  const history = archive && new HistoryReader(archive);
  const meters = { relayMeter, commandMeter, archiveMeter };
  const readers = wired?.readers ?? { events: undefined, streams: undefined };
  const webhooks =
    archive &&
    wired &&
    wireWebhooks({
      config,
      archive,
      bell: wired.bell,
      relay,
      watcher,
      resources,
      log,
      pause: pauseUntilWoken,
      post: options.post,
    });
  return {
    relay,
    watcher,
    dispatcher,
    commandEnds,
    usage,
    archive,
    recorder,
    ...readers,
    webhooks,
    forgetting,
    maps,
    history,
    ...meters,
  };
}

function wireEvents(
  archive: Archive,
  recorder: Recorder,
  limits: LimitStore,
  clock: Clock,
  { waitForEvents: pause = pauseUntilWoken }: GatewayOptions,
  log: Log,
): { readonly bell: EventBell; readonly readers: Pick<Gateway, "events" | "streams"> } {
  const bell = new EventBell({ archive, pause, log });
  recorder.onRecorded = (serverId) => bell.ring(serverId);
  const slots = new StreamSlots();
  return {
    bell,
    readers: {
      events: new EventReader({ archive, bell, slots, pause }),
      streams: new EventStreams({ archive, bell, slots, limits, clock, pause, log }),
    },
  };
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
