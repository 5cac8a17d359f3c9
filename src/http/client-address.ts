// The client's address. X-Forwarded-For is believed only as far as trusted proxies wrote it.
import { type AddressList, parseAddress } from "../core/address.ts";
import type { Call } from "./call.ts";

/** The peer's address; behind a trusted proxy, the last address in X-Forwarded-For that is not a trusted proxy's. */
export function findClientAddress(call: Call, trusted: AddressList): string {
  const peer = parseAddress(call.peerAddress) ?? "";
  if (!trusted.has(peer)) return peer;
  const hops = (call.request.headers.get("x-forwarded-for") ?? "").split(",").reverse();
  let client = peer;
  for (const hop of hops) {
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
