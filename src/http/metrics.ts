// GET /metrics: everything that is counted, in Prometheus's text format. No label holds a key, a player or a server.

import type { Histogram } from "../core/histogram.ts";
import type { Clock } from "../core/ports/clock.ts";
import type { QueueReport } from "../core/ports/commands.ts";
import type { CommandMeter } from "../gateway/commands/command-meter.ts";
import type { CheckOperator } from "../gateway/keys/authenticate-operator.ts";
import type { Relay } from "../gateway/readings/relay.ts";
import type { RelayMeter } from "../gateway/readings/relay-meter.ts";
import { answerRefusal } from "./answers.ts";
import type { Handler } from "./call.ts";
import type { EdgeMeter } from "./edge-meter.ts";

type Labels = Readonly<Record<string, string | number>>;
type Sample = { readonly metricName?: string; readonly labels?: Labels; readonly value: number };
type Family = {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge" | "histogram";
  readonly values: readonly Sample[];
};

/** The size of something that has a ceiling, and the ceiling. */
export type SizeGauge = { readonly name: string; readonly size: () => number; readonly max: number };

export type MetricsParts = {
  readonly check: CheckOperator;
  readonly clock: Clock;
  readonly edgeMeter: EdgeMeter;
  readonly relayMeter: RelayMeter;
  readonly relay: Relay;
  readonly commandMeter: CommandMeter;
  readonly reportQueue: () => Promise<QueueReport>;
  readonly countBlocks: (now: number) => Promise<number>;
  readonly countInstances: () => number;
  /** Read at every scrape; more may be added after the handler was made. */
  readonly sizes: readonly SizeGauge[];
  readonly version: string;
};

const CLIENT = "@prometheus-io/client";

/** The runtime never finds a package again that it has looked for in vain, as it does while there are no descriptors. */
function findClient(): void {
  try {
    import.meta.resolve(CLIENT);
  } catch {
    // Inside the binary, where it needs no finding.
  }
}

export function createMetrics(parts: MetricsParts): Handler {
  const { check, clock } = parts;
  findClient();
  return async (call) => {
    const refusal = check(call.request.headers.get("authorization"));
    if (refusal) return answerRefusal(call, refusal);
    // Loaded at the first scrape: whoever has no Prometheus does not pay for it.
    const { Registry } = await import("@prometheus-io/client");
    const registry = new Registry();
    const now = clock();
    const families = [
      ...listRequests(parts.edgeMeter),
      ...listRelay(parts.relayMeter, parts.relay, now),
      ...listCommands(parts.commandMeter, await findKnown(parts.reportQueue()), now),
      ...listBlocked(await findKnown(parts.countBlocks(now))),
      ...listSizes(parts.sizes),
      gauge(
        "gatehouse_instances",
        "Instances on this store, as last seen; this one too.",
        parts.countInstances(),
      ),
      gauge("process_resident_memory_bytes", "Resident memory.", process.memoryUsage.rss()),
      gauge("process_uptime_seconds", "Time since the start.", process.uptime()),
      family("gatehouse_info", "Always 1; the version is a label.", "gauge", [
        { labels: { version: parts.version }, value: 1 },
      ]),
    ];
    for (const { name, ...rest } of families) {
      // The registry only asks its metrics for their name and their values, which is all that these have.
      const metric = { name, get: async () => ({ name, ...rest }) };
      registry.registerMetric(metric as unknown as Parameters<typeof registry.registerMetric>[0]);
    }
    return new Response(await registry.metrics(), {
      headers: { "Content-Type": registry.contentType, "Cache-Control": "no-store" },
    });
  };
}

function listRequests(meter: EdgeMeter): Family[] {
  const answers: Sample[] = [];
  const seconds: Sample[] = [];
  for (const [route, routeMeter] of meter.routes) {
    for (const { status, code, count } of routeMeter.answers()) {
      answers.push({ labels: { route, status, code }, value: count });
    }
    seconds.push(...histogramSamples("gatehouse_request_duration_seconds", routeMeter.seconds, { route }));
  }
  return [
    family(
      "gatehouse_requests_total",
      "Answers by route, status and error code (0: none).",
      "counter",
      answers,
    ),
    family("gatehouse_request_duration_seconds", "Time from request to answer.", "histogram", seconds),
  ];
}

function listRelay(meter: RelayMeter, relay: Relay, now: number): Family[] {
  const state = relay.describe(now);
  const calls = [...meter.calls].map(([outcome, value]) => ({ labels: { outcome }, value }));
  const name = "gatehouse_upstream_call_duration_seconds";
  return [
    family("gatehouse_upstream_calls_total", "Calls to the game API by outcome.", "counter", calls),
    family(
      name,
      "Duration of calls to the game API.",
      "histogram",
      histogramSamples(name, meter.callSeconds, {}),
    ),
    counter("gatehouse_cache_hits_total", "Reads answered from a fresh snapshot.", meter.hits),
    counter(
      "gatehouse_cache_stale_hits_total",
      "Reads answered from a snapshot past its time.",
      meter.staleHits,
    ),
    counter("gatehouse_coalesced_reads_total", "Reads that shared a call under way.", meter.coalesced),
    counter(
      "gatehouse_misfits_total",
      "Parts of the game API's answers left out for their shape.",
      meter.misfits,
    ),
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
    gauge(
      "gatehouse_snapshot_age_seconds",
      "Age of the oldest snapshot kept.",
      state.oldestSnapshotMs / 1000,
    ),
  ];
}

/** What the store tells; while it cannot, the rest is told without it. */
function findKnown<T>(answer: Promise<T>): Promise<T | undefined> {
  return answer.catch(() => undefined);
}

function listBlocked(count: number | undefined): Family[] {
  return count === undefined ? [] : [gauge("gatehouse_blocked_keys", "Keys under a spam block.", count)];
}

function listCommands(meter: CommandMeter, report: QueueReport | undefined, now: number): Family[] {
  const outcomes = [...meter.outcomes].map(([outcome, value]) => ({ labels: { outcome }, value }));
  const total = family("gatehouse_commands_total", "Commands by what became of them.", "counter", outcomes);
  if (!report) return [total];
  const oldestMs = report.oldestQueuedAt === null ? 0 : Math.max(0, now - report.oldestQueuedAt);
  return [
    total,
    gauge("gatehouse_commands_waiting", "Commands that wait to be sent, for all servers.", report.waiting),
    gauge("gatehouse_commands_oldest_seconds", "How long the oldest of them has waited.", oldestMs / 1000),
  ];
}

function listSizes(sizes: readonly SizeGauge[]): Family[] {
  return [
    family(
      "gatehouse_size",
      "Entries in each collection that has a ceiling.",
      "gauge",
      sizes.map(({ name, size }) => ({ labels: { of: name }, value: size() })),
    ),
    family(
      "gatehouse_size_max",
      "The ceiling of each collection.",
      "gauge",
      sizes.map(({ name, max }) => ({ labels: { of: name }, value: max })),
    ),
  ];
}

function histogramSamples(name: string, histogram: Histogram, labels: Labels): Sample[] {
  let total = 0;
  const buckets = histogram.counts.map((count, index) => {
    total += count;
    const le = histogram.bounds[index] ?? "+Inf";
    return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: total };
  });
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: histogram.sum },
    { metricName: `${name}_count`, labels, value: total },
  ];
}

function family(name: string, help: string, type: Family["type"], values: readonly Sample[]): Family {
  return { name, help, type, values };
}

function counter(name: string, help: string, value: number): Family {
  return family(name, help, "counter", [{ value }]);
}

function gauge(name: string, help: string, value: number): Family {
  return family(name, help, "gauge", [{ value }]);
}
