// The public port: listening, pausing so that connections are really refused, and listening again on the same port.
import { createServer, type RequestListener, type Server } from "node:http";

const RETRY_MS = 100;
// Longer than any client keeps an idle connection, so that it is never we who cut a connection in use.
const KEEP_ALIVE_MS = 75_000;

export type Listener = {
  readonly port: number;
  /** Refuses every connection for so long; the open ones are closed. */
  pause(ms: number): void;
  /** Ends a pause early. */
  resume(): Promise<void>;
  close(): Promise<void>;
};

export async function openListener(
  handle: RequestListener,
  host: string,
  wantedPort: number,
): Promise<Listener> {
  // node:http rather than Bun.serve: only it can reset a connection, or promise more bytes than it sends.
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, handle);
  const port = await listen(server, host, wantedPort);
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isClosed = false;

  async function resume(): Promise<void> {
    if (timer === undefined) return;
    clearTimeout(timer);
    timer = undefined;
    try {
      if (!isClosed) await listen(server, host, port);
    } catch {
      // Somebody else took the port meanwhile: keep trying, for callers know no other.
      scheduleResume(RETRY_MS);
    }
  }

  function scheduleResume(ms: number): void {
    timer = setTimeout(() => void resume(), ms);
  }

  function stopListening(): void {
    server.close();
    server.closeAllConnections();
  }

  return {
    port,
    pause(ms) {
      if (timer === undefined) stopListening();
      else clearTimeout(timer);
      scheduleResume(ms);
    },
    resume,
    async close() {
      if (isClosed) return;
      isClosed = true;
      clearTimeout(timer);
      if (timer === undefined) stopListening();
    },
  };
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
