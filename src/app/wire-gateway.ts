// Wires the gateway: reading and watching servers, sending commands, counting the usage of keys, and with an archive also
// events, webhooks, maps and history.
import type { Archive } from "../core/ports/archive.ts";
import { type SleepUntilWoken, TIMER_MAX_MS } from "../core/ports/clock.ts";
import type { Post } from "../core/ports/post.ts";
import { WATCH_REASONS } from "../core/readings/watch-reasons.ts";
import { SECTIONS } from "../core/sections.ts";
import { CommandDispatcher } from "../gateway/commands/command-dispatcher.ts";
import { CommandEnds } from "../gateway/commands/command-ends.ts";
import { EventNotifier } from "../gateway/events/event-notifier.ts";
import { EventReader } from "../gateway/events/event-reader.ts";
import { EventRecorder } from "../gateway/events/event-recorder.ts";
import { EventStreams } from "../gateway/events/event-streams.ts";
import { createIdentityHash } from "../gateway/events/identity-hash.ts";
import { meterArchive } from "../gateway/events/metered-archive.ts";
import { PlayerForgetting } from "../gateway/events/player-forgetting.ts";
import { type Recorder, recordReadings } from "../gateway/events/recorder.ts";
import { StreamSlots } from "../gateway/events/stream-slots.ts";
import { HistoryReader } from "../gateway/history/history-reader.ts";
import { UsageMeter, type WritePace } from "../gateway/keys/usage-meter.ts";
import { ServerMaps } from "../gateway/maps/server-maps.ts";
import { ArchiveMeter, CommandMeter, RelayMeter } from "../gateway/meters.ts";
import { ModCallDesk } from "../gateway/modcalls/mod-call-desk.ts";
import { Relay } from "../gateway/readings/relay.ts";
import { StateBoard } from "../gateway/readings/state-board.ts";
import { Watcher } from "../gateway/readings/watcher.ts";
import { Deliverer } from "../gateway/webhooks/deliverer.ts";
import { readReport } from "../gateway/webhooks/server-report.ts";
import { auditDisabled } from "../gateway/webhooks/webhook-notices.ts";
import { WebhookSender } from "../gateway/webhooks/webhook-sender.ts";
import type { Config } from "../instance/config.ts";
import { VERSION } from "../instance/version.ts";
import { createPinnedPost } from "../webhooks-out/pinned-post.ts";
import type { Basics, Resources } from "./open-resources.ts";

const BURST_QUIET_MS = 100;
/** SQLite writes on our event loop: small batches and long sleeps leave room for requests. */
const USAGE_PACE_EMBEDDED: WritePace = { batchMax: 100, sleepFactor: 100 };
/** PostgreSQL does not block our event loop, and the other instances wait for what we write: no sleeps. */
const USAGE_PACE_POSTGRES: WritePace = { batchMax: 500, sleepFactor: 0 };
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

/** The sender is for operators' tests too. */
type Webhooks = { readonly deliverer: Deliverer; readonly sender: WebhookSender };

/** Absent when nothing is to be remembered. */
type WiredArchive = {
  readonly archive: Archive;
  readonly recorder: Recorder;
  readonly events: EventReader;
  readonly streams: EventStreams;
  readonly webhooks: Webhooks;
  readonly maps: ServerMaps;
  readonly history: HistoryReader;
  readonly modCalls: ModCallDesk;
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
  readonly basics: Pick<Basics, "log" | "masterKey" | "secret">;
  readonly options: GatewayOptions;
};

export function wireGateway(wiring: GatewayWiring): Gateway {
  const { resources, options } = wiring;
  const { store, instances, clock, readingThread } = resources;
  const { log } = wiring.basics;
  const archiveMeter = readingThread?.meter ?? new ArchiveMeter();
  const archive = options.archive ? meterArchive(options.archive, archiveMeter) : resources.archive;
  const relayMeter = new RelayMeter();
  const relay = wireRelay(wiring, relayMeter);
  const slots = new StreamSlots();
  const commands = wireCommands(wiring, relay, slots);
  const watcher = wireWatcher(wiring, relay, archive !== undefined);
  const usage = new UsageMeter({
    store: store.usage,
    log,
    pace: instances ? USAGE_PACE_POSTGRES : USAGE_PACE_EMBEDDED,
    pause: pauseUntilWoken,
  });
  const wiredArchive: Partial<WiredArchive> = archive ? wireArchive(wiring, archive, relay, watcher, slots) : {};
  const forgetting = new PlayerForgetting({
    archive,
    commands: store.commands,
    recorder: wiredArchive.recorder,
    audit: store.audit,
    clock,
    sleep: Bun.sleep,
    log,
  });
  return { relay, relayMeter, ...commands, watcher, usage, archiveMeter, ...wiredArchive, forgetting };
}

function wireRelay({ config, resources, basics, options }: GatewayWiring, meter: RelayMeter): Relay {
  const { store, shared, instances, clock, upstream, upstreamTimeoutMs, notes } = resources;
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
    },
    meter,
    log: basics.log,
    share: shared?.relayShare,
    countInstances: instances && (() => instances.count),
    notes,
  });
}

function wireCommands(
  { config, resources, basics, options }: GatewayWiring,
  relay: Relay,
  slots: StreamSlots,
): Pick<Gateway, "dispatcher" | "commandMeter" | "commandEnds"> {
  const { store, upstream, clock } = resources;
  const commandMeter = new CommandMeter();
  const commandEnds = new CommandEnds(store.commands, options.waitForCommands ?? pauseUntilWoken, slots);
  const dispatcher = new CommandDispatcher({
    store,
    upstream,
    callState: relay.callState,
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
  const { store, shared, instances, clock } = resources;
  const offReason = config.isWatching ? undefined : WATCH_REASONS.watchOff;
  const watcher = new Watcher({
    relay,
    servers: store.servers,
    clock,
    pause: options.pause ?? pauseUntilWoken,
    log: basics.log,
    intervalMs: config.watchIntervalMs,
    offReason: hasArchive ? offReason : WATCH_REASONS.noArchive,
    lease: shared && instances?.lease("watch"),
  });
  const { settings, servers } = store;
  if (shared) watcher.board = new StateBoard({ settings, servers, relay, isShared: () => shared.isUp, clock });
  return watcher;
}

function wireArchive(
  wiring: GatewayWiring,
  archive: Archive,
  relay: Relay,
  watcher: Watcher,
  slots: StreamSlots,
): WiredArchive {
  const { resources, options, basics } = wiring;
  const { store, clock } = resources;
  const { log } = basics;
  const pause = options.waitForEvents ?? pauseUntilWoken;
  const recorder = wireRecorder(wiring, archive, relay, watcher);
  const notifier = new EventNotifier({ archive, pause, log });
  recorder.onRecorded = (serverId) => notifier.ring(serverId);
  return {
    archive,
    recorder,
    events: new EventReader({ archive, notifier, slots, pause }),
    streams: new EventStreams({ archive, notifier, slots, limits: store.limits, clock, pause, log }),
    webhooks: wireWebhooks(wiring, archive, notifier, relay, watcher),
    maps: new ServerMaps({ archive, audit: store.audit }),
    history: new HistoryReader(archive),
    modCalls: new ModCallDesk({
      archive,
      relay,
      watcher,
      onRecorded(serverId) {
        notifier.ring(serverId);
        // A claim ends its alert at once; no reading may come for a long time.
        recorder.takeTime(serverId, clock());
      },
    }),
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

function wireWebhooks(
  { config, resources, basics, options }: GatewayWiring,
  archive: Archive,
  notifier: EventNotifier,
  relay: Relay,
  watcher: Watcher,
): Webhooks {
  const { store, shared, instances, clock, webhookSealer: sealer } = resources;
  const { servers, audit } = store;
  const sender = new WebhookSender({
    post: options.post ?? createPinnedPost({ allowsPrivate: config.allowsPrivateWebhooks }),
    sealer,
    clock,
    findServerName: (serverId) => servers.find(serverId)?.name,
    readPlayerName: async (serverId, player) => (await archive.readPlayer(serverId, player, clock()))?.names[0],
    userAgent: `Gatehouse/${VERSION}`,
  });
  const deliverer = new Deliverer({
    archive,
    notifier,
    sender,
    readReport: (serverId, now) => readReport({ relay, watcher, servers }, serverId, now),
    clock,
    random: Math.random,
    scheduleMs: config.webhookRetryMs,
    pause: pauseUntilWoken,
    log: basics.log,
    lease: shared && instances?.lease("webhooks"),
  });
  deliverer.onDisabled = (webhook, reason, at) => auditDisabled(audit, webhook, reason, at);
  return { deliverer, sender };
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
