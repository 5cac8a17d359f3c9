// The bodies of unauthenticated requests that are held in memory at a time. When there are too many bytes, the oldest body is given
// up: real senders send theirs at once, so it is the slow ones that lose.
import type { ByteHold } from "./body-bytes.ts";

export const HELD_BYTES_MAX = 16 * 1024 * 1024;
/** What a request costs beside its body. */
const REQUEST_BYTES = 4_096;

type Held = { bytes: number; readonly giveUp: () => void };

/** `release` must be called when the body is not needed any more. */
export type HeldBody = ByteHold & { release(): void };

export class HeldBodies {
  readonly #held = new Set<Held>();
  readonly #bytesMax: number;
  #bytes = 0;

  constructor(bytesMax = HELD_BYTES_MAX) {
    this.#bytesMax = bytesMax;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get bytesMax(): number {
    return this.#bytesMax;
  }

  open(): HeldBody {
    const { promise, resolve } = Promise.withResolvers<"given up">();
    const held: Held = { bytes: 0, giveUp: () => resolve("given up") };
    this.#held.add(held);
    this.#take(held, REQUEST_BYTES);
    return {
      givenUp: promise,
      take: (bytes) => this.#take(held, bytes),
      release: () => this.#release(held),
    };
  }

  #take(held: Held, bytes: number): void {
    if (!this.#held.has(held)) return;
    held.bytes += bytes;
    this.#bytes += bytes;
    for (const oldest of this.#held) {
      if (this.#bytes <= this.#bytesMax) return;
      this.#release(oldest);
      oldest.giveUp();
    }
  }

  #release(held: Held): void {
    if (this.#held.delete(held)) this.#bytes -= held.bytes;
  }
}
