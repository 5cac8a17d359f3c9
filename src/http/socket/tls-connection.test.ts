// How long a client behind the TLS front may take nothing: 10 seconds of an answer, 30 of a stream.
import { afterAll, expect, test } from "bun:test";
import { Duplex } from "node:stream";
import type { TLSSocket } from "node:tls";
import { TlsConnection, type TlsPeers } from "./tls-connection.ts";

const CHECKS_IN_10_S = 4;
const CHECKS_IN_30_S = 12;

const inner = Bun.listen({
  hostname: "127.0.0.1",
  port: 0,
  socket: { open: (socket) => void socket.write("something"), data() {} },
});
afterAll(() => inner.stop(true));

/** A connection whose client has been sent something and takes none of it. */
async function connect() {
  const peers: TlsPeers = new Map();
  // A write whose callback is never called is one that the client does not take.
  const outer = new Duplex({ read() {}, write() {} });
  const connection = new TlsConnection(outer as unknown as TLSSocket, inner.port, peers);
  while (outer.writableLength === 0) await new Promise((resolve) => setImmediate(resolve));
  const check = (times: number) => {
    for (let checks = 0; checks < times; checks++) connection.cutIfStalled();
    return outer.destroyed;
  };
  return { connection, peers, check };
}

test("a client that takes none of its answer is cut after four checks", async () => {
  const { check } = await connect();
  expect([check(CHECKS_IN_10_S - 1), check(1)]).toEqual([false, true]);
});

test("the reader of a stream is not cut within 30 seconds, but then", async () => {
  const { connection, peers, check } = await connect();
  expect([...peers.values()]).toEqual([connection]);
  connection.isStream = true;
  expect([check(CHECKS_IN_30_S), check(1)]).toEqual([false, true]);
});
