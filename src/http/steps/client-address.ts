// The client's address. X-Forwarded-For is believed only as far as trusted proxies wrote it.
import { type AddressList, parseAddress } from "../../core/address.ts";
import { HOUR_MS } from "../../core/durations.ts";
import type { NoticeFacts } from "../../core/notices.ts";
import type { Log } from "../../core/ports/log.ts";
import { createThrottle } from "../../core/throttle.ts";
import type { Call } from "../call.ts";

/** No chain of proxies is longer. What is left of these entries is not looked at. */
export const HOPS_MAX = 100;

/** The peer's address; behind a trusted proxy, the last address in X-Forwarded-For that is not a trusted proxy's. */
export function findClientAddress(call: Call, trusted: AddressList): string {
  const peer = parseAddress(call.peerAddress) ?? "";
  if (!trusted.has(peer)) return peer;
  const hops = call.request.headers.get("x-forwarded-for") ?? "";
  let client = peer;
  // From the right, one by one: what is left of the client was written by the client and may be very long.
  for (let end = hops.length, looked = 0; end >= 0 && looked < HOPS_MAX; looked++) {
    const comma = end === 0 ? -1 : hops.lastIndexOf(",", end - 1);
    const hop = hops.slice(comma + 1, end);
    end = comma;
    // An empty element of a list says nothing.
    if (hop.trim() === "") continue;
    const address = parseAddress(withoutPort(hop));
    // A trusted proxy writes only addresses, so neither this entry nor those left of it can be believed.
    if (address === undefined) break;
    client = address;
    if (!trusted.has(address)) break;
  }
  return client;
}

/** Some proxies write 203.0.113.7:1234 or [2001:db8::1]:1234. */
function withoutPort(hop: string): string {
  const match = /^\s*(?:\[([^\]]+)\]|(\d+\.\d+\.\d+\.\d+))(?::\d+)?\s*$/.exec(hop);
  return match?.[1] ?? match?.[2] ?? hop;
}

/** How often it is logged, and how long operators are told after the last such request. */
const TOLD_MS = HOUR_MS;

/**
 * Notices a proxy that GATEHOUSE_TRUST_PROXY does not name while keys with address lists are in use: their lists are then
 * compared with the proxy's address, which is the same for everybody.
 */
export class UntrustedProxyNotice {
  readonly #throttle = createThrottle(TOLD_MS);
  /** The peer of the last such request. */
  #seen: { readonly address: string; readonly at: number } | undefined;

  constructor(
    private readonly trusted: AddressList,
    private readonly log: Log,
  ) {}

  /** To be called for requests of keys with an address list. */
  check(call: Call): void {
    if (!call.request.headers.has("x-forwarded-for")) return;
    const address = parseAddress(call.peerAddress);
    if (address === undefined || this.trusted.has(address)) return;
    this.#seen = { address, at: call.now };
    this.#throttle(call.now, (unlogged) => {
      this.log.warn({ address, unlogged }, "a proxy that is not trusted forwards requests of keys with address lists");
    });
  }

  listNotices(now: number): NoticeFacts[] {
    if (!this.#seen || Math.abs(now - this.#seen.at) > TOLD_MS) return [];
    return [{ code: "untrusted_proxy", address: this.#seen.address }];
  }
}
