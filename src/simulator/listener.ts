// The listening port. It can pause, so that connections are really refused, and then listens again on the same port.
import { createServer, type RequestListener, type Server } from "node:http";

const RETRY_MS = 100;
// Longer than clients keep idle connections, so that the simulator never closes a connection that a client reuses.
const KEEP_ALIVE_MS = 75_000;

export class Listener {
  readonly port: number;
  readonly #server: Server;
  readonly #host: string;
  /** Set during a pause. */
  #resumeTimer: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  private constructor(server: Server, host: string, port: number) {
    this.#server = server;
    this.#host = host;
    this.port = port;
  }

  /** Port 0 picks a free one. */
  static async open(handle: RequestListener, host: string, port: number): Promise<Listener> {
    // node:http rather than Bun.serve: only it can reset a connection or announce more bytes than it sends.
    const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, handle);
    return new Listener(server, host, await listen(server, host, port));
  }

  /** Closes all connections and refuses new ones for this long. */
  pause(ms: number): void {
    if (this.#resumeTimer === undefined) this.#stopListening();
    else clearTimeout(this.#resumeTimer);
    this.#scheduleResume(ms);
  }

  /** Ends a pause early. */
  async resume(): Promise<void> {
    if (this.#resumeTimer === undefined) return;
    clearTimeout(this.#resumeTimer);
    this.#resumeTimer = undefined;
    try {
      if (!this.#isClosed) await listen(this.#server, this.#host, this.port);
    } catch {
      // Another process has taken the port meanwhile. Retry, because clients know no other port.
      this.#scheduleResume(RETRY_MS);
    }
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#resumeTimer);
    if (this.#resumeTimer === undefined) this.#stopListening();
  }

  #scheduleResume(ms: number): void {
    this.#resumeTimer = setTimeout(() => void this.resume(), ms);
  }

  #stopListening(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

function listen(server: Server, host: string, port: number): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const fail = (error: Error) => reject(error);
  server.once("error", fail);
  server.listen(port, host, () => {
    server.off("error", fail);
    const address = server.address();
    if (typeof address === "object" && address !== null) resolve(address.port);
    else reject(new Error("the listener has no port"));
  });
  return promise;
}
