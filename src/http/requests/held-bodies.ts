// The bodies of unauthenticated requests that are held in memory at a time. When there are too many bytes, whoever holds the most
// loses the oldest body: real senders send theirs at once, so a flood pushes out itself, and its slow requests first.
import type { ByteHold } from "./body-bytes.ts";

export const HELD_BYTES_MAX = 16 * 1024 * 1024;
/** What a request costs beside its body. */
const REQUEST_BYTES = 4_096;

type Held = { bytes: number; readonly giveUp: () => void };
type Sender = { readonly name: string; bytes: number; readonly held: Set<Held> };

/** `release` must be called when the body is not needed any more. */
export type HeldBody = ByteHold & { release(): void };

export class HeldBodies {
  /** Those who hold something. */
  readonly #senders = new Map<string, Sender>();
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

  /** `name`: what the sender is counted by. */
  open(name: string): HeldBody {
    const { promise, resolve } = Promise.withResolvers<"given up">();
    const sender = this.#senders.get(name) ?? { name, bytes: 0, held: new Set() };
    const held: Held = { bytes: 0, giveUp: () => resolve("given up") };
    this.#senders.set(name, sender);
    sender.held.add(held);
    this.#take(sender, held, REQUEST_BYTES);
    return {
      givenUp: promise,
      take: (bytes) => this.#take(sender, held, bytes),
      release: () => this.#release(sender, held),
    };
  }

  #take(sender: Sender, held: Held, bytes: number): void {
    if (!sender.held.has(held)) return;
    held.bytes += bytes;
    sender.bytes += bytes;
    this.#bytes += bytes;
    while (this.#bytes > this.#bytesMax) this.#giveUpOldest(this.#findLargest(sender));
  }

  #findLargest(first: Sender): Sender {
    let largest = first;
    for (const sender of this.#senders.values()) if (sender.bytes > largest.bytes) largest = sender;
    return largest;
  }

  #giveUpOldest(sender: Sender): void {
    const [oldest] = sender.held;
    if (!oldest) return;
    this.#release(sender, oldest);
    oldest.giveUp();
  }

  #release(sender: Sender, held: Held): void {
    if (!sender.held.delete(held)) return;
    sender.bytes -= held.bytes;
    this.#bytes -= held.bytes;
    if (sender.held.size === 0) this.#senders.delete(sender.name);
  }
}
