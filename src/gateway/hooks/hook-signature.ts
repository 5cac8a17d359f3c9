// The signature of the game's webhooks: Ed25519 over the timestamp and the raw body, nothing between them.
import { createPublicKey, type KeyObject, verify } from "node:crypto";

/** A webhook whose timestamp is further away is refused. */
export const TIMESTAMP_TOLERANCE_MS = 300_000;
/** How many signatures are checked at a time, in threads of the runtime. Others wait. */
const CHECKS_MAX = 4;

/** A body of the game has a few hundred bytes. Larger ones of the same sender wait for smaller ones. */
const SMALL_BODY_BYTES = 8 * 1024;

const SIGNATURE_SHAPE = /^[0-9a-fA-F]{128}$/;
const TIMESTAMP_SHAPE = /^[0-9]{1,12}$/;

/** What the two headers say. `signature` is in lower case. */
export type SignedHeaders = { readonly timestamp: string; readonly signature: string };
export type HeaderFault = "headers" | "timestamp";

/** Cheap: judged before anything is computed. */
export function judgeHeaders(
  signature: string | null,
  timestamp: string | null,
  now: number,
): SignedHeaders | HeaderFault {
  if (signature === null || timestamp === null) return "headers";
  if (!SIGNATURE_SHAPE.test(signature) || !TIMESTAMP_SHAPE.test(timestamp)) return "headers";
  const isNear = Math.abs(Number(timestamp) * 1000 - now) <= TIMESTAMP_TOLERANCE_MS;
  return isNear ? { timestamp, signature: signature.toLowerCase() } : "timestamp";
}

type WaitingChecks = { readonly small: Set<() => void>; readonly large: Set<() => void> };

export class SignatureCheck {
  readonly #keys: readonly KeyObject[];
  /** Who waits for a check, by sender. The senders take turns, so that a flood of one keeps no other waiting. */
  readonly #waiting = new Map<string, WaitingChecks>();
  #checks = 0;

  /** Each as base64 of its SPKI form. A signature of any of them is valid. */
  constructor(publicKeys: readonly string[]) {
    this.#keys = publicKeys.map((key) =>
      createPublicKey({ key: Buffer.from(key, "base64"), format: "der", type: "spki" }),
    );
  }

  /** How many wait for their turn. */
  get waiting(): number {
    return this.#waiting.values().reduce((sum, waiting) => sum + sizeOf(waiting), 0);
  }

  /** "given up" when `givenUp` resolves before its turn comes. Nothing holds the body then. */
  async isValid(
    { timestamp, signature }: SignedHeaders,
    body: Uint8Array,
    sender: string,
    givenUp: Promise<"given up">,
  ): Promise<boolean | "given up"> {
    if (this.#checks < CHECKS_MAX) this.#checks++;
    else if ((await this.#waitForTurn(sender, body.length, givenUp)) === "given up") return "given up";
    try {
      const signed = Buffer.concat([Buffer.from(timestamp), body]);
      const bytes = Buffer.from(signature, "hex");
      for (const key of this.#keys) if (await verifyWith(key, signed, bytes)) return true;
      return false;
    } finally {
      this.#passTurn();
    }
  }

  async #waitForTurn(sender: string, bytes: number, givenUp: Promise<"given up">): Promise<"turn" | "given up"> {
    const { promise, resolve } = Promise.withResolvers<"turn">();
    const wake = () => resolve("turn");
    const waiting = this.#waiting.get(sender) ?? { small: new Set(), large: new Set() };
    const queue = bytes <= SMALL_BODY_BYTES ? waiting.small : waiting.large;
    queue.add(wake);
    this.#waiting.set(sender, waiting);
    const outcome = await Promise.race([promise, givenUp]);
    if (outcome === "turn") return outcome;
    // Woken and given up at the same time: the turn is the next one's.
    if (!queue.delete(wake)) this.#passTurn();
    else if (sizeOf(waiting) === 0) this.#waiting.delete(sender);
    return outcome;
  }

  /** To the sender who has waited longest for a turn; to nobody when nobody waits. */
  #passTurn(): void {
    const [first] = this.#waiting;
    if (!first) {
      this.#checks--;
      return;
    }
    const [sender, waiting] = first;
    const queue = waiting.small.size > 0 ? waiting.small : waiting.large;
    const [wake] = queue;
    if (wake) queue.delete(wake);
    this.#waiting.delete(sender);
    if (sizeOf(waiting) > 0) this.#waiting.set(sender, waiting);
    wake?.();
  }
}

function sizeOf({ small, large }: WaitingChecks): number {
  return small.size + large.size;
}

function verifyWith(key: KeyObject, signed: Uint8Array, signature: Uint8Array): Promise<boolean> {
  const { promise, resolve, reject } = Promise.withResolvers<boolean>();
  verify(null, signed, key, signature, (error, isValid) => {
    if (error) reject(error);
    else resolve(isValid);
  });
  return promise;
}
