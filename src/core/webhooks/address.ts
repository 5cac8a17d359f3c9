// Where a webhook may send: the rules for its url and for every address that its host resolves to.
import { BlockList, isIP } from "node:net";
import type { FieldReason } from "../errors.ts";
import { WEBHOOK_URL_LENGTH_MAX } from "./webhook.ts";

/** IPv4 addresses that are not reachable from everywhere, by the IANA registry of special-purpose addresses. */
const NOT_PUBLIC_IPV4: readonly string[] = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
];
/** All public IPv6 addresses are in here. Loopback, IPv4-mapped, NAT64, private, link-local and multicast are outside. */
const GLOBAL_UNICAST_IPV6: readonly string[] = ["2000::/3"];
/** The parts of it that are not: protocol assignments with Teredo, documentation, and 6to4, which embeds an IPv4 address. */
const NOT_PUBLIC_IPV6: readonly string[] = ["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"];

const notPublicIpv4 = createBlockList(NOT_PUBLIC_IPV4, "ipv4");
const globalUnicastIpv6 = createBlockList(GLOBAL_UNICAST_IPV6, "ipv6");
const notPublicIpv6 = createBlockList(NOT_PUBLIC_IPV6, "ipv6");

/** Each completes the sentence "the url …". None quotes the url, which is a secret. */
const PROBLEMS = {
  url_long: `must have at most ${WEBHOOK_URL_LENGTH_MAX} characters`,
  url_spaces: "must have no spaces and no control characters",
  url_https: "must be an https:// address",
  url_user: "must have no user and no password",
  url_host: "must have a valid host name",
  url_private: "must not be a private address",
} as const;

export type ParsedWebhookUrl = { readonly url: URL } | { readonly problem: FieldReason };

/**
 * Judges what can be judged without resolving a name. `allowsPrivate` permits http and addresses that are not public.
 * A host name is accepted whatever it resolves to: that is checked at every attempt.
 */
export function parseWebhookUrl(text: string, allowsPrivate: boolean): ParsedWebhookUrl {
  if (text.length > WEBHOOK_URL_LENGTH_MAX) return refuseUrl("url_long");
  // A URL parser drops them silently, so that another address than the one that was read would be used.
  if (/[\s\p{Cc}]/u.test(text)) return refuseUrl("url_spaces");
  const url = URL.parse(text);
  if (!url) return refuseUrl("url_https");
  const isSecure = url.protocol === "https:";
  if (!isSecure && !(allowsPrivate && url.protocol === "http:")) return refuseUrl("url_https");
  if (url.username !== "" || url.password !== "") return refuseUrl("url_user");
  if (hasEmptyLabel(url.hostname)) return refuseUrl("url_host");
  const address = findAddressLiteral(url);
  if (address !== undefined && !allowsPrivate && !isPublicAddress(address)) return refuseUrl("url_private");
  return { url };
}

function refuseUrl(code: keyof typeof PROBLEMS): ParsedWebhookUrl {
  return { problem: { code, text: PROBLEMS[code] } };
}

/** The address in the url, without brackets; undefined when its host is a name. */
export function findAddressLiteral({ hostname }: URL): string | undefined {
  const address = hostname.replace(/^\[(.*)\]$/, "$1");
  return isIP(address) === 0 ? undefined : address;
}

/** False for anything that is not an address in the usual notation, and for an address with a zone. */
export function isPublicAddress(address: string): boolean {
  const version = isIP(address);
  if (version === 4) return !notPublicIpv4.check(address, "ipv4");
  if (version !== 6 || address.includes("%")) return false;
  return globalUnicastIpv6.check(address, "ipv6") && !notPublicIpv6.check(address, "ipv6");
}

/** What may be shown, logged and audited: the url up to its host and first path segment. */
export function showUrl({ protocol, host, pathname }: URL): string {
  const [, first = ""] = pathname.split("/");
  return first === "" ? `${protocol}//${host}` : `${protocol}//${host}/${first}`;
}

/** Resolvers disagree about names such as `127.0.0.1..`. One dot at the end is usual. */
function hasEmptyLabel(hostname: string): boolean {
  return hostname === "" || hostname === "." || hostname.startsWith(".") || hostname.includes("..");
}

function createBlockList(ranges: readonly string[], family: "ipv4" | "ipv6"): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = "", prefix = ""] = range.split("/");
    list.addSubnet(address, Number(prefix), family);
  }
  return list;
}
