// The rests of a job between its steps.

/** A rest that a stop cuts short. */
export class Rest {
  #isOver = false;
  #wake = () => {};

  /** Resolves with `sleep`, or when there are no more rests. */
  async take(sleep: Promise<void>): Promise<void> {
    if (this.#isOver) return;
    // A promise for this rest alone: one that lasts would remember every race that it took part in.
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    await Promise.race([sleep, promise]);
  }

  /** Ends this rest and all later ones. */
  end(): void {
    this.#isOver = true;
    this.#wake();
  }
}
