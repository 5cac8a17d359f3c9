// The control of a listening socket below the runtime.
import { expect, test } from "bun:test";
import { openSocket, writeRequest } from "../../../test/raw-socket.ts";
import { ListeningSocket, parseKernelAddress } from "./listening-socket.ts";

test.each([
  ["0100007F", "127.0.0.1"],
  ["0000000000000000FFFF00000900007F", "127.0.0.9"],
  ["B80D0120000000000000000001000000", "2001:db8::1"],
])("the kernel's address %s is %s", (hex, address) => {
  expect(parseKernelAddress(hex)).toBe(address);
});

test("a port on which this process does not listen has no socket", async () => {
  expect(await ListeningSocket.find(9)).toBeUndefined();
});

test("a paused socket leaves new connections waiting, and open ones go on", async () => {
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("ok") });
  const port = server.port ?? 0;
  const socket = await ListeningSocket.find(port);
  const open = await openSocket({ port });
  const ask = async (client: typeof open) => {
    client.write(writeRequest("/"));
    return (await client.readAnswer())?.status;
  };
  expect(await ask(open)).toBe(200);
  expect(socket?.pause()).toBe(true);
  const waiting = await openSocket({ port });
  waiting.write(writeRequest("/"));
  for (let asked = 0; asked < 20; asked++) expect(await ask(open)).toBe(200);
  expect(waiting.received).toBe("");
  socket?.resume();
  expect((await waiting.readAnswer())?.status).toBe(200);
  for (const client of [open, waiting]) client.destroy();
  await server.stop(true);
});

test("with limited send buffers the kernel does not take a large answer for a client that reads nothing", async () => {
  const large = new Blob(["x".repeat(3_000_000)]);
  const fetch = (request: Request) => new Response(request.url.endsWith("/large") ? large : "ok");
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch });
  const port = server.port ?? 0;
  (await ListeningSocket.find(port))?.limitUnsent();
  const [stalled, other] = [await openSocket({ port }), await openSocket({ port })];
  stalled.pause();
  stalled.write(writeRequest("/large"));
  for (let asked = 0; asked < 20; asked++) {
    other.write(writeRequest("/"));
    expect((await other.readAnswer())?.status).toBe(200);
  }
  expect(server.pendingRequests).toBe(1);
  stalled.resume();
  expect((await stalled.readAnswer())?.body).toHaveLength(large.size);
  for (const client of [stalled, other]) client.destroy();
  await server.stop(true);
});

test("while handshakes are refused, connections from before can still be accepted", async () => {
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("ok") });
  const port = server.port ?? 0;
  const socket = await ListeningSocket.find(port);
  // Otherwise the kernel holds back a connection without a first byte.
  socket?.acceptSilentConnections();
  expect(socket?.pause()).toBe(true);
  const before = await openSocket({ port });
  socket?.refuseHandshakes();
  await expect(openSocket({ port })).rejects.toThrow("ECONNREFUSED");
  expect(await socket?.countConnections()).toEqual({ open: 1, handshaking: 0, waiting: 1 });
  socket?.resume();
  before.write(writeRequest("/"));
  expect((await before.readAnswer())?.status).toBe(200);
  expect(await socket?.countConnections()).toEqual({ open: 1, handshaking: 0, waiting: 0 });
  before.destroy();
  await server.stop(true);
});
