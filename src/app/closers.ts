// Closes everything that was opened, in reverse order.
import type { Log } from "../core/ports/log.ts";

export class Closers {
  readonly #closers: (() => Promise<unknown>)[] = [];

  add(close: () => Promise<unknown>): void {
    this.#closers.push(close);
  }

  /** A failure is logged and does not keep the others from being closed. */
  async closeAll(log: Log): Promise<void> {
    for (const close of this.#closers.splice(0).reverse()) {
      await close().catch((error) => log.error({ err: error }, "closing failed"));
    }
  }
}
