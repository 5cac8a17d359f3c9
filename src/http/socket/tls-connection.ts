// One TLS connection and the plain connection behind it: forwards the bytes of both until both are closed, and cuts clients
// that take no more of their answer.
import { connect, type Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { parseAddress } from "../../core/address.ts";

const LOOPBACK = "127.0.0.1";
/** The payload of one TLS record. */
const WRITE_BYTES_MAX = 16_384;
/** A client that took none of the bytes it was sent for this many checks in a row is cut. */
const STALLED_CHECKS_MAX = 4;
/** The same for a stream, whose reader may take nothing for 30 seconds. */
const STREAM_STALLED_CHECKS_MAX = 13;
/** The same for a client that was sent everything but does not close its side. */
const ENDING_CHECKS_MAX = 2;

/** The connections by the local port of their inner connection, by which the plain listener knows them. */
export type TlsPeers = Map<number, Pick<TlsConnection, "clientAddress" | "isStream">>;

export class TlsConnection {
  /** Whether it carries a stream. */
  isStream = false;
  readonly clientAddress: string;
  /** Resolves when the client's connection is closed. */
  readonly closed: Promise<void>;
  readonly #outer: TLSSocket;
  readonly #inner: Socket;
  /** Whether we have closed our side. */
  #isEnding = false;
  #bytesWritten = 0;
  /** How many of the bytes the client had taken at the last check. */
  #bytesTaken = 0;
  /** How many checks in a row it had taken none. */
  #stalledChecks = 0;

  /** Adds itself to `peers` until it is closed. */
  constructor(outer: TLSSocket, innerPort: number, peers: TlsPeers) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.closed = promise;
    this.clientAddress = outer.remoteAddress ?? "";
    this.#outer = outer;
    // Half-open on both sides: a client that has sent everything may still wait for the answer.
    this.#inner = connect({ port: innerPort, host: LOOPBACK, allowHalfOpen: true });
    this.#inner.once("connect", () => this.#forwardRequests(peers));
    this.#inner.on("data", (bytes: Buffer) => this.#forwardAnswer(bytes));
    // On "end" as well as "close": a client that never closes its side would keep both open.
    this.#inner.once("end", () => this.#end());
    this.#inner.once("close", () => this.#end());
    this.#inner.on("error", () => outer.destroy());
    outer.on("drain", () => this.#inner.resume());
    // Without a listener a broken connection would end the process.
    outer.on("error", () => outer.destroy());
    outer.once("close", () => {
      this.#inner.destroy();
      resolve();
    });
  }

  /** Address and port of the client. */
  get peer(): string {
    const { remoteAddress = "", remotePort } = this.#outer;
    return `${parseAddress(remoteAddress)} ${remotePort}`;
  }

  cut(): void {
    this.#outer.destroy();
  }

  /** Cuts the connection when the client has taken nothing for too many calls of this in a row. */
  cutIfStalled(): void {
    const unsent = this.#outer.writableLength;
    const taken = this.#bytesWritten - unsent;
    const isStalled = (unsent > 0 || this.#isEnding) && taken === this.#bytesTaken;
    this.#stalledChecks = isStalled ? this.#stalledChecks + 1 : 0;
    this.#bytesTaken = taken;
    const patience = this.isStream ? STREAM_STALLED_CHECKS_MAX : STALLED_CHECKS_MAX;
    if (this.#stalledChecks >= (unsent > 0 ? patience : ENDING_CHECKS_MAX)) this.cut();
  }

  #forwardRequests(peers: TlsPeers): void {
    const { localPort } = this.#inner;
    // Saved before the first byte is forwarded, so that no request arrives without its client's address.
    if (localPort !== undefined) {
      peers.set(localPort, this);
      this.#inner.once("close", () => peers.delete(localPort));
    }
    this.#outer.pipe(this.#inner);
  }

  #forwardAnswer(bytes: Buffer): void {
    this.#bytesWritten += bytes.length;
    // In small writes: a write counts as taken only when all of it is, so a slow client would seem to take nothing.
    let hasRoom = true;
    for (let at = 0; at < bytes.length; at += WRITE_BYTES_MAX)
      hasRoom = this.#outer.write(bytes.subarray(at, at + WRITE_BYTES_MAX));
    if (!hasRoom) this.#inner.pause();
  }

  /** Bytes already written still go out; a client that does not take them is cut by the stall check. */
  #end(): void {
    this.#isEnding = true;
    this.#outer.end();
  }
}
