// What instances tell each other about the game API, so that one asks and all know.
import type { Breaker } from "../breaker.ts";
import type { Budget } from "../budget.ts";
import type { ServerParts, UpstreamFailure } from "./upstream.ts";

/** What is known about calling for a server: remembered failures, the breaker, the last call. */
export type SharedStatus = {
  readonly keyRevision: number;
  /** `forMs` is null for a failure that is remembered until the server's key is replaced. */
  readonly remembered: {
    readonly failure: UpstreamFailure;
    readonly at: number;
    readonly forMs: number | null;
  } | null;
  readonly breaker: Breaker;
  readonly breakerFailure: UpstreamFailure | null;
  /** For callers that waited during the call. */
  readonly lastFailure: { readonly failure: UpstreamFailure; readonly at: number } | null;
  readonly lastCallAt: number;
};

export type SharedReading = {
  readonly parts: ServerParts;
  readonly fetchedAt: number;
  readonly keyRevision: number;
};

export type ShareLease = { readonly serverId: string; readonly token: string };

export type SharedNews = {
  readonly version: number;
  readonly status: SharedStatus | null;
  readonly reading: SharedReading | null;
};

export type Consultation = { readonly lease: ShareLease | null; readonly news: SharedNews | null };

/**
 * Every method throws StoreUnavailable when the other instances cannot be reached. Times are by the clock that all
 * instances share.
 */
export interface RelayShare {
  /**
   * Returns what is newer than `knownVersion`. When nothing is, returns the lease to call for this server, unless
   * another instance holds it. A lease ends by itself soon after its holder has died.
   */
  consult(serverId: string, knownVersion: number): Promise<Consultation>;
  /** Like `consult`, without asking for the lease. */
  peek(serverId: string, knownVersion: number): Promise<SharedNews | null>;
  /** Publishes and gives the lease back. Returns the new version, or 0 when the lease was lost: then nothing was published. */
  publish(lease: ShareLease, status: SharedStatus, reading: SharedReading | null): Promise<number>;
  /** Publishes what the result of a command has shown. */
  amend(serverId: string, status: SharedStatus): Promise<void>;
  /** Changes the shared budget as one atomic step. `change` returns undefined to leave it as it is. */
  changeBudget(change: (budget: Budget) => Budget | undefined): Promise<Budget>;
  /** The failure with which the game API refused the global key of this identity; null while the key may be used. */
  findGlobalKeyFailure(identity: string): Promise<UpstreamFailure | null>;
  saveGlobalKeyFailure(identity: string, failure: UpstreamFailure | null): Promise<void>;
}
