// TLS in front of a plain listener of our own: ends the encryption and passes the bytes on. It stands apart so that a
// new certificate can be served, and new connections refused, while every open connection goes on.
import { connect, type Socket } from "node:net";
import { createServer, type TLSSocket } from "node:tls";

/** A handshake that takes longer is nobody's who wants to talk to us. */
const HANDSHAKE_MAX_MS = 3_000;
/** A record of TLS. */
const PIECE_BYTES = 16_384;
const LOOK_EVERY_MS = 2_500;
/** A client that has taken nothing of what we owe it at so many looks in a row is gone, or might as well be. */
const STUCK_LOOKS_MAX = 4;
/** The same for one that we owe nothing any more, and that does not close its side. */
const PARTING_LOOKS_MAX = 2;
const LOOPBACK = "127.0.0.1";

export type TlsFiles = { readonly cert: string; readonly key: string };

export type TlsFront = {
  readonly port: number;
  replaceTls(tls: TlsFiles): void;
  /** No new connections; the open ones go on. */
  stopListening(): void;
  /** Resolves when the last connection is closed, or cuts those that are still open after `graceMs`. */
  close(graceMs: number): Promise<void>;
};

/** What is known of a connection beside its socket. */
type Visit = {
  /** Ends it unless its handshake comes first. */
  readonly handshake: ReturnType<typeof setTimeout>;
  /** We have nothing more to say. */
  isLeaving: boolean;
  /** Bytes for it that have come from behind. */
  given: number;
  /** How many of them it had taken at the last look, and at how many looks in a row it had taken no more. */
  taken: number;
  stuckLooks: number;
};

export async function openTlsFront(options: {
  host: string;
  port: number;
  tls: TlsFiles;
  innerPort: number;
  /** Filled with the client's address for each connection to the plain listener, by the port of that connection. */
  peers: Map<number, string>;
}): Promise<TlsFront> {
  const { peers } = options;
  const open = new Map<TLSSocket, Visit>();

  /** What was written still goes out; a client that does not take it is cut in the end. */
  function leave(socket: TLSSocket): void {
    const visit = open.get(socket);
    if (visit) visit.isLeaving = true;
    socket.end();
  }

  function cutStuck(): void {
    for (const [socket, visit] of open) {
      const owed = socket.writableLength;
      const taken = visit.given - owed;
      const isStuck = (owed > 0 || visit.isLeaving) && taken === visit.taken;
      visit.stuckLooks = isStuck ? visit.stuckLooks + 1 : 0;
      visit.taken = taken;
      if (visit.stuckLooks >= (owed > 0 ? STUCK_LOOKS_MAX : PARTING_LOOKS_MAX)) socket.destroy();
    }
  }

  function passOn(outer: TLSSocket): void {
    clearTimeout(open.get(outer)?.handshake);
    // Half-open on both sides: who has said all may still be waiting for the answer.
    const inner: Socket = connect({ port: options.innerPort, host: LOOPBACK, allowHalfOpen: true }, () => {
      const { localPort } = inner;
      // Before the first byte is passed on, so that a request never comes without its client's address.
      if (localPort !== undefined) peers.set(localPort, outer.remoteAddress ?? "");
      inner.once("close", () => peers.delete(localPort ?? 0));
      outer.pipe(inner);
    });
    inner.on("data", (bytes: Buffer) => {
      const visit = open.get(outer);
      if (visit) visit.given += bytes.length;
      // In small pieces: what is on its way as one is taken as one, and a slow client would seem to take nothing.
      let hasRoom = true;
      for (let at = 0; at < bytes.length; at += PIECE_BYTES)
        hasRoom = outer.write(bytes.subarray(at, at + PIECE_BYTES));
      if (!hasRoom) inner.pause();
    });
    outer.on("drain", () => inner.resume());
    // At its end already: a client that never closes its side would keep both open for good.
    inner.once("end", () => leave(outer));
    inner.once("close", () => leave(outer));
    outer.once("close", () => inner.destroy());
    inner.on("error", () => outer.destroy());
  }

  const server = createServer({ ...options.tls, allowHalfOpen: true }, passOn);
  server.on("connection", (socket: TLSSocket) => {
    const handshake = setTimeout(() => socket.destroy(), HANDSHAKE_MAX_MS);
    open.set(socket, { handshake, isLeaving: false, given: 0, taken: 0, stuckLooks: 0 });
    socket.once("close", () => {
      clearTimeout(handshake);
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
  const looking = setInterval(cutStuck, LOOK_EVERY_MS);
  looking.unref();

  return {
    port: typeof address === "object" && address !== null ? address.port : options.port,
    replaceTls: (tls) => server.setSecureContext(tls),
    stopListening: () => void server.close(),
    async close(graceMs) {
      // Each connection ends by itself when the plain listener has closed its side and the last bytes are through.
      const sockets = [...open.keys()];
      const closed = sockets.map((socket) => new Promise((done) => socket.once("close", done)));
      await Promise.race([Promise.all(closed), Bun.sleep(graceMs)]);
      for (const socket of sockets) socket.destroy();
      clearInterval(looking);
    },
  };
}
