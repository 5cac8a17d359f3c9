// Opens the listening sockets. While a start waits for the database, they answer that Gatehouse is not ready.
import { createAddressList } from "../core/address.ts";
import type { Log } from "../core/ports/log.ts";
import { answerRefusal, STORE_UNAVAILABLE } from "../http/answers.ts";
import { Edge } from "../http/edge.ts";
import { inGameForm, isFacadePath } from "../http/facade/game-form.ts";
import type { Handler } from "../http/operation.ts";
import { splitUrl, Target } from "../http/requests/target.ts";
import { isLegacyPath, METHODS, type Route } from "../http/router.ts";
import { answerAlive } from "../http/service/health.ts";
import type { ConnectionLimitOptions } from "../http/socket/connection-limit.ts";
import { type Listener, listen, type RequestHandler, type RequestHandlers } from "../http/socket/listen.ts";
import { Cors } from "../http/web/cors.ts";
import type { Config } from "../instance/config.ts";
import { readTls } from "./open-resources.ts";

/** Without a listener of their own, operators come with everybody else. */
export type Listeners = { readonly everybody: Listener; readonly operators: Listener | undefined };

export type ListenerHandlers = { readonly everybody: RequestHandlers; readonly operators: RequestHandlers };

export async function openListeners(config: Config, handlers: ListenerHandlers, log: Log): Promise<Listeners> {
  const common = { tls: readTls(config), log, connectionLimit: toConnectionLimit(config) };
  const { host, port, admin } = config;
  const everybody = await listen({ ...handlers.everybody, ...common, host, port, settings: "GATEHOUSE" });
  try {
    const operators =
      admin && (await listen({ ...handlers.operators, ...common, ...admin, settings: "GATEHOUSE_ADMIN" }));
    return { everybody, operators };
  } catch (error) {
    await everybody.close(0, 0);
    throw error;
  }
}

export function listListeners({ everybody, operators }: Listeners): readonly Listener[] {
  return operators ? [everybody, operators] : [everybody];
}

/** Alive and not ready: until `admit`, what needs no database is answered, and everything else is 503. */
export class WaitingRoom {
  static async open(config: Config, log: Log): Promise<WaitingRoom> {
    const wait = createWaitingHandler(config, log);
    const [everybody, operators] = [new Door(wait), new Door(wait)];
    const listeners = await openListeners(config, { everybody, operators }, log);
    return new WaitingRoom(listeners, [everybody, operators]);
  }

  private constructor(
    readonly listeners: Listeners,
    private readonly doors: readonly Door[],
  ) {}

  /** From now on requests are answered by these. */
  admit({ everybody, operators }: ListenerHandlers): void {
    const [forEverybody, forOperators] = this.doors;
    if (forEverybody) forEverybody.behind = everybody;
    if (forOperators) forOperators.behind = operators;
  }

  async close(): Promise<void> {
    await Promise.all(listListeners(this.listeners).map((listener) => listener.close(0, 0)));
  }
}

class Door implements RequestHandlers {
  behind: RequestHandlers;

  constructor(handle: RequestHandler) {
    this.behind = { handle, handleOperator: handle, refuse: handle };
  }

  readonly handle: RequestHandler = (request, connection) => this.behind.handle(request, connection);
  readonly handleOperator: RequestHandler = (request, connection) => this.behind.handleOperator(request, connection);
  readonly refuse: RequestHandler = (request, connection) => this.behind.refuse(request, connection);
}

function createWaitingHandler(config: Config, log: Log): RequestHandler {
  const wait: Handler = (call) => answerRefusal(call, STORE_UNAVAILABLE);
  const healthz = toMatch({ path: "/healthz", GET: answerAlive });
  const anything = toMatch({ path: "any", ...forEachMethod(wait) });
  // Clients of the game API understand only its own form of errors.
  const facade = toMatch({ path: "any of the façade", ...forEachMethod(inGameForm(wait)) });
  const edge = new Edge({
    findTarget(url) {
      const { path, query } = splitUrl(url);
      // The edge itself answers what is under /v1.
      if (isLegacyPath(path)) return new Target(undefined, path, query);
      const others = isFacadePath(path) ? facade : anything;
      return new Target(path === "/healthz" ? healthz : others, path, query);
    },
    cors: new Cors(config.corsOrigins),
    clock: Date.now,
    log,
    isDraining: () => false,
    isSecure: config.tls !== undefined,
    observe() {},
  });
  return (request, connection) => edge.handle(request, connection);
}

function forEachMethod(handler: Handler): Omit<Route, "path"> {
  return Object.fromEntries(METHODS.map((method) => [method, handler]));
}

function toMatch(route: Route) {
  return { route, params: {}, allow: METHODS.filter((method) => route[method]).join(", ") };
}

function toConnectionLimit({ connectionsPerAddress, trustProxy }: Config): ConnectionLimitOptions | undefined {
  if (connectionsPerAddress === 0) return undefined;
  const trusted = createAddressList(trustProxy);
  return { max: connectionsPerAddress, isExempt: (address) => trusted.has(address) };
}
