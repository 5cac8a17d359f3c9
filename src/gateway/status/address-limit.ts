// How often an address may ask for public statuses. It has nothing to do with the limits of API keys.
import { networkOf } from "../../core/address.ts";
import { type AttemptRule, type Attempts, judgeAttempt } from "../../core/attempt-limit.ts";
import { ERRORS, type Refusal, refuse } from "../../core/errors.ts";
import { secondsUntil } from "../../core/rate-limit.ts";
import type { ErrorFields } from "../../core/wire/error.ts";

export const STATUS_REQUESTS: AttemptRule = { max: 60, windowMs: 60_000 };
/** Beyond this many, the address that was added first is dropped. */
export const ASKING_ADDRESSES_MAX = 10_000;

export class AddressLimit {
  readonly #requests = new Map<string, Attempts>();

  get size(): number {
    return this.#requests.size;
  }

  /** Undefined when the address may ask. Refused requests are not counted. */
  judge(address: string, now: number): Refusal | undefined {
    const network = networkOf(address);
    const known = this.#requests.get(network);
    const { attempts, allowedFrom } = judgeAttempt(known ?? [], now, STATUS_REQUESTS);
    if (!known && this.#requests.size >= ASKING_ADDRESSES_MAX) {
      const [first] = this.#requests.keys();
      if (first !== undefined) this.#requests.delete(first);
    }
    this.#requests.set(network, attempts);
    if (allowedFrom <= now) return undefined;
    const seconds = secondsUntil(allowedFrom, now);
    const fields: ErrorFields["addressLimited"] = { retry_after: seconds };
    return refuse(ERRORS.addressLimited, fields, { "Retry-After": String(seconds) });
  }
}
