// Wires the HTTP side: the handlers, the routes and the edge in front of them.
import { randomBytes } from "node:crypto";
import type { Config } from "../config.ts";
import { createAddressList } from "../core/address.ts";
import { findDashboardFile } from "../dashboard-files.ts";
import { createSubmitCommand } from "../gateway/commands/submit-command.ts";
import { Authenticator } from "../gateway/keys/authenticate.ts";
import {
  createGuessLimit,
  createOperatorCheck,
  fingerprintOf,
  GUESSING_ADDRESSES_MAX,
} from "../gateway/keys/authenticate-operator.ts";
import { WAITING_CELLS_MAX } from "../gateway/keys/usage-meter.ts";
import { createAdmin } from "../http/admin.ts";
import { CallerSteps } from "../http/caller-steps.ts";
import { createAddressFinder } from "../http/client-address.ts";
import { CommandHandlers } from "../http/commands.ts";
import { createCors } from "../http/cors.ts";
import { createDashboard } from "../http/dashboard.ts";
import { Edge } from "../http/edge.ts";
import { EdgeMeter } from "../http/edge-meter.ts";
import { createReadyz } from "../http/health.ts";
import { createMetrics, type SizeGauge } from "../http/metrics.ts";
import { createAnswerObserver } from "../http/observe-answers.ts";
import { OpenApiHandler } from "../http/openapi/answer-openapi.ts";
import { createOperatorOnly } from "../http/operator-only.ts";
import { createReadServer, wantsGzip } from "../http/read-server.ts";
import { reference } from "../http/reference/reference.ts";
import { listRoutes } from "../http/routes.ts";
import { createTargetFinder, TARGETS_MAX } from "../http/target.ts";
import { VERSION } from "../version.ts";
import { USAGE_KEPT_MS } from "./background-jobs.ts";
import type { Basics, Resources } from "./open-resources.ts";
import type { Gateway } from "./wire-gateway.ts";

/** Set once, when the drain begins. */
export type DrainState = { isDraining: boolean };

export function wireHttp(
  config: Config,
  { log, masterKey }: Pick<Basics, "log" | "masterKey">,
  { store, shared, clock }: Resources,
  { relay, relayMeter, dispatcher, commandMeter, usage }: Gateway,
  drain: DrainState,
): Edge {
  const authenticator = new Authenticator(store.keys);
  const findAddress = createAddressFinder(createAddressList(config.trustProxy));
  const callerSteps = new CallerSteps({
    authenticator,
    limits: store.limits,
    servers: store.servers,
    findAddress,
  });
  const guesses = createGuessLimit();
  const edgeMeter = new EdgeMeter();
  const sizes: SizeGauge[] = [
    { name: "known_authorization_headers", size: () => authenticator.size, max: authenticator.max },
    { name: "known_accept_encodings", size: wantsGzip.size, max: wantsGzip.max },
    { name: "guessing_addresses", size: guesses.size, max: GUESSING_ADDRESSES_MAX },
    { name: "unsaved_usage", size: () => usage.size(), max: WAITING_CELLS_MAX + authenticator.max },
  ];
  const routes = listRoutes({
    callerSteps,
    readServer: createReadServer({ relay, clock }),
    commands: new CommandHandlers({
      commands: store.commands,
      callerSteps,
      clock,
      meter: commandMeter,
      submit: createSubmitCommand({
        commands: store.commands,
        intervalMs: config.commandIntervalMs,
        notify: (serverId) => dispatcher.notify(serverId),
      }),
    }),
    operator: createOperatorOnly({
      check: createOperatorCheck([masterKey]),
      guesses,
      fingerprint: fingerprintOf(masterKey),
      findAddress,
    }),
    admin: createAdmin({
      store,
      randomBytes,
      usage,
      usageMs: USAGE_KEPT_MS,
      forgetServer: (serverId) => relay.forget(serverId),
      retryGlobalKey: () => relay.retryGlobalKey(),
      commandMeter,
    }),
    dashboard: createDashboard(findDashboardFile),
    openApi: new OpenApiHandler(VERSION),
    reference,
    readyz: createReadyz({
      store,
      clock,
      log,
      isDraining: () => drain.isDraining,
      listNotices: (now) => relay.listNotices(now),
    }),
    metrics: createMetrics({
      check: createOperatorCheck([masterKey, config.metricsToken]),
      clock,
      edgeMeter,
      relayMeter,
      relay,
      commandMeter,
      reportQueue: () => store.commands.report(),
      countInstances: () => shared?.instances ?? 1,
      countBlocks: async (now) => (await store.limits.listBlocks(now)).length,
      sizes,
      version: VERSION,
    }),
  });
  const findTarget = createTargetFinder(routes);
  sizes.push({ name: "known_urls", size: findTarget.size, max: TARGETS_MAX });
  return new Edge({
    findTarget,
    cors: createCors(config.corsOrigins),
    clock,
    log,
    isDraining: () => drain.isDraining,
    observe: createAnswerObserver({ meter: edgeMeter, usage, log, findAddress }),
  });
}
