// The client's address. X-Forwarded-For is believed exactly as far as trusted proxies wrote it.
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createAddressList } from "../../core/address.ts";
import { Call, type Connection } from "../call.ts";
import { Target } from "../requests/target.ts";
import { findClientAddress } from "./client-address.ts";

function callFrom(peer: string | null, forwardedFor?: string): Call {
  const headers = new Headers(forwardedFor === undefined ? {} : { "X-Forwarded-For": forwardedFor });
  const requestIP = () => (peer === null ? null : { address: peer, port: 1, family: "IPv4" });
  const server = { requestIP } as unknown as Connection;
  return new Call(new Request("http://h/", { headers }), new Target(undefined, "/", ""), server, () => 0);
}

const TRUSTED = createAddressList(["10.0.0.0/8", "2001:db8::1"]);
const findAddress = (call: Call) => findClientAddress(call, TRUSTED);

describe("without a trusted peer", () => {
  test("the client is the peer", () => {
    expect(findAddress(callFrom("203.0.113.9"))).toBe("203.0.113.9");
  });
  test("X-Forwarded-For of a peer that is not trusted is not believed", () => {
    expect(findAddress(callFrom("203.0.113.9", "10.0.0.1"))).toBe("203.0.113.9");
    expect(findAddress(callFrom("203.0.113.9", "198.51.100.1, 10.0.0.1"))).toBe("203.0.113.9");
  });
  test("nobody is trusted when no proxies are configured", () => {
    expect(findClientAddress(callFrom("127.0.0.1", "198.51.100.1"), createAddressList([]))).toBe("127.0.0.1");
  });
  test("a peer that is gone has no address, whatever it forwarded", () => {
    expect(findAddress(callFrom(null, "198.51.100.1"))).toBe("");
  });
  test("a v4-mapped peer is IPv4", () => {
    expect(findAddress(callFrom("::ffff:203.0.113.9"))).toBe("203.0.113.9");
  });
});

describe("behind trusted proxies", () => {
  test.each([
    ["one proxy", "198.51.100.1", "198.51.100.1"],
    ["two proxies", "198.51.100.1, 10.0.0.2", "198.51.100.1"],
    ["what the client itself wrote to the left", "1.1.1.1, 198.51.100.1, 10.0.0.2", "198.51.100.1"],
    ["a client that pretends to be a trusted proxy", "10.9.9.9, 198.51.100.1", "198.51.100.1"],
    ["no blanks", "1.1.1.1,198.51.100.1,10.0.0.2", "198.51.100.1"],
    ["an empty element at the end", "198.51.100.1, ", "198.51.100.1"],
    ["an empty element between others", "198.51.100.1,, 10.0.0.2", "198.51.100.1"],
    ["a v4-mapped client", "::ffff:198.51.100.1", "198.51.100.1"],
    ["a v4-mapped proxy", "198.51.100.1, ::ffff:10.0.0.2", "198.51.100.1"],
    ["an IPv6 client and an IPv6 proxy", "2001:DB8::99, 2001:db8:0::1", "2001:db8::99"],
  ])("%s", (_, forwardedFor, client) => {
    expect(findAddress(callFrom("10.0.0.1", forwardedFor))).toBe(client);
    expect(findAddress(callFrom("::ffff:10.0.0.1", forwardedFor))).toBe(client);
  });

  test.each([
    ["no header", undefined],
    ["an empty header", ""],
    ["nothing but commas", ", ,"],
    ["no address in the header", "unknown"],
  ])("with %s the client is the peer", (_, forwardedFor) => {
    expect(findAddress(callFrom("10.0.0.1", forwardedFor))).toBe("10.0.0.1");
  });

  test("when all are trusted, the client is one of them, never an empty address", () => {
    expect(findAddress(callFrom("10.0.0.1", "10.0.0.3, 10.0.0.2"))).toBe("10.0.0.3");
  });

  test("no more than 100 entries are looked at, however long the header is", () => {
    const behind = (proxies: number) => `198.51.100.1${", 10.0.0.2".repeat(proxies)}`;
    expect(findAddress(callFrom("10.0.0.1", behind(99)))).toBe("198.51.100.1");
    for (const proxies of [100, 6_000]) expect(findAddress(callFrom("10.0.0.1", behind(proxies)))).toBe("10.0.0.2");
    expect(findAddress(callFrom("10.0.0.1", `198.51.100.1${",".repeat(60_000)}`))).toBe("10.0.0.1");
  });

  test("for any list of addresses the client is the last one that is not trusted", () => {
    const hop = fc.tuple(fc.constantFrom("10", "192"), fc.nat(255)).map(([first, last]) => `${first}.0.0.${last}`);
    fc.assert(
      fc.property(fc.array(hop, { minLength: 1, maxLength: 8 }), (hops) => {
        const strangers = hops.filter((address) => address.startsWith("192."));
        expect(findAddress(callFrom("10.0.0.1", hops.join(", ")))).toBe(strangers.at(-1) ?? (hops[0] as string));
      }),
    );
  });
});
