// The address lists of keys: behind a proxy that is not trusted they are compared with the proxy's address.
import { createAddressList } from "../core/address.ts";
import type { KeyAddresses } from "../database/store/inspect-store.ts";
import { type Finding, reportAs } from "./finding.ts";

const { ok, skip, warn } = reportAs("address lists");
const LABELS_MAX = 3;
const LOOPBACK = ["127.0.0.1", "::1"];

export type AddressListFacts = {
  /** The keys with an address list; undefined when they could not be read. */
  readonly keys: readonly KeyAddresses[] | undefined;
  readonly trustProxy: readonly string[];
  /** The host that Gatehouse listens on. */
  readonly host: string;
};

export function judgeAddressLists({ keys, trustProxy, host }: AddressListFacts): Finding[] {
  if (!keys) return skip("Not checked: the keys are not in a database that can be read here.");
  if (keys.length === 0) return skip("No key has an address list.");
  if (trustProxy.length > 0) {
    return ok(`${countKeys(keys.length)} an address list; X-Forwarded-For of ${trustProxy.join(", ")} is believed.`);
  }
  const isOpenToLoopback = ({ addresses }: KeyAddresses) => {
    const list = createAddressList(addresses);
    return LOOPBACK.some((address) => list.has(address));
  };
  const open = keys.filter(isOpenToLoopback);
  if (open.length > 0) {
    return warn(
      `${nameKeys(open)} may be used from this machine's own address, and no proxy is trusted: behind a proxy on this machine that is everybody's address.`,
      "If there is such a proxy, name it in GATEHOUSE_TRUST_PROXY. Otherwise all is well.",
    );
  }
  if (!LOOPBACK.includes(host) && host !== "localhost") {
    return ok(`${countKeys(keys.length)} an address list, compared with the address that connects.`);
  }
  return warn(
    `${nameKeys(keys)} may be used from other addresses only, but Gatehouse listens on ${host} and trusts no proxy: the lists match nobody.`,
    "Name the proxy in GATEHOUSE_TRUST_PROXY, or let Gatehouse listen on another address.",
  );
}

function countKeys(count: number): string {
  return count === 1 ? "1 key has" : `${count} keys have`;
}

function nameKeys(keys: readonly KeyAddresses[]): string {
  const labels = keys.slice(0, LABELS_MAX).map(({ label }) => `"${label}"`);
  const more = keys.length - labels.length;
  return `${keys.length === 1 ? "The key" : "The keys"} ${labels.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
