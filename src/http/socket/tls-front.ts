// Terminates TLS in front of a plain listener of our own and forwards the bytes. It is separate from that listener so that
// the certificate can be replaced, and new connections refused, while open connections go on.
import { createServer, type Server, type TLSSocket } from "node:tls";
import type { OpenConnection } from "./listening-socket.ts";
import { TlsConnection, type TlsPeers } from "./tls-connection.ts";

/** Close connections whose TLS handshake takes longer: real clients finish in well under a second. */
const HANDSHAKE_MAX_MS = 3_000;
const STALL_CHECK_MS = 2_500;

export type TlsFiles = { readonly cert: string; readonly key: string };

export type TlsFrontOptions = {
  readonly host: string;
  readonly port: number;
  readonly tls: TlsFiles;
  readonly innerPort: number;
  /** Filled with the open connections. */
  readonly peers: TlsPeers;
};

export class TlsFront {
  readonly #options: TlsFrontOptions;
  readonly #server: Server;
  readonly #connections = new Set<TlsConnection>();
  #stallChecks: ReturnType<typeof setInterval> | undefined;

  /** Resolves when it listens. */
  static async open(options: TlsFrontOptions): Promise<TlsFront> {
    const front = new TlsFront(options);
    await front.#listen();
    return front;
  }

  private constructor(options: TlsFrontOptions) {
    this.#options = options;
    const settings = { ...options.tls, allowHalfOpen: true, handshakeTimeout: HANDSHAKE_MAX_MS };
    this.#server = createServer(settings, (socket) => this.#accept(socket));
    // Also emitted when a handshake takes too long; the runtime leaves closing the connection to us.
    this.#server.on("tlsClientError", (_error, socket) => socket.destroy());
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === "object" && address !== null ? address.port : this.#options.port;
  }

  get address(): string {
    const address = this.#server.address();
    return typeof address === "object" && address !== null ? address.address : this.#options.host;
  }

  /** New connections get this certificate; open ones keep theirs. Throws when it cannot be used. */
  replaceTls(tls: TlsFiles): void {
    this.#server.setSecureContext(tls);
  }

  /** No new connections; the open ones go on. */
  stopListening(): void {
    this.#server.close();
  }

  cut(connections: readonly OpenConnection[]): void {
    const ports = new Set(connections.map(({ peer, peerPort }) => `${peer} ${peerPort}`));
    for (const connection of this.#connections) if (ports.has(connection.peer)) connection.cut();
  }

  /** Resolves when the last connection is closed, or cuts those that are still open after `graceMs`. */
  async close(graceMs: number): Promise<void> {
    // Each connection ends by itself once the plain listener has closed its side and the last bytes are sent.
    const open = [...this.#connections];
    await Promise.race([Promise.all(open.map(({ closed }) => closed)), Bun.sleep(graceMs)]);
    for (const connection of open) connection.cut();
    clearInterval(this.#stallChecks);
  }

  async #listen(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#server.on("error", reject);
    this.#server.listen(this.#options.port, this.#options.host, () => resolve());
    await promise;
    this.#stallChecks = setInterval(() => this.#cutStalled(), STALL_CHECK_MS);
    this.#stallChecks.unref();
  }

  /** Called when a handshake is complete. */
  #accept(socket: TLSSocket): void {
    const { innerPort, peers } = this.#options;
    const connection = new TlsConnection(socket, innerPort, peers);
    this.#connections.add(connection);
    void connection.closed.then(() => this.#connections.delete(connection));
  }

  #cutStalled(): void {
    for (const connection of this.#connections) connection.cutIfStalled();
  }
}
