// What instances share about the game API, so that one of them calls and all use the result.
import type { Breaker } from "../readings/breaker.ts";
import type { Budget } from "../readings/budget.ts";
import type { ServerParts, UpstreamFailure } from "./upstream.ts";

/** The state of the calls for one server: the cached failure, the circuit breaker and the last call. */
export type SharedStatus = {
  readonly keyRevision: number;
  /** A failure that is answered without a call. `forMs` is null when it is kept until the server's key is replaced. */
  readonly remembered: { readonly failure: UpstreamFailure; readonly at: number; readonly forMs: number | null } | null;
  readonly breaker: Breaker;
  readonly breakerFailure: UpstreamFailure | null;
  /** The result of the last call, for instances that waited for it; null when it succeeded. */
  readonly lastFailure: { readonly failure: UpstreamFailure; readonly at: number } | null;
  readonly lastCallAt: number;
};

export type SharedReading = { readonly parts: ServerParts; readonly fetchedAt: number; readonly keyRevision: number };

/** The right to call the game API for this server. `token` is the fencing token. */
export type ShareLease = { readonly serverId: string; readonly token: string };

export type SharedNews = {
  /** Increased by every `publish` and `amend`. */
  readonly version: number;
  readonly status: SharedStatus | null;
  readonly reading: SharedReading | null;
};

export type Consultation = { readonly lease: ShareLease | null; readonly news: SharedNews | null };

/**
 * Every method throws StoreUnavailable when the shared store cannot be reached. Times are by the clock that all instances
 * share.
 */
export interface RelayShare {
  /**
   * Returns the shared state if it is newer than `knownVersion`. Otherwise acquires the lease to call for this server,
   * unless another instance holds it. A lease expires soon after its holder has died.
   */
  consult(serverId: string, knownVersion: number): Promise<Consultation>;
  /** Like `consult`, without acquiring the lease. */
  peek(serverId: string, knownVersion: number): Promise<SharedNews | null>;
  /** Publishes the state and releases the lease. Returns the new version, or 0 when the lease was lost and nothing was published. */
  publish(lease: ShareLease, status: SharedStatus, reading: SharedReading | null): Promise<number>;
  /** Publishes a status that the result of a command has changed. Needs no lease. */
  amend(serverId: string, status: SharedStatus): Promise<void>;
  /** Changes the shared budget atomically and returns it. `change` may run several times; undefined means no change. */
  changeBudget(change: (budget: Budget) => Budget | undefined): Promise<Budget>;
}
