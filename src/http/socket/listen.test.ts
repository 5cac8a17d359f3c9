// Stopping the listener answers the requests that have arrived.
import { expect, spyOn, test } from "bun:test";
import type { EagerCounts } from "../../../test/faults/eager-clients.ts";
import { openSocket, writeRequest } from "../../../test/raw-socket.ts";
import { listen } from "./listen.ts";
import { ListeningSocket } from "./listening-socket.ts";

const notFound = () => new Response(null, { status: 404 });
const HERE = {
  host: "127.0.0.1",
  port: 0,
  tls: undefined,
  log: { warn() {}, info() {} },
  connectionLimit: undefined,
  handleOperator: notFound,
  refuse: notFound,
  settings: "GATEHOUSE" as const,
};

/** After so many requests, all clients are at work. */
const BUSY_AFTER = 40;

test("requests that have arrived when the listener is closed are answered, on kept and on new connections", async () => {
  const handle = () => new Response("ok");
  const listener = await listen({ ...HERE, handle });
  const sockets = await Promise.all(Array.from({ length: 20 }, () => openSocket({ port: listener.port })));
  // Half of the connections have served a request before.
  for (const socket of sockets.slice(10)) {
    socket.write(writeRequest("/"));
    expect((await socket.readAnswer())?.status).toBe(200);
  }
  for (const socket of sockets) socket.write(writeRequest("/"));
  const closed = listener.close(5_000, 0);
  const answers = await Promise.all(sockets.map((socket) => socket.readAnswer()));
  expect(answers.map((answer) => answer?.status)).toEqual(sockets.map(() => 200));
  for (const socket of sockets) socket.destroy();
  await closed;
});

test("while the listener is closed, each new connection is either refused or answered", async () => {
  const { close } = ListeningSocket.prototype;
  // Gives the clients time to connect between the last accept and the close.
  const closing = spyOn(ListeningSocket.prototype, "close").mockImplementation(function (this: ListeningSocket) {
    Bun.sleepSync(50);
    close.call(this);
  });
  const { promise: isBusy, resolve: tellBusy } = Promise.withResolvers<void>();
  let handled = 0;
  const handle = () => {
    if (++handled === BUSY_AFTER) tellBusy();
    return new Response("ok");
  };
  const listener = await listen({ ...HERE, handle });
  const clients = new Worker(new URL("../../../test/faults/eager-clients.ts", import.meta.url));
  try {
    const counted = new Promise<EagerCounts>((resolve) => {
      clients.onmessage = ({ data }) => resolve(data);
    });
    clients.postMessage(listener.port);
    await isBusy;
    await listener.close(5_000, 1_000);
    clients.postMessage("stop");
    const { answered, refused, cut } = await counted;
    expect(answered).toBeGreaterThan(0);
    expect(refused).toBeGreaterThan(0);
    expect(cut).toBe(0);
  } finally {
    closing.mockRestore();
    clients.terminate();
  }
});
