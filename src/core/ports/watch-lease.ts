// The right to watch, which one of several instances holds.

/** How long a lease lasts that is not renewed. */
export const WATCH_LEASE_MS = 5_000;

/** Every method throws StoreUnavailable when the shared store cannot be reached. */
export interface WatchLease {
  /**
   * Takes the lease if nobody holds it, or renews it if this instance does. Returns whether this instance holds it now. It must
   * be called every second; the lease of an instance that has died ends after WATCH_LEASE_MS.
   */
  hold(): Promise<boolean>;
  /** Gives the lease up, if this instance holds it, so that another can take it at once. */
  release(): Promise<void>;
}
