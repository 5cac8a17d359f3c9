// A right that one of several instances holds: to watch the game servers, or to deliver to webhooks.

/** How long a lease lasts that is not renewed. */
export const INSTANCE_LEASE_MS = 5_000;

/** Every method throws StoreUnavailable when the shared store cannot be reached. */
export interface InstanceLease {
  /**
   * Takes the lease if nobody holds it, or renews it if this instance does. Returns whether this instance holds it now. It must
   * be called every second; the lease of an instance that has died ends after INSTANCE_LEASE_MS.
   */
  hold(): Promise<boolean>;
  /** Gives the lease up, if this instance holds it, so that another can take it at once. */
  release(): Promise<void>;
}
