// Wires the handlers, the routes and the edge in front of them.
import { randomBytes } from "node:crypto";
import { findBuiltFile } from "../built-files.ts";
import type { Config } from "../config.ts";
import { createAddressList } from "../core/address.ts";
import { CommandSubmitter } from "../gateway/commands/submit-command.ts";
import { Authenticator } from "../gateway/keys/authenticate.ts";
import {
  fingerprintOf,
  GUESSING_ADDRESSES_MAX,
  GuessLimit,
  OperatorCheck,
} from "../gateway/keys/authenticate-operator.ts";
import { BACKLOG_MAX } from "../gateway/keys/usage-backlog.ts";
import { AdminHandlers } from "../http/admin/admin-handlers.ts";
import type { Call } from "../http/call.ts";
import { CallerSteps } from "../http/caller-steps.ts";
import { findClientAddress } from "../http/client-address.ts";
import { CommandHandlers } from "../http/commands.ts";
import { Cors } from "../http/cors.ts";
import { DashboardHandlers } from "../http/dashboard.ts";
import { Edge } from "../http/edge.ts";
import { EdgeMeter } from "../http/edge-meter.ts";
import { ReadyzHandler } from "../http/health.ts";
import { MetricsHandler, type SizeGauge } from "../http/metrics.ts";
import { AnswerObserver } from "../http/observe-answers.ts";
import { OpenApiHandler } from "../http/openapi/answer-openapi.ts";
import { OperatorStep } from "../http/operator-step.ts";
import { ReadServerHandler, wantsGzip } from "../http/read-server.ts";
import { ReferenceHandlers } from "../http/reference/reference.ts";
import { listRoutes } from "../http/routes.ts";
import { createTargetFinder, TARGETS_MAX } from "../http/target.ts";
import { UnsentAnswers } from "../http/unsent-answers.ts";
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
  const authenticator = new Authenticator(store.keys, store.limits);
  const trusted = createAddressList(config.trustProxy);
  const findAddress = (call: Call) => findClientAddress(call, trusted);
  const callerSteps = new CallerSteps({
    authenticator,
    limits: store.limits,
    servers: store.servers,
    findAddress,
  });
  const guesses = new GuessLimit();
  const metricsCheck = new OperatorCheck([masterKey, config.metricsToken]);
  const edgeMeter = new EdgeMeter();
  const unsent = new UnsentAnswers();
  const sizes: SizeGauge[] = [
    { name: "known_authorization_headers", size: () => authenticator.size, max: authenticator.max },
    { name: "known_accept_encodings", size: wantsGzip.size, max: wantsGzip.max },
    { name: "guessing_addresses", size: () => guesses.size, max: GUESSING_ADDRESSES_MAX },
    { name: "unsent_bytes", size: () => unsent.bytes, max: unsent.bytesMax },
    { name: "unsaved_usage", size: () => usage.size(), max: BACKLOG_MAX + authenticator.max },
  ];
  const routes = listRoutes({
    callerSteps,
    readServer: new ReadServerHandler(relay, clock, unsent),
    commands: new CommandHandlers({
      commands: store.commands,
      callerSteps,
      clock,
      meter: commandMeter,
      submitter: new CommandSubmitter({
        commands: store.commands,
        intervalMs: config.commandIntervalMs,
        notify: (serverId) => dispatcher.notify(serverId),
      }),
    }),
    operatorStep: new OperatorStep({
      operatorCheck: new OperatorCheck([masterKey]),
      guesses,
      fingerprint: fingerprintOf(masterKey),
      findAddress,
    }),
    admin: new AdminHandlers({
      store,
      randomBytes,
      usage,
      usageMs: USAGE_KEPT_MS,
      forgetServer: (serverId) => relay.forget(serverId),
      retryGlobalKey: () => relay.retryGlobalKey(),
      commandMeter,
    }),
    dashboard: new DashboardHandlers((name) => findBuiltFile(`dashboard/${name}`)),
    openApi: new OpenApiHandler(VERSION),
    reference: new ReferenceHandlers((name) => findBuiltFile(`reference/${name}`)),
    readyz: new ReadyzHandler({
      store,
      clock,
      log,
      isDraining: () => drain.isDraining,
      listNotices: (now) => relay.listNotices(now),
    }),
    metrics: new MetricsHandler({
      check: (header) => metricsCheck.check(header),
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
  const observer = new AnswerObserver({ meter: edgeMeter, usage, log, findAddress });
  sizes.push({ name: "known_urls", size: findTarget.size, max: TARGETS_MAX });
  return new Edge({
    findTarget,
    cors: new Cors(config.corsOrigins),
    clock,
    log,
    isDraining: () => drain.isDraining,
    observe: (call, response) => observer.observe(call, response),
  });
}
