// TLS in front of a plain listener of our own: ends the encryption and passes the bytes on. It stands apart so that a
// new certificate can be served, and new connections refused, while every open connection goes on.
import { connect, type Socket } from "node:net";
import { createServer, type TLSSocket } from "node:tls";
import type { TlsFiles } from "./listen.ts";

/** A handshake that takes longer is nobody's who wants to talk to us. */
const HANDSHAKE_MAX_MS = 3_000;
/** How long a client may take to fetch the rest of its answer when we are done with it. */
const FAREWELL_MAX_MS = 3_000;
const LOOPBACK = "127.0.0.1";

export type TlsFront = {
  readonly port: number;
  /** The client behind a connection to the plain listener, by that connection's port. */
  findPeer(innerPort: number): string | undefined;
  replaceTls(tls: TlsFiles): void;
  /** No new connections; the open ones go on. */
  stopListening(): void;
  /** Resolves when the last connection is closed, or cuts those that are still open after `graceMs`. */
  close(graceMs: number): Promise<void>;
};

/** What was written still goes out; a client that does not take it is cut in the end. */
function closeSoon(socket: TLSSocket): void {
  const timer = setTimeout(() => socket.destroy(), FAREWELL_MAX_MS);
  socket.once("close", () => clearTimeout(timer));
  socket.end();
}

export async function openTlsFront(options: {
  host: string;
  port: number;
  tls: TlsFiles;
  innerPort: number;
}): Promise<TlsFront> {
  const peers = new Map<number, string>();
  /** Every connection, with the timer that ends it unless its handshake comes first. */
  const open = new Map<TLSSocket, ReturnType<typeof setTimeout>>();

  function passOn(outer: TLSSocket): void {
    clearTimeout(open.get(outer));
    // Half-open on both sides: who has said all may still be waiting for the answer.
    const inner: Socket = connect({ port: options.innerPort, host: LOOPBACK, allowHalfOpen: true }, () => {
      const { localPort } = inner;
      // Before the first byte is passed on, so that a request never comes without its client's address.
      if (localPort !== undefined) peers.set(localPort, outer.remoteAddress ?? "");
      inner.once("close", () => peers.delete(localPort ?? 0));
      outer.pipe(inner);
      inner.pipe(outer);
    });
    inner.once("close", () => closeSoon(outer));
    outer.once("close", () => inner.destroy());
    inner.on("error", () => outer.destroy());
  }

  const server = createServer({ ...options.tls, allowHalfOpen: true }, passOn);
  server.on("connection", (socket: TLSSocket) => {
    open.set(
      socket,
      setTimeout(() => socket.destroy(), HANDSHAKE_MAX_MS),
    );
    socket.once("close", () => {
      clearTimeout(open.get(socket));
      open.delete(socket);
    });
    // Broken connections are the client's affair; without a listener they would end the process.
    socket.on("error", () => socket.destroy());
  });
  server.on("tlsClientError", (_error, socket) => socket.destroy());

  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.on("error", reject);
  server.listen(options.port, options.host, () => resolve());
  await promise;
  const address = server.address();

  return {
    port: typeof address === "object" && address !== null ? address.port : options.port,
    findPeer: (innerPort) => peers.get(innerPort),
    replaceTls: (tls) => server.setSecureContext(tls),
    stopListening: () => void server.close(),
    async close(graceMs) {
      // Each connection ends by itself when the plain listener has closed its side and the last bytes are through.
      const sockets = [...open.keys()];
      const closed = sockets.map((socket) => new Promise((done) => socket.once("close", done)));
      await Promise.race([Promise.all(closed), Bun.sleep(graceMs)]);
      for (const socket of sockets) socket.destroy();
    },
  };
}
