// Wires what operators use: the admin API, the notices of /readyz, and the metrics.
import { randomBytes } from "node:crypto";
import { CLOCK_OFFSET_MAX_MS } from "../core/clock-offset.ts";
import { type Refusal, StoreUnavailable } from "../core/errors.ts";
import { deriveNoticesToken } from "../core/keys/token.ts";
import type { NoticeFacts } from "../core/notices.ts";
import type { Clock } from "../core/ports/clock.ts";
import { listArchiveNotices } from "../gateway/events/metered-archive.ts";
import { NoticeBoard } from "../gateway/instances/notice-board.ts";
import {
  fingerprintOf,
  GUESSING_ADDRESSES_MAX,
  GuessLimit,
  OperatorCheck,
} from "../gateway/keys/authenticate-operator.ts";
import { findServerOfBlock, listBlockNotices } from "../gateway/keys/manage-keys.ts";
import type { People } from "../gateway/people/people.ts";
import { RaisedAlerts } from "../gateway/servers/manage-alerts.ts";
import { nameServers } from "../gateway/servers/name-servers.ts";
import { listParked, listParkedNotices } from "../gateway/servers/parked-servers.ts";
import type { ManagedWebhooks } from "../gateway/webhooks/manage-webhooks.ts";
import { AdminDeps } from "../http/admin/admin-operation.ts";
import type { ReadServerHandler } from "../http/readings/read-server.ts";
import type { Pages } from "../http/requests/pages.ts";
import { ReadyzHandler } from "../http/service/health.ts";
import { MetricsHandler, type MetricsParts } from "../http/service/metrics.ts";
import { findSessionToken, type Named, OperatorStep } from "../http/steps/operator-step.ts";
import { VERSION } from "../instance/version.ts";
import { USAGE_KEPT_MS } from "./background-jobs.ts";
import type { Resources } from "./open-resources.ts";
import type { Authentication, HttpWiring, Wired } from "./wire-callers.ts";

/** How long /readyz waits for one question to a database. */
const WAIT_MS = 1_000;

export function wireOperators(
  wiring: HttpWiring,
  authentication: Authentication,
  pages: Pages,
  readServer: ReadServerHandler,
): Wired<"operatorStep" | "admin"> {
  const { masterKey } = wiring.basics;
  const { findAddress, people, authenticator } = authentication;
  const { store } = wiring.resources;
  const guesses = new GuessLimit();
  const operatorStep = new OperatorStep({
    operatorCheck: new OperatorCheck([masterKey]),
    guesses,
    fingerprint: fingerprintOf(masterKey),
    findAddress,
    findAdmin: (token, now) => people.findAdmin(token, now),
    store,
    authenticator,
    callerSteps: authentication.handlers.callerSteps,
    findServer: (named, id) => findServerOf(wiring, named, id),
    clock: wiring.resources.clock,
  });
  return {
    handlers: { operatorStep, admin: wireAdmin(wiring, authentication, pages, readServer) },
    sizes: [{ name: "guessing_addresses", size: () => guesses.size, max: GUESSING_ADDRESSES_MAX }],
  };
}

/** The server of what the path of an admin route names. */
async function findServerOf(
  { resources: { store }, gateway: { archive } }: HttpWiring,
  named: Named,
  id: string,
): Promise<string | undefined> {
  switch (named) {
    case "server":
      return store.servers.find(id)?.serverId;
    case "key":
      return (await store.keys.findDetails(id))?.serverId;
    case "webhook":
      return (await archive?.findWebhook(id))?.serverId;
    case "command":
      return (await store.commands.find(id))?.serverId;
    case "block":
      return findServerOfBlock(store, id);
  }
}

function wireAdmin(
  wiring: HttpWiring,
  { handlers: { ownOrigin }, people }: Authentication,
  pages: Pages,
  readServer: ReadServerHandler,
): AdminDeps {
  const { config, resources, gateway } = wiring;
  const { store } = resources;
  const { relay, watcher, usage, commandMeter, forgetting, archive } = gateway;
  return new AdminDeps({
    store,
    pages,
    randomBytes,
    listRoles: (person, now) => people.listRoles(person, now),
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
    history: archive,
    webhooks: wireWebhookAdmin(wiring),
    alerts: archive && { archive, servers: store.servers, audit: store.audit },
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
  const { servers, audit } = resources.store;
  const { deliverer, sender } = webhooks;
  return {
    archive,
    servers,
    audit,
    sealer: resources.webhookSealer,
    randomBytes,
    allowsPrivate: config.allowsPrivateWebhooks,
    sendTest: (webhook, testId) => sender.sendTest(webhook, testId),
    notify: (webhookId) => deliverer.notify(webhookId),
  };
}

/** Accepts these secrets, and the admin tokens of people who are operators. */
function acceptOperators(secrets: readonly (string | undefined)[], people: People, clock: Clock) {
  const operatorCheck = new OperatorCheck(secrets);
  return async (header: string | null): Promise<Refusal | undefined> => {
    const refusal = operatorCheck.check(header);
    const token = refusal && findSessionToken(header);
    const found = token === undefined ? undefined : await people.findAdmin(token, clock());
    return found?.person.isOperator ? undefined : refusal;
  };
}

/** What is not well, for /readyz and the log. */
export function wireNotices(wiring: HttpWiring, { untrustedProxy }: Authentication): NoticeBoard {
  const { config, resources, gateway, basics } = wiring;
  const { store, instances, machine } = resources;
  const { relay, recorder, archive, archiveMeter, webhooks } = gateway;
  const raisedAlerts = archive && new RaisedAlerts(archive, store.servers);
  const isSimulatorInUse = config.upstreamUrl === undefined;
  const labels = new Map<string, string>();
  const nameThem = (ids: readonly string[]) => nameServers(store.servers, ids);
  let blocks: readonly NoticeFacts[] = [];
  return new NoticeBoard({
    // Without PostgreSQL reads go on, so an instance that has started stays ready: the notices tell of it.
    store: instances ? { checkHealth: async () => {} } : store,
    lookAtMachine: () => machine.look(),
    async list(now) {
      blocks = await waitShortly(listBlockNotices(store, now, labels), blocks);
      return [
        ...listAway(resources),
        ...machine.listNotices(now),
        ...relay.listNotices(now, nameThem),
        ...listParkedNotices(listParked(store.servers, isSimulatorInUse), nameThem),
        ...(recorder ? listArchiveNotices(archiveMeter, recorder) : []),
        ...(webhooks?.deliverer.listNotices(nameThem) ?? []),
        ...blocks,
        ...(raisedAlerts?.listNotices(now, nameThem) ?? []),
        ...untrustedProxy.listNotices(now),
      ];
    },
    log: basics.log,
  });
}

/** A database may hang, and /readyz must answer nevertheless: with `otherwise`. */
async function waitShortly<T>(work: Promise<T>, otherwise: T): Promise<T> {
  const { promise: late, resolve } = Promise.withResolvers<T>();
  const timer = setTimeout(() => resolve(otherwise), WAIT_MS);
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** What this instance cannot reach, and whether its clock agrees with the database's. */
export function listAway({ instances, shared }: Pick<Resources, "instances" | "shared">): NoticeFacts[] {
  const offset = instances?.clockOffsetMs ?? 0;
  return [
    ...(instances?.isUp === false ? [{ code: "database_away" as const }] : []),
    ...(shared?.isUp === false ? [{ code: "redis_away" as const }] : []),
    ...(Math.abs(offset) > CLOCK_OFFSET_MAX_MS ? [{ code: "database_clock_wrong" as const, offset_ms: offset }] : []),
  ];
}

export function wireReadyz(
  { config, basics, resources, gateway, isDraining }: HttpWiring,
  { people }: Authentication,
  notices: NoticeBoard,
): ReadyzHandler {
  const { store, clock } = resources;
  const { masterKey } = basics;
  const check = acceptOperators([masterKey, deriveNoticesToken(masterKey)], people, clock);
  return new ReadyzHandler({
    clock,
    isDraining,
    async isOperator(call) {
      const refusal = check(call.request.headers.get("authorization"));
      try {
        return await waitShortly(
          refusal.then((found) => found === undefined),
          false,
        );
      } catch (error) {
        // Nobody knows who it is while the database is away.
        if (error instanceof StoreUnavailable) return false;
        throw error;
      }
    },
    async listNotices(now) {
      if (!isDraining()) await waitShortly(gateway.watcher.catchUpOnAll(), undefined);
      return notices.look(now);
    },
    describeCallers: () => ({
      servers: Array.from(store.servers.all()).length,
      shownForMs: config.freshMs + config.staleMs,
    }),
  });
}

export function wireMetrics(
  { config, basics, resources, gateway }: HttpWiring,
  { people }: Authentication,
  parts: Pick<MetricsParts, "edgeMeter" | "hookMeter" | "sizes">,
): MetricsHandler {
  const { store, instances, shared, clock, machine } = resources;
  const { relay, relayMeter, watcher, commandMeter, archiveMeter, recorder, events, streams } = gateway;
  return new MetricsHandler({
    ...parts,
    check: acceptOperators([basics.masterKey, config.metricsToken], people, clock),
    clock,
    relayMeter,
    relay,
    commandMeter,
    archive: recorder && events && streams && { meter: archiveMeter, recorder, events, streams, watcher },
    deliverer: gateway.webhooks?.deliverer,
    reportQueue: () => store.commands.report(),
    disk: () => machine.disk,
    countInstances: () => instances?.count ?? 1,
    isDatabaseUp: instances && (() => instances.isUp),
    isRedisUp: shared && (() => shared.isUp),
    countBlocks: async (now) => (await store.limits.listBlocks(now)).length,
    version: VERSION,
  });
}
