// What must be closed at the end, in the reverse order of opening.
import type { Log } from "../core/ports/log.ts";

export class Closers {
  readonly #closers: (() => Promise<unknown>)[] = [];

  add(close: () => Promise<unknown>): void {
    this.#closers.push(close);
  }

  /** Goes on after a failure, so that everything else is closed too. */
  async closeAll(log: Log): Promise<void> {
    for (const close of this.#closers.splice(0).reverse()) {
      await close().catch((error) => log.error({ err: error }, "something could not be closed in order"));
    }
  }
}
