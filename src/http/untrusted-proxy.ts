// Notices a proxy that GATEHOUSE_TRUST_PROXY does not name while keys with address lists are in use: their lists are then
// compared with the proxy's address, which is the same for everybody.
import { type AddressList, parseAddress } from "../core/address.ts";
import { HOUR_MS } from "../core/durations.ts";
import type { Log } from "../core/ports/log.ts";
import { createThrottle } from "../core/throttle.ts";
import type { Call } from "./call.ts";

/** How often it is logged, and how long operators are told after the last such request. */
const TOLD_MS = HOUR_MS;

export class UntrustedProxyNotice {
  readonly #trusted: AddressList;
  readonly #log: Log;
  readonly #throttle = createThrottle(TOLD_MS);
  /** The peer of the last such request. */
  #seen: { readonly address: string; readonly at: number } | undefined;

  constructor(trusted: AddressList, log: Log) {
    this.#trusted = trusted;
    this.#log = log;
  }

  /** To be called for requests of keys with an address list. */
  check(call: Call): void {
    if (!call.request.headers.has("x-forwarded-for")) return;
    const address = parseAddress(call.peerAddress);
    if (address === undefined || this.#trusted.has(address)) return;
    this.#seen = { address, at: call.now };
    this.#throttle(call.now, (unlogged) => {
      this.#log.warn(
        { address, unlogged },
        "a proxy that is not trusted forwards requests of keys with address lists",
      );
    });
  }

  listNotices(now: number): string[] {
    if (!this.#seen || Math.abs(now - this.#seen.at) > TOLD_MS) return [];
    const { address } = this.#seen;
    return [
      `Requests of keys with address lists come with X-Forwarded-For from ${address}, which GATEHOUSE_TRUST_PROXY does not name: the lists are compared with ${address}. If it is your proxy, name it.`,
    ];
  }
}
