// How often an address may ask for public statuses. It has nothing to do with the limits of API keys.
import { networkOf } from "../../core/address.ts";
import { AttemptCounter } from "../../core/attempt-counter.ts";
import type { AttemptRule } from "../../core/attempt-limit.ts";
import { ERRORS, type Refusal, refuse } from "../../core/errors.ts";
import type { ErrorFields } from "../../core/wire/error.ts";

const STATUS_REQUESTS: AttemptRule = { max: 60, windowMs: 60_000 };
export const ASKING_ADDRESSES_MAX = 10_000;

export class AddressLimit {
  readonly #requests = new AttemptCounter(STATUS_REQUESTS, ASKING_ADDRESSES_MAX);

  get size(): number {
    return this.#requests.size;
  }

  /** Undefined when the address may ask. Refused requests are not counted. */
  judge(address: string, now: number): Refusal | undefined {
    const seconds = this.#requests.count(networkOf(address), now);
    if (seconds === undefined) return undefined;
    const fields: ErrorFields["addressLimited"] = { retry_after: seconds };
    return refuse(ERRORS.addressLimited, fields, { "Retry-After": String(seconds) });
  }
}
