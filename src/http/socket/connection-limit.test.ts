// Which connections are cut when an address has too many.
import { describe, expect, test } from "bun:test";
import { findExcess } from "./connection-limit.ts";
import type { OpenConnection } from "./listening-socket.ts";

const NOBODY = { max: 2, isExempt: () => false };

function connectionsFrom(...peers: string[]): OpenConnection[] {
  return peers.map((peer, at) => ({ peer, peerPort: at, inode: String(at) }));
}

function inodesOf(connections: readonly OpenConnection[]): string[] {
  return connections.map(({ inode }) => inode);
}

describe("connections beyond the limit of an address", () => {
  test("are those of that address only", () => {
    const connections = connectionsFrom("1.1.1.1", "1.1.1.1", "2.2.2.2", "1.1.1.1", "2.2.2.2");
    expect(inodesOf(findExcess(connections, new Set(), NOBODY))).toEqual(["3"]);
  });

  test("are the new ones, when older ones are known", () => {
    const connections = connectionsFrom("1.1.1.1", "1.1.1.1", "1.1.1.1", "1.1.1.1");
    expect(inodesOf(findExcess(connections, new Set(["2", "3"]), NOBODY))).toEqual(["0", "1"]);
  });

  test("are none of an exempt address", () => {
    const connections = connectionsFrom("1.1.1.1", "1.1.1.1", "1.1.1.1");
    const isExempt = (address: string) => address === "1.1.1.1";
    expect(findExcess(connections, new Set(), { max: 2, isExempt })).toEqual([]);
  });

  test("are counted for a whole /64 of IPv6", () => {
    const connections = connectionsFrom("2001:db8::1", "2001:db8::2", "2001:db8:0:0:ffff::3", "2001:db8:0:1::1");
    expect(inodesOf(findExcess(connections, new Set(), NOBODY))).toEqual(["2"]);
  });
});
