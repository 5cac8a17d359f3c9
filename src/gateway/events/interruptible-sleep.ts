// How a background job sleeps between its steps.

/** Sleeps that a stop cuts short. */
export class InterruptibleSleep {
  #isStopped = false;
  #wake = () => {};

  /** Resolves with `sleep`, or at once when the job stops. */
  async wait(sleep: Promise<void>): Promise<void> {
    if (this.#isStopped) return;
    // A promise for this sleep alone: one that lasts would remember every race that it took part in.
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    await Promise.race([sleep, promise]);
  }

  /** Ends this sleep and all later ones. */
  stop(): void {
    this.#isStopped = true;
    this.#wake();
  }
}
