// Client addresses: parsing into a canonical form, and lists of addresses and CIDR ranges.
import { BlockList, isIP } from "node:net";

export type AddressList = { readonly has: (address: string) => boolean };

/** The address in canonical form: IPv4-mapped IPv6 becomes IPv4, a zone is removed. Undefined when it is no address. */
export function parseAddress(text: string): string | undefined {
  const address = text.trim().replace(/%.*$/, "");
  const version = isIP(address);
  if (version !== 6) return version === 4 ? address : undefined;
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1);
  return mappedIpv4(canonical) ?? canonical;
}

/** What a client is counted by: its IPv4 address, or the network of 64 bits that an IPv6 client usually has to itself. */
export function networkOf(address: string): string {
  if (!address.includes(":")) return address;
  const [head = "", tail] = address.split("::");
  const before = head === "" ? [] : head.split(":");
  const after = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - before.length - after.length);
  const groups = [...before, ...Array<string>(zeros).fill("0"), ...after];
  return `${groups.slice(0, 4).join(":")}::/64`;
}

/** Undefined when the entry is neither an address nor a CIDR range. */
export function parseAddressRange(entry: string): { address: string; prefix: number } | undefined {
  const match = /^([^/]+?)(?:\/(\d{1,3}))?$/.exec(entry.trim());
  const written = match?.[1];
  const address = written === undefined ? undefined : parseAddress(written);
  if (written === undefined || address === undefined || written.includes("%")) return undefined;
  const bits = isIP(address) === 4 ? 32 : 128;
  // The prefix of an IPv4-mapped range includes the 96 bits before the IPv4 part.
  const mappedBits = isIP(written) === 6 && bits === 32 ? 96 : 0;
  const prefix = match?.[2] === undefined ? bits : Number(match[2]) - mappedBits;
  return prefix >= 0 && prefix <= bits ? { address, prefix } : undefined;
}

export function createAddressList(entries: readonly string[]): AddressList {
  // Two lists, because in one an IPv6 range that covers ::ffff:0:0/96 would match every IPv4 address.
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() };
  for (const entry of entries) {
    const range = parseAddressRange(entry);
    if (!range) continue;
    const family = familyOf(range.address);
    lists[family].addSubnet(range.address, range.prefix, family);
  }
  return {
    has(address) {
      const canonical = parseAddress(address);
      if (canonical === undefined) return false;
      const family = familyOf(canonical);
      return lists[family].check(canonical, family);
    },
  };
}

function familyOf(address: string): "ipv4" | "ipv6" {
  return isIP(address) === 4 ? "ipv4" : "ipv6";
}

function mappedIpv4(canonical: string): string | undefined {
  const hex = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(canonical);
  if (!hex?.[1] || !hex[2]) return undefined;
  const high = Number.parseInt(hex[1], 16);
  const low = Number.parseInt(hex[2], 16);
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}
