// The deadline of one exchange. It ends also what does not listen to an AbortSignal, such as a fetch of the caller's own.

export class DeadlineExceeded extends Error {
  override name = "DeadlineExceeded";
}

export class Deadline {
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #reject: ((reason: unknown) => void) | undefined;
  readonly #onAbort = () => this.abort(this.#outer?.reason);

  /** `outer` is the caller's signal. */
  constructor(outer: AbortSignal | undefined) {
    this.#outer = outer;
    if (outer?.aborted) this.abort(outer.reason);
    else outer?.addEventListener("abort", this.#onAbort);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Waits for `work`, one at a time. Throws DeadlineExceeded when it takes longer, and the reason of an abort. */
  within<T>(ms: number, work: Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#reject = reject;
      if (this.signal.aborted) reject(this.signal.reason);
      else this.#timer = setTimeout(() => this.abort(new DeadlineExceeded(`nothing came for ${ms} ms`)), ms);
      work.then(resolve, reject).finally(() => clearTimeout(this.#timer));
    });
  }

  /** Ends whatever is waited for. */
  abort(reason: unknown): void {
    clearTimeout(this.#timer);
    this.#controller.abort(reason);
    this.#reject?.(this.signal.reason);
  }

  /** Ends the exchange, and lets go of the caller's signal. */
  close(): void {
    this.#outer?.removeEventListener("abort", this.#onAbort);
    this.abort(new DOMException("the exchange is over", "AbortError"));
  }
}
