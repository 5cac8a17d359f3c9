// Listeners that get every new reading. They run after the callers have their answer, and cannot delay it or make it fail.
import { StoreUnavailable } from "../../core/errors.ts";
import type { Log } from "../../core/ports/log.ts";
import type { KeptContent, ServerContent, ServerParts, UpstreamFailure } from "../../core/ports/upstream.ts";
import { createThrottle } from "../../core/throttle.ts";

const FAULT_LOG_MS = 60_000;

/** One successful call to the game API. */
export type NewReading = {
  readonly serverId: string;
  readonly parts: ServerParts;
  readonly content: ServerContent | KeptContent;
  /** The part of the server key that names the game server. */
  readonly gameServer: string;
  readonly fetchedAt: number;
};

/** One call to the game API that failed. */
export type FailedReading = {
  readonly serverId: string;
  readonly failure: UpstreamFailure;
  readonly gameServer: string;
  readonly at: number;
};

export type ReadingListener = (reading: NewReading) => Promise<void>;
export type FailureListener = (failed: FailedReading) => void;

type Entry = {
  readonly purpose: string;
  readonly listen: ReadingListener;
  readonly throttleLog: ReturnType<typeof createThrottle>;
};

export class ReadingListeners {
  readonly #entries: Entry[] = [];
  readonly #failureListeners: FailureListener[] = [];

  constructor(private readonly log: Log) {}

  /** `purpose` names the listener in the log, as in "confirming commands". */
  add(purpose: string, listen: ReadingListener): void {
    this.#entries.push({ purpose, listen, throttleLog: createThrottle(FAULT_LOG_MS) });
  }

  /** `listen` must not throw. */
  addForFailures(listen: FailureListener): void {
    this.#failureListeners.push(listen);
  }

  notifyFailure(failed: FailedReading): void {
    for (const listen of this.#failureListeners) setImmediate(() => listen(failed));
  }

  notify(reading: NewReading): void {
    for (const entry of this.#entries) setImmediate(() => void this.#run(entry, reading));
  }

  async #run({ purpose, listen, throttleLog }: Entry, reading: NewReading): Promise<void> {
    try {
      await listen(reading);
    } catch (error) {
      // An unavailable store is logged already, where requests fail because of it.
      if (error instanceof StoreUnavailable) return;
      throttleLog(reading.fetchedAt, (unlogged) => {
        const fields = { err: error, server_id: reading.serverId, unlogged };
        this.log.warn(fields, `a reading could not be used for ${purpose}`);
      });
    }
  }
}
