// The listening socket: plain or TLS, replaced without a gap when the certificate changes, closed without haste.
import type { Server } from "bun";
import { StartRefused } from "../core/errors.ts";
import type { Edge } from "./edge.ts";

/** The runtime looks every four seconds, so a silent socket is cut after 12 s at the latest. */
const IDLE_SECONDS = 10;

export type TlsFiles = { readonly cert: string; readonly key: string };

export type Listener = {
  readonly port: number;
  readonly url: string;
  /** Serves new connections with this certificate; open ones go on with theirs. */
  replaceTls(tls: TlsFiles): void;
  /** No new connections; resolves when every open request is answered, or cuts them after `graceMs`. */
  close(graceMs: number): Promise<void>;
};

export function listen(options: {
  host: string;
  port: number;
  tls: TlsFiles | undefined;
  edge: Edge;
}): Listener {
  const { host, edge } = options;
  if (options.tls) refuseTakenPort(host, options.port);
  let current = bind(host, options.port, options.tls, edge);
  const port = current.port ?? options.port;
  const retired: Promise<void>[] = [];

  return {
    port,
    url: `${options.tls ? "https" : "http"}://${host.includes(":") ? `[${host}]` : host}:${port}`,
    replaceTls(tls) {
      const next = bind(host, port, tls, edge);
      retired.push(current.stop(false));
      current = next;
    },
    async close(graceMs) {
      const closed = Promise.all([...retired, current.stop(false)]);
      const isInTime = await Promise.race([closed.then(() => true), Bun.sleep(graceMs).then(() => false)]);
      if (!isInTime) await current.stop(true);
    },
  };
}

/** With TLS the port is shareable, so that a listener with a new certificate can stand beside the old one. */
function bind(host: string, port: number, tls: TlsFiles | undefined, edge: Edge): Server<undefined> {
  try {
    return Bun.serve({
      hostname: host,
      port,
      fetch: edge,
      idleTimeout: IDLE_SECONDS,
      development: false,
      reusePort: tls !== undefined,
      ...(tls && { tls: { cert: tls.cert, key: tls.key } }),
    });
  } catch (error) {
    throw explainBindFault(error, host, port);
  }
}

/** A shareable port would let a second Gatehouse start on it unnoticed; an exclusive one says that it is taken. */
function refuseTakenPort(host: string, port: number): void {
  try {
    Bun.listen({ hostname: host, port, socket: { data() {} } }).stop(true);
  } catch (error) {
    throw explainBindFault(error, host, port);
  }
}

function explainBindFault(error: unknown, host: string, port: number): Error {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  const place = `${host}:${port}`;
  if (code === "EADDRINUSE") {
    return new StartRefused(
      `${place} is already in use — stop what uses it, or set GATEHOUSE_PORT to another port`,
    );
  }
  if (code === "EACCES") {
    return new StartRefused(
      `no permission to listen on ${place} — choose a port above 1023 with GATEHOUSE_PORT`,
    );
  }
  const reason = error instanceof Error ? error.message : String(error);
  return new StartRefused(`cannot listen on ${place}: ${reason} — check GATEHOUSE_HOST and GATEHOUSE_PORT`);
}
