// GET /metrics: everything that is counted, in Prometheus's text format. No label holds a key, a player or a server.
import Type from "typebox";
import type { DiskSpace } from "../../core/disk-space.ts";
import type { Refusal } from "../../core/errors.ts";
import type { Clock } from "../../core/ports/clock.ts";
import type { QueueReport } from "../../core/ports/commands.ts";
import type { EventReader } from "../../gateway/events/event-reader.ts";
import type { EventStreams } from "../../gateway/events/event-streams.ts";
import type { Recorder } from "../../gateway/events/recorder.ts";
import type { ArchiveMeter, CommandMeter, HookMeter, RelayMeter } from "../../gateway/meters.ts";
import type { Relay } from "../../gateway/readings/relay.ts";
import type { Watcher } from "../../gateway/readings/watcher.ts";
import type { Deliverer } from "../../gateway/webhooks/deliverer.ts";
import { answerRefusal } from "../answers.ts";
import type { Call } from "../call.ts";
import type { OpenOperation } from "../operation.ts";
import { NO_SNIFFING } from "../web/page-headers.ts";
import type { EdgeMeter } from "./observe-answers.ts";
import {
  counter,
  type Family,
  gauge,
  histogram,
  PROMETHEUS_CONTENT_TYPE,
  type Sample,
  type Series,
  writeFamilies,
} from "./prometheus-text.ts";

/** The size of something that has a ceiling, and the ceiling. */
export type SizeGauge = { readonly name: string; readonly size: () => number; readonly max: number };

export type ArchiveParts = {
  readonly meter: ArchiveMeter;
  readonly recorder: Pick<Recorder, "fault">;
  readonly events: Pick<EventReader, "waitingReads">;
  readonly streams: Pick<EventStreams, "meter" | "eventsBehindMax">;
  readonly watcher: Pick<Watcher, "calls" | "report">;
};

export type MetricsParts = {
  readonly check: (header: string | null) => Promise<Refusal | undefined>;
  readonly clock: Clock;
  readonly edgeMeter: EdgeMeter;
  readonly relayMeter: RelayMeter;
  readonly relay: Relay;
  readonly commandMeter: CommandMeter;
  readonly hookMeter: HookMeter;
  /** Undefined without an archive; its metrics are then left out. */
  readonly archive: ArchiveParts | undefined;
  /** Undefined without an archive; its metrics are then left out. */
  readonly deliverer: Pick<Deliverer, "meter" | "report"> | undefined;
  readonly reportQueue: () => Promise<QueueReport>;
  readonly countBlocks: (now: number) => Promise<number>;
  /** Undefined until it was looked at; its metrics are then left out. */
  readonly disk: () => DiskSpace | undefined;
  readonly countInstances: () => number;
  /** Undefined on SQLite; the metric is then left out. */
  readonly isDatabaseUp: (() => boolean) | undefined;
  /** Undefined for a single instance; the metric is then left out. */
  readonly isRedisUp: (() => boolean) | undefined;
  /** Read at every scrape; entries may be added after the handler was created. */
  readonly sizes: readonly SizeGauge[];
  readonly version: string;
};

const EXAMPLE = `# HELP gatehouse_requests_total Answers by route, status and error code (0: none).
# TYPE gatehouse_requests_total counter
gatehouse_requests_total{route="/v2/game/server",status="200",code="0"} 812
`;

/** Checks its token by itself: the master key, an operator's, or the one for metrics. */
export const readMetrics: OpenOperation<{ readonly metrics: MetricsHandler }> = {
  id: "tellMetrics",
  tag: "Service",
  summary: "Everything that is counted",
  description:
    "Prometheus's text format. Takes the master key, the token of an operator, or that in `GATEHOUSE_METRICS_TOKEN`.",
  security: ["masterKey", "sessionToken", "metricsToken"],
  answers: {
    200: {
      description: "The metrics.",
      mediaType: "text/plain",
      schema: Type.String(),
      examples: { metrics: { summary: "The first lines", value: EXAMPLE } },
    },
  },
  errors: ["missingToken", "invalidMasterKey", "internal", "unavailable"],
  answer: ({ metrics }, call) => metrics.answer(call),
};

export class MetricsHandler {
  constructor(private readonly parts: MetricsParts) {}

  async answer(call: Call): Promise<Response> {
    const { check, clock } = this.parts;
    const refusal = await check(call.request.headers.get("authorization"));
    if (refusal) return answerRefusal(call, refusal);
    return new Response(writeFamilies(await this.#listFamilies(clock())), {
      headers: { "Content-Type": PROMETHEUS_CONTENT_TYPE, "Cache-Control": "no-store", ...NO_SNIFFING },
    });
  }

  async #listFamilies(now: number): Promise<Family[]> {
    const parts = this.parts;
    return [
      ...listRequests(parts.edgeMeter),
      ...listRelay(parts.relayMeter, parts.relay, now),
      ...listCommands(parts.commandMeter, await undefinedIfFailed(parts.reportQueue()), now),
      ...(parts.archive ? listArchive(parts.archive, now) : []),
      ...(parts.deliverer ? listWebhooks(parts.deliverer) : []),
      ...listGameHooks(parts.hookMeter),
      ...listBlocked(await undefinedIfFailed(parts.countBlocks(now))),
      ...listSizes(parts.sizes),
      gauge("gatehouse_instances", "Instances on this store, as last seen; this one too.", parts.countInstances()),
      ...listUp("gatehouse_database_up", "1 while PostgreSQL answers.", parts.isDatabaseUp),
      ...listUp("gatehouse_redis_up", "1 while Redis answers.", parts.isRedisUp),
      ...listDisk(parts.disk()),
      ...listMemory(),
      gauge("process_uptime_seconds", "Time since the start.", process.uptime()),
      gauge("gatehouse_info", "Always 1; the version is a label.", [{ labels: { version: parts.version }, value: 1 }]),
    ];
  }
}

function listDisk(disk: DiskSpace | undefined): Family[] {
  if (!disk) return [];
  return [
    gauge("gatehouse_disk_free_bytes", "Free space on the disk of the data folder.", disk.freeBytes),
    gauge("gatehouse_disk_size_bytes", "The size of that disk.", disk.totalBytes),
  ];
}

function listUp(name: string, help: string, isUp: (() => boolean) | undefined): Family[] {
  return isUp ? [gauge(name, help, isUp() ? 1 : 0)] : [];
}

function listRequests(meter: EdgeMeter): Family[] {
  const answers: Sample[] = [];
  const seconds: Series[] = [];
  for (const [route, routeMeter] of meter.routes) {
    for (const { status, code, count } of routeMeter.answers()) {
      answers.push({ labels: { route, status, code }, value: count });
    }
    seconds.push({ labels: { route }, histogram: routeMeter.seconds });
  }
  return [
    counter("gatehouse_requests_total", "Answers by route, status and error code (0: none).", answers),
    histogram("gatehouse_request_duration_seconds", "Time from request to answer.", seconds),
  ];
}

function listRelay(meter: RelayMeter, relay: Relay, now: number): Family[] {
  const state = relay.describe(now);
  return [
    counter("gatehouse_upstream_calls_total", "Calls to the game API by outcome.", byOutcome(meter.calls)),
    histogram("gatehouse_upstream_call_duration_seconds", "Duration of calls to the game API.", [
      { histogram: meter.callSeconds },
    ]),
    counter("gatehouse_cache_hits_total", "Reads answered from a fresh snapshot.", meter.hits),
    counter("gatehouse_cache_stale_hits_total", "Reads answered from a snapshot past its time.", meter.staleHits),
    counter("gatehouse_coalesced_reads_total", "Reads that shared a call under way.", meter.coalesced),
    counter("gatehouse_misfits_total", "Parts of the game API's answers left out for their shape.", meter.misfits),
    gauge("gatehouse_upstream_budget_limit", "Calls a window, 0 while unknown.", state.budgetLimit ?? 0),
    gauge("gatehouse_upstream_budget_remaining", "Calls left in this window.", state.callsLeft ?? 0),
    gauge(
      "gatehouse_upstream_pause_seconds",
      "Time until the game API may be asked again after a 429.",
      state.pauseMs / 1000,
    ),
    gauge("gatehouse_breakers_open", "Game servers whose breaker is open.", state.openBreakers),
    gauge("gatehouse_refused_server_keys", "Server keys the game API has refused.", state.refusedKeys),
    gauge("gatehouse_active_servers", "Game servers asked about in the last minute.", state.activeServers),
    gauge("gatehouse_snapshot_age_seconds", "Age of the oldest snapshot kept.", state.oldestSnapshotMs / 1000),
  ];
}

/** While the store is unavailable, its metrics are left out. */
function undefinedIfFailed<T>(answer: Promise<T>): Promise<T | undefined> {
  return answer.catch(() => undefined);
}

function listBlocked(count: number | undefined): Family[] {
  return count === undefined ? [] : [gauge("gatehouse_blocked_keys", "Keys under a spam block.", count)];
}

function listCommands(meter: CommandMeter, report: QueueReport | undefined, now: number): Family[] {
  const total = counter("gatehouse_commands_total", "Commands by what became of them.", byOutcome(meter.outcomes));
  if (!report) return [total];
  const oldestMs = report.oldestQueuedAt === null ? 0 : Math.max(0, now - report.oldestQueuedAt);
  return [
    total,
    gauge("gatehouse_commands_waiting", "Commands that wait to be sent, for all servers.", report.waiting),
    gauge("gatehouse_commands_oldest_seconds", "How long the oldest of them has waited.", oldestMs / 1000),
  ];
}

function listGameHooks({ received, refused, droppedEvents }: HookMeter): Family[] {
  const outcomes = Object.entries(received).map(([outcome, value]) => ({ labels: { outcome }, value }));
  const reasons = Object.entries(refused).map(([reason, value]) => ({ labels: { reason }, value }));
  return [
    counter("gatehouse_game_webhooks_total", "Webhooks signed by the game, by outcome.", outcomes),
    counter("gatehouse_game_webhooks_refused_total", "Requests that were none, by reason.", reasons),
    counter(
      "gatehouse_game_webhook_events_dropped_total",
      "Events in webhooks of the game that have no usable form, or were too many.",
      droppedEvents,
    ),
  ];
}

function listStreams({ meter, eventsBehindMax }: ArchiveParts["streams"]): Family[] {
  const open = Object.entries(meter.open).map(([kind, value]) => ({ labels: { kind }, value }));
  const closed = Object.entries(meter.closed).map(([reason, value]) => ({ labels: { reason }, value }));
  return [
    gauge("gatehouse_streams", "Open streams of events, by kind.", open),
    counter("gatehouse_stream_events_sent_total", "Events sent to streams.", meter.eventsSent),
    counter("gatehouse_streams_closed_total", "Streams that have ended, by reason.", closed),
    gauge(
      "gatehouse_stream_behind_events",
      "Events of its ledger that the slowest stream was not sent yet.",
      eventsBehindMax,
    ),
  ];
}

function listArchive({ meter, recorder, events, streams, watcher }: ArchiveParts, now: number): Family[] {
  const isUp = meter.fault === undefined && recorder.fault === undefined;
  const recorded = Array.from(meter.events, ({ type, source, count }) => {
    return { labels: { type, source }, value: count };
  });
  const gaps = Array.from(meter.gaps, ([reason, value]) => ({ labels: { reason }, value }));
  const { servers, oldestReadingMs } = watcher.report(now);
  const calls = Object.entries(watcher.calls).map(([outcome, value]) => ({ labels: { outcome }, value }));
  return [
    gauge("gatehouse_archive_up", "1 while the archive answers and events are recorded, else 0.", Number(isUp)),
    counter(
      "gatehouse_archive_failures_total",
      "Calls of the archive that failed or were not answered in time.",
      meter.failures,
    ),
    counter("gatehouse_events_recorded_total", "Events given to the archive, by type and source.", recorded),
    counter("gatehouse_gaps_recorded_total", "Gaps among them, by reason.", gaps),
    gauge("gatehouse_waiting_reads", "Reads of events that wait for one.", events.waitingReads),
    ...listStreams(streams),
    gauge("gatehouse_watched_servers", "Game servers that this instance watches.", servers),
    counter("gatehouse_watch_calls_total", "Calls to the game API for watching, by outcome.", calls),
    ...(oldestReadingMs === null
      ? []
      : [
          gauge(
            "gatehouse_watch_oldest_reading_seconds",
            "Time since the last reading of the watched server that was not read for the longest time.",
            oldestReadingMs / 1000,
          ),
        ]),
  ];
}

function listWebhooks(deliverer: Pick<Deliverer, "meter" | "report">): Family[] {
  const { meter } = deliverer;
  const { waiting, ...states } = deliverer.report();
  const webhooks = Object.entries(states).map(([state, value]) => ({ labels: { state }, value }));
  return [
    counter(
      "gatehouse_webhook_attempts_total",
      "Requests to the receivers of webhooks, by what became of them.",
      byOutcome(meter.attempts),
    ),
    counter("gatehouse_webhook_events_delivered_total", "Events that receivers have accepted.", meter.eventsDelivered),
    histogram("gatehouse_webhook_attempt_duration_seconds", "Duration of requests to receivers.", [
      { histogram: meter.seconds },
    ]),
    gauge("gatehouse_webhooks", "Webhooks that this instance delivers to, by state.", webhooks),
    gauge("gatehouse_webhooks_waiting", "Webhooks with events to be sent.", waiting),
  ];
}

function listSizes(sizes: readonly SizeGauge[]): Family[] {
  return [
    gauge(
      "gatehouse_size",
      "Entries in each collection that has a ceiling.",
      sizes.map(({ name, size }) => ({ labels: { of: name }, value: size() })),
    ),
    gauge(
      "gatehouse_size_max",
      "The ceiling of each collection.",
      sizes.map(({ name, max }) => ({ labels: { of: name }, value: max })),
    ),
  ];
}

/** Reading it needs a file descriptor; while there is none, this metric is left out. */
function listMemory(): Family[] {
  try {
    return [gauge("process_resident_memory_bytes", "Resident memory.", process.memoryUsage.rss())];
  } catch {
    return [];
  }
}

function byOutcome(counts: ReadonlyMap<string, number>): Sample[] {
  return Array.from(counts, ([outcome, value]) => ({ labels: { outcome }, value }));
}
