// Addresses and address lists: IPv4, IPv6, ranges, and IPv4-mapped IPv6.
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createAddressList, parseAddress, parseAddressRange } from "./address.ts";

describe("an address", () => {
  test.each([
    ["1.2.3.4", "1.2.3.4"],
    ["255.255.255.255", "255.255.255.255"],
    [" 1.2.3.4 ", "1.2.3.4"],
    ["::1", "::1"],
    ["2001:DB8::A", "2001:db8::a"],
    ["fe80::1%eth0", "fe80::1"],
  ])("%p is %p", (text, address) => {
    expect(parseAddress(text)).toBe(address);
  });

  test.each([
    "::ffff:1.2.3.4",
    "::FFFF:1.2.3.4",
    "0:0:0:0:0:ffff:1.2.3.4",
    "0000:0000:0000:0000:0000:ffff:1.2.3.4",
    "0::ffff:1.2.3.4",
    "::0:ffff:1.2.3.4",
    "::ffff:102:304",
    "::ffff:0102:0304",
    "::FFFF:0102:0304",
    "0:0:0:0:0:ffff:102:304",
    "0000:0000:0000:0000:0000:ffff:0102:0304",
    "0::ffff:102:304",
    "::0:ffff:102:304",
    "0:0::ffff:102:304",
    "0:0:0:0::ffff:102:304",
  ])("%p is the IPv4 address 1.2.3.4", (text) => {
    expect(parseAddress(text)).toBe("1.2.3.4");
  });

  test.each([
    "::1.2.3.4",
    "::fffe:1.2.3.4",
    "1::ffff:1.2.3.4",
    "::ffff:0:1.2.3.4",
    "::ffff:0:102:304",
    "64:ff9b::1.2.3.4",
  ])("%p is not an IPv4-mapped address", (text) => {
    expect(parseAddress(text)).toContain(":");
  });

  test.each([
    "",
    " ",
    "localhost",
    "1.2.3",
    "1.2.3.4.5",
    "1.2.3.256",
    "01.2.3.4",
    "0x1.2.3.4",
    "1.2.3.4:80",
    "[::1]",
    "[::1]:80",
    ":",
    ":::",
    "1::2::3",
    "g::1",
    "12345::1",
    "1.2.3.4/32",
    "unknown",
    "1.2.3.4, 5.6.7.8",
  ])("%p is not valid", (text) => {
    expect(parseAddress(text)).toBeUndefined();
  });
});

describe("an entry of a list", () => {
  test.each([
    ["10.1.2.3", "10.1.2.3", 32],
    ["10.0.0.0/8", "10.0.0.0", 8],
    ["0.0.0.0/0", "0.0.0.0", 0],
    ["10.1.2.3/32", "10.1.2.3", 32],
    ["::1", "::1", 128],
    ["2001:db8::/32", "2001:db8::", 32],
    ["::ffff:10.0.0.0/104", "10.0.0.0", 8],
    ["::ffff:a00:0/104", "10.0.0.0", 8],
    ["::ffff:10.1.2.3", "10.1.2.3", 32],
    ["::ffff:10.1.2.3/128", "10.1.2.3", 32],
    ["::ffff:0.0.0.0/96", "0.0.0.0", 0],
  ])("%p is %p with a prefix of %p bits", (entry, address, prefix) => {
    expect(parseAddressRange(entry)).toEqual({ address, prefix });
  });

  test.each([
    "",
    "/",
    "/8",
    "10.0.0.0/",
    "10.0.0.0/33",
    "10.0.0.0/-1",
    "10.0.0.0/8/8",
    "10.0.0.0/8.5",
    "10.0.0.0/eight",
    "10.0.0.0/255.0.0.0",
    "10.0.0/8",
    "::/129",
    "::1/1000",
    "fe80::1%eth0/64",
    "example.org/8",
    "10.0.0.1-10.0.0.9",
    "*",
  ])("%p is not valid", (entry) => {
    expect(parseAddressRange(entry)).toBeUndefined();
  });
});

describe("a list", () => {
  test("an empty list has no members", () => {
    expect(createAddressList([]).has("1.2.3.4")).toBe(false);
  });

  test("an IPv4 entry contains the address in every spelling, and no neighbouring address", () => {
    const list = createAddressList(["10.1.2.3"]);
    for (const same of ["10.1.2.3", "::ffff:10.1.2.3", "::ffff:a01:203", " 10.1.2.3"]) {
      expect(list.has(same)).toBe(true);
    }
    for (const other of ["10.1.2.4", "10.1.2.2", "::ffff:10.1.2.4", "::10.1.2.3", "::1"]) {
      expect(list.has(other)).toBe(false);
    }
  });

  test("an IPv4-mapped entry contains the plain IPv4 address", () => {
    expect(createAddressList(["::ffff:10.1.2.3"]).has("10.1.2.3")).toBe(true);
    expect(createAddressList(["::ffff:a01:203"]).has("10.1.2.3")).toBe(true);
    const range = createAddressList(["::ffff:10.0.0.0/104"]);
    expect(["10.0.0.0", "10.255.255.255", "::ffff:10.9.9.9"].every(range.has)).toBe(true);
    expect(["9.255.255.255", "11.0.0.0"].some(range.has)).toBe(false);
  });

  test("a range contains its first and last address, and not the ones next to them", () => {
    const list = createAddressList(["192.168.4.0/22", "2001:db8:1::/48"]);
    expect(["192.168.4.0", "192.168.7.255"].every(list.has)).toBe(true);
    expect(["192.168.3.255", "192.168.8.0"].some(list.has)).toBe(false);
    expect(["2001:db8:1::", "2001:db8:1:ffff:ffff:ffff:ffff:ffff"].every(list.has)).toBe(true);
    expect(["2001:db8:0:ffff:ffff:ffff:ffff:ffff", "2001:db8:2::"].some(list.has)).toBe(false);
  });

  test("an IPv6 entry contains the address in every spelling", () => {
    const list = createAddressList(["2001:db8::1"]);
    expect(["2001:DB8::1", "2001:db8:0:0:0:0:0:1", "2001:0db8::0001"].every(list.has)).toBe(true);
    expect(list.has("2001:db8::2")).toBe(false);
  });

  test("every IPv4 address is in 0.0.0.0/0, and no IPv6 address is", () => {
    const list = createAddressList(["0.0.0.0/0"]);
    expect(["0.0.0.0", "127.0.0.1", "255.255.255.255"].every(list.has)).toBe(true);
    expect(["::1", "2001:db8::1"].some(list.has)).toBe(false);
  });

  test("no IPv4 address is in an IPv6 range, not even in ::/0", () => {
    const list = createAddressList(["::/0"]);
    expect(["::1", "2001:db8::1"].every(list.has)).toBe(true);
    expect(["127.0.0.1", "::ffff:10.1.2.3"].some(list.has)).toBe(false);
  });

  test("a text that is no address is in no list", () => {
    const list = createAddressList(["0.0.0.0/0", "::/0"]);
    expect(["", "unknown", "1.2.3", "1.2.3.4:80", "[::1]"].some(list.has)).toBe(false);
  });
});

const toDotted = (bits: number) => [24, 16, 8, 0].map((shift) => (bits >>> shift) & 255).join(".");
const toGroups = (bits: bigint) =>
  Array.from({ length: 8 }, (_, i) => ((bits >> BigInt(112 - 16 * i)) & 0xffffn).toString(16)).join(":");

/** Pairs with the same first bits, so that a range contains the second about as often as not. */
function nearby(bits: number): fc.Arbitrary<[bigint, bigint, number]> {
  const full = (1n << BigInt(bits)) - 1n;
  return fc
    .tuple(fc.bigInt(0n, full), fc.nat(bits), fc.nat(bits), fc.bigInt(0n, full))
    .map(([address, prefix, shared, noise]) => [address, address ^ (noise >> BigInt(shared)), prefix]);
}

const sharesPrefix = (a: bigint, b: bigint, prefix: number, bits: number) =>
  a >> BigInt(bits - prefix) === b >> BigInt(bits - prefix);

test("any IPv4 range contains the addresses that share its first bits, in every spelling", () => {
  fc.assert(
    fc.property(nearby(32), ([base, other, prefix]) => {
      const expected = sharesPrefix(base, other, prefix, 32);
      const address = toDotted(Number(other));
      const hex = `::ffff:${(other >> 16n).toString(16)}:${(other & 0xffffn).toString(16)}`;
      for (const entry of [`${toDotted(Number(base))}/${prefix}`, `::ffff:${toDotted(Number(base))}/${prefix + 96}`]) {
        const list = createAddressList([entry]);
        expect([list.has(address), list.has(`::ffff:${address}`), list.has(hex)]).toEqual([
          expected,
          expected,
          expected,
        ]);
      }
    }),
    { numRuns: 1_000 },
  );
});

test("any IPv6 range contains the addresses that share its first bits", () => {
  const isMapped = (bits: bigint) => bits >> 32n === 0xffffn;
  fc.assert(
    fc.property(nearby(128), ([base, other, prefix]) => {
      fc.pre(!isMapped(base) && !isMapped(other));
      const list = createAddressList([`${toGroups(base)}/${prefix}`]);
      expect(list.has(toGroups(other))).toBe(sharesPrefix(base, other, prefix, 128));
    }),
    { numRuns: 1_000 },
  );
});

test("no text makes the functions throw", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      parseAddressRange(text);
      return !createAddressList([text]).has(`x${text}`);
    }),
  );
});
