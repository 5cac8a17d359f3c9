// Holds the lease for what one of several instances does for all: renews it, and tells when it was won or lost.
import type { InstanceLease } from "../../core/ports/instance-lease.ts";

/** How often the lease is renewed, or asked for. */
export const HOLD_EVERY_MS = 1_000;

export type LeaseListener = { readonly onWon: () => void; readonly onLost?: () => void };

export class LeaseHolder {
  #hasLease = false;
  #askedAt = Number.NEGATIVE_INFINITY;

  constructor(
    /** Undefined when this is the only instance, which needs no lease. */
    private readonly lease: InstanceLease | undefined,
    private readonly listener: LeaseListener,
  ) {}

  /** Whether this instance may act. It may go on while the lease is being renewed. */
  get isHeld(): boolean {
    return this.lease === undefined || this.#hasLease;
  }

  /** Renews the lease, or asks for it, unless that was done less than HOLD_EVERY_MS ago. Throws what the lease throws. */
  async keep(now: number): Promise<void> {
    if (!this.lease || Math.abs(now - this.#askedAt) < HOLD_EVERY_MS) return;
    this.#askedAt = now;
    const hadLease = this.#hasLease;
    // Without the shared store nobody has the lease: two instances would do the same.
    let hasLease = false;
    try {
      hasLease = await this.lease.hold();
    } finally {
      this.#hasLease = hasLease;
      if (hasLease && !hadLease) this.listener.onWon();
      if (hadLease && !hasLease) this.listener.onLost?.();
    }
  }

  /** Gives the lease up at a stop, so that another instance can take it at once. */
  async release(): Promise<void> {
    if (!this.#hasLease) return;
    this.#hasLease = false;
    await this.lease?.release();
  }
}
