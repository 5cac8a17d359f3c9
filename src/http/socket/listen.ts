// The listening socket, plain or behind the TLS front. Closing it answers open requests first.
import type { BunRequest, Server } from "bun";
import { StartRefused } from "../../core/errors.ts";
import type { MaybePromise } from "../../core/maybe-promise.ts";
import type { Log } from "../../core/ports/log.ts";
import { type Connection, IDLE_SECONDS, type SocketHandler } from "../call.ts";
import { isResolved, OPERATOR_PATTERNS, OTHER_ADMIN_PATTERN } from "../router.ts";
import { ConnectionLimit, type ConnectionLimitOptions } from "./connection-limit.ts";
import { DescriptorCheck } from "./descriptor-check.ts";
import { ListeningSocket, type OpenConnection } from "./listening-socket.ts";
import type { TlsPeers } from "./tls-connection.ts";
import { type TlsFiles, TlsFront } from "./tls-front.ts";

/** How long the TLS front may take to send the last bytes. */
const FLUSH_MS = 1_000;

/** Of the frames that clients send. */
export const SOCKET_FRAME_BYTES_MAX = 4_096;

export type RequestHandler = (request: Request, connection: Connection) => MaybePromise<Response>;

/**
 * The runtime resolves dots and backslashes before a handler sees the path, so `/x\\..\\admin/servers` would look like
 * `/admin/servers` and pass a proxy's rule for /admin. Its router sees the path as it was sent and chooses between the three.
 */
export type RequestHandlers = {
  /** Takes the requests whose path, as it was sent, is an operator's. */
  readonly handleOperator: RequestHandler;
  /** Takes those that begin like an operator's path and are none, or another one. Must not answer them. */
  readonly refuse: RequestHandler;
  /** Takes all others. */
  readonly handle: RequestHandler;
};

export type Listener = {
  readonly port: number;
  /** The address that the socket is bound to, also when the host is a name. */
  readonly address: string;
  readonly url: string;
  /** New connections get this certificate; open ones keep theirs. Throws when it cannot be used. */
  replaceTls(tls: TlsFiles): void;
  /**
   * No new connections. Idle and silent ones may send a request for `idleGraceMs`. Resolves when every open request is
   * answered, or cuts them after `graceMs` in all.
   */
  close(graceMs: number, idleGraceMs: number): Promise<void>;
};

export type ListenOptions = RequestHandlers & {
  readonly host: string;
  readonly port: number;
  readonly tls: TlsFiles | undefined;
  /** What the names of the settings for host and port begin with. */
  readonly settings: "GATEHOUSE" | "GATEHOUSE_ADMIN";
  readonly log: Pick<Log, "warn" | "info">;
  /** Undefined: connections from one address are not limited. */
  readonly connectionLimit: ConnectionLimitOptions | undefined;
};

export async function listen(options: ListenOptions): Promise<Listener> {
  try {
    return options.tls ? await listenTls(options, options.tls) : await listenPlain(options);
  } catch (error) {
    throw explainBindFault(error, options);
  }
}

async function listenPlain(options: ListenOptions): Promise<Listener> {
  const { host, port, log, connectionLimit } = options;
  const server = serve(host, port, options);
  const boundPort = server.port ?? port;
  const socket = await ListeningSocket.find(boundPort);
  socket?.limitUnsent();
  const check = socket && new DescriptorCheck([socket], log);
  const limit =
    socket && connectionLimit && new ConnectionLimit(socket, connectionLimit, (excess) => socket.cut(excess), log);
  return {
    port: boundPort,
    address: findBoundAddress(server) ?? host,
    url: `http://${toUrlHost(host)}:${boundPort}`,
    replaceTls() {},
    async close(graceMs, idleGraceMs) {
      const until = performance.now() + graceMs;
      check?.stop();
      limit?.stop();
      await refuseConnections(socket, idleGraceMs, () => socket?.close());
      await drain(server, until - performance.now());
    },
  };
}

/** The plain listener behind the TLS front is reachable from this machine only, and checks keys like any other. */
async function listenTls(options: ListenOptions, tls: TlsFiles): Promise<Listener> {
  const { host, port, handle, handleOperator, refuse, log, connectionLimit } = options;
  const peers: TlsPeers = new Map();
  const withAddress = (handler: RequestHandler): RequestHandler => {
    return (request, connection) => handler(request, behindFront(connection, peers));
  };
  const server = serve("127.0.0.1", 0, {
    handle: withAddress(handle),
    handleOperator: withAddress(handleOperator),
    refuse: withAddress(refuse),
  });
  const innerPort = server.port ?? 0;
  const front = await TlsFront.open({ host, port, tls, innerPort, peers }).catch(async (error) => {
    await server.stop(true);
    throw error;
  });
  const socket = await ListeningSocket.find(front.port);
  const sockets = [socket, await ListeningSocket.find(innerPort)].filter((found) => found !== undefined);
  for (const found of sockets) found.limitUnsent();
  const check = new DescriptorCheck(sockets, log);
  const cut = async (excess: readonly OpenConnection[]) => {
    front.cut(excess);
    // Those without a complete handshake, which the front does not know.
    await socket?.cut(excess);
  };
  const limit = socket && connectionLimit && new ConnectionLimit(socket, connectionLimit, cut, log);
  return {
    port: front.port,
    address: front.address,
    url: `https://${toUrlHost(host)}:${front.port}`,
    replaceTls: (files) => front.replaceTls(files),
    async close(graceMs, idleGraceMs) {
      const until = performance.now() + graceMs;
      check.stop();
      limit?.stop();
      await refuseConnections(socket, idleGraceMs, () => front.stopListening());
      await drain(server, until - performance.now());
      await front.close(FLUSH_MS);
    },
  };
}

/** The connection with the client's address instead of the front's, which also learns what carries a stream. */
function behindFront(connection: Connection, peers: TlsPeers): Connection {
  const markStream = (request: Request, isStream: boolean) => {
    const peer = peers.get(connection.requestIP(request)?.port ?? 0);
    if (peer) peer.isStream = isStream;
  };
  return {
    requestIP(request) {
      const front = connection.requestIP(request);
      const peer = front ? peers.get(front.port) : undefined;
      return front && peer ? { address: peer.clientAddress, port: front.port } : front;
    },
    timeout(request, seconds) {
      markStream(request, seconds === 0);
      connection.timeout(request, seconds);
    },
    upgrade(request, options) {
      markStream(request, true);
      return connection.upgrade?.(request, options) ?? false;
    },
  };
}

function serve(host: string, port: number, { handle, handleOperator, refuse }: RequestHandlers): Server<SocketHandler> {
  const handleAsSent = (request: BunRequest, connection: Connection) =>
    (isResolved(request.params) ? refuse : handleOperator)(request, connection);
  return Bun.serve({
    hostname: host,
    port,
    routes: {
      ...Object.fromEntries(OPERATOR_PATTERNS.map((pattern) => [pattern, handleAsSent])),
      [OTHER_ADMIN_PATTERN]: refuse,
    },
    fetch: handle,
    idleTimeout: IDLE_SECONDS,
    // body-bytes.ts enforces the maximum and answers in JSON; the runtime would only close the connection.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    development: false,
    websocket: {
      // A larger frame closes the socket with 1009.
      maxPayloadLength: SOCKET_FRAME_BYTES_MAX,
      open: (socket) => socket.data.opened(socket),
      message: (socket, message) => socket.data.received(message),
      drain: (socket) => socket.data.drained(),
      close: (socket) => socket.data.closed(),
    },
    // Otherwise a second Gatehouse could share the port unnoticed.
    reusePort: false,
  });
}

/** The runtime has this property, its types do not. */
function findBoundAddress(server: object): string | undefined {
  const { address } = server as { readonly address?: { readonly address?: string } | null };
  return address?.address;
}

/** Turns of the event loop until requests that have arrived are read: accepting a connection and reading it take one each. */
const TURNS_TO_READ = 4;
/** How long idle connections may go on where nobody can count them. */
const UNCOUNTED_GRACE_MS = 100;
/** The kernel passes on a connection without a first byte after a second. */
const HANDSHAKE_WAIT_MS = 1_200;
const COUNT_EVERY_MS = 10;

/**
 * Refuses new connections, accepts those that have begun and closes the listening socket. Then waits until every connection is
 * closed, at most for `idleGraceMs`.
 */
async function refuseConnections(
  socket: ListeningSocket | undefined,
  idleGraceMs: number,
  stopListening: () => void,
): Promise<void> {
  if (!socket) {
    await Bun.sleep(Math.min(idleGraceMs, UNCOUNTED_GRACE_MS));
    stopListening();
    return;
  }
  socket.refuseHandshakes();
  socket.acceptSilentConnections();
  await takeTurns();
  // Closing the socket resets the connections that the process has not accepted, so none may be left.
  const areAllAccepted = async () => {
    const counts = await socket.countConnections();
    return counts?.handshaking === 0 && counts.waiting === 0;
  };
  await waitUntil(areAllAccepted, idleGraceMs === 0 ? 0 : HANDSHAKE_WAIT_MS);
  stopListening();
  await waitUntil(async () => (await socket.countConnections())?.open === 0, idleGraceMs);
}

async function waitUntil(isSo: () => MaybePromise<boolean>, ms: number): Promise<void> {
  const until = performance.now() + ms;
  while (performance.now() < until && !(await isSo())) await Bun.sleep(COUNT_EVERY_MS);
}

async function takeTurns(): Promise<void> {
  for (let turn = 0; turn < TURNS_TO_READ; turn++) await new Promise((resolve) => setImmediate(resolve));
}

async function drain(server: Server<SocketHandler>, graceMs: number): Promise<void> {
  // On stop the runtime closes idle connections at once, even those with an unread request.
  await takeTurns();
  let isClosed = false;
  void server.stop(false).then(() => {
    isClosed = true;
  });
  // The runtime leaves connections open that have never sent a request.
  await waitUntil(() => isClosed || server.pendingRequests === 0, graceMs);
  if (!isClosed) await server.stop(true);
}

function toUrlHost(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}

function explainBindFault(error: unknown, { host, port, settings }: ListenOptions): Error {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  const place = `${host}:${port}`;
  if (code === "EADDRINUSE") {
    return new StartRefused(`${place} is already in use — stop what uses it, or set ${settings}_PORT to another port`);
  }
  if (code === "EACCES") {
    return new StartRefused(`no permission to listen on ${place} — choose a port above 1023 with ${settings}_PORT`);
  }
  const reason = error instanceof Error ? error.message : String(error);
  return new StartRefused(`cannot listen on ${place}: ${reason} — check ${settings}_HOST and ${settings}_PORT`);
}
