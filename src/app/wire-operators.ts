// Wires what operators use: the admin API, the notices of /readyz, and the metrics.
import { randomBytes } from "node:crypto";
import { deriveNoticesToken } from "../core/token.ts";
import { listArchiveNotices } from "../gateway/events/archive-notices.ts";
import {
  fingerprintOf,
  GUESSING_ADDRESSES_MAX,
  GuessLimit,
  OperatorCheck,
} from "../gateway/keys/authenticate-operator.ts";
import { nameServers } from "../gateway/servers/name-servers.ts";
import { listParked, listParkedNotices } from "../gateway/servers/parked-servers.ts";
import type { ManagedWebhooks } from "../gateway/webhooks/manage-webhooks.ts";
import { AdminHandlers } from "../http/admin/admin-handlers.ts";
import { ReadyzHandler } from "../http/health.ts";
import { MetricsHandler, type MetricsParts } from "../http/metrics.ts";
import { OperatorStep } from "../http/operator-step.ts";
import type { Pages } from "../http/pages.ts";
import type { ReadServerHandler } from "../http/read-server.ts";
import type { UntrustedProxyNotice } from "../http/untrusted-proxy.ts";
import { VERSION } from "../version.ts";
import { USAGE_KEPT_MS } from "./background-jobs.ts";
import type { Authentication, HttpWiring, Wired } from "./wire-callers.ts";

export function wireOperators(
  wiring: HttpWiring,
  authentication: Authentication,
  pages: Pages,
  readServer: ReadServerHandler,
): Wired<"operatorStep" | "admin"> {
  const { masterKey } = wiring.basics;
  const { findAddress } = authentication;
  const guesses = new GuessLimit();
  const operatorStep = new OperatorStep({
    operatorCheck: new OperatorCheck([masterKey]),
    guesses,
    fingerprint: fingerprintOf(masterKey),
    findAddress,
  });
  return {
    handlers: { operatorStep, admin: wireAdmin(wiring, authentication, pages, readServer) },
    sizes: [{ name: "guessing_addresses", size: () => guesses.size, max: GUESSING_ADDRESSES_MAX }],
  };
}

function wireAdmin(
  wiring: HttpWiring,
  { handlers: { ownOrigin }, sessions }: Authentication,
  pages: Pages,
  readServer: ReadServerHandler,
): AdminHandlers {
  const { config, resources, gateway } = wiring;
  const { store } = resources;
  const { relay, watcher, usage, commandMeter, forgetting, archive } = gateway;
  return new AdminHandlers({
    store,
    pages,
    randomBytes,
    sessions,
    findPageAddress: (call) => config.publicUrl ?? ownOrigin.find(call) ?? "",
    usage,
    usageMs: USAGE_KEPT_MS,
    relay,
    watcher,
    readServer,
    isSimulatorInUse: config.upstreamUrl === undefined,
    forgetServer: (serverId) => forgetServer(wiring, serverId),
    retryGlobalKey: () => relay.retryGlobalKey(),
    commandMeter,
    forgetting,
    webhooks: wireWebhookAdmin(wiring),
    alerts: archive && { archive, servers: store.servers, settings: store.settings },
  });
}

function forgetServer({ basics, gateway: { relay, maps, recorder } }: HttpWiring, serverId: string): void {
  relay.forget(serverId);
  maps?.forget(serverId);
  recorder?.removeServer(serverId).catch((error) => {
    const fields = { err: error, server_id: serverId };
    basics.log.warn(fields, "the events of a deleted server could not be deleted yet");
  });
}

/** Undefined without an archive. */
function wireWebhookAdmin({ config, resources, gateway }: HttpWiring): ManagedWebhooks | undefined {
  const { archive, webhooks } = gateway;
  if (!archive || !webhooks) return undefined;
  const { servers, settings } = resources.store;
  const { deliverer, sender } = webhooks;
  return {
    archive,
    servers,
    settings,
    sealer: resources.webhookSealer,
    randomBytes,
    allowsPrivate: config.allowsPrivateWebhooks,
    sendTest: (webhook, testId) => sender.sendTest(webhook, testId),
    notify: (webhookId) => deliverer.notify(webhookId),
  };
}

export function wireReadyz(
  { config, basics, resources, gateway, isDraining }: HttpWiring,
  untrustedProxy: UntrustedProxyNotice,
): ReadyzHandler {
  const { store, clock } = resources;
  const { relay, recorder, archiveMeter, webhooks } = gateway;
  const { masterKey, log } = basics;
  const isSimulatorInUse = config.upstreamUrl === undefined;
  const noticesCheck = new OperatorCheck([masterKey, deriveNoticesToken(masterKey)]);
  return new ReadyzHandler({
    store,
    clock,
    log,
    isDraining,
    isOperator: (call) => noticesCheck.check(call.request.headers.get("authorization")) === undefined,
    listNotices(now, isOperator) {
      const name = isOperator ? (ids: readonly string[]) => nameServers(store.servers, ids) : undefined;
      const parked = listParked(store.servers, isSimulatorInUse);
      return [
        ...relay.listNotices(now, name),
        ...listParkedNotices(parked, name),
        ...(recorder ? listArchiveNotices(archiveMeter, recorder, isOperator) : []),
        ...(webhooks?.deliverer.listNotices(name) ?? []),
        ...(isOperator ? untrustedProxy.listNotices(now) : []),
      ];
    },
  });
}

export function wireMetrics(
  { config, basics, resources, gateway }: HttpWiring,
  parts: Pick<MetricsParts, "edgeMeter" | "hookMeter" | "sizes">,
): MetricsHandler {
  const { store, shared, clock } = resources;
  const { relay, relayMeter, watcher, commandMeter, archiveMeter, recorder, events, streams } = gateway;
  const operatorCheck = new OperatorCheck([basics.masterKey, config.metricsToken]);
  return new MetricsHandler({
    ...parts,
    check: (header) => operatorCheck.check(header),
    clock,
    relayMeter,
    relay,
    commandMeter,
    archive: recorder && events && streams && { meter: archiveMeter, recorder, events, streams, watcher },
    deliverer: gateway.webhooks?.deliverer,
    reportQueue: () => store.commands.report(),
    countInstances: () => shared?.instances ?? 1,
    countBlocks: async (now) => (await store.limits.listBlocks(now)).length,
    version: VERSION,
  });
}
