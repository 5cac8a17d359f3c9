// Stopping the listener answers the requests that have arrived.
import { expect, test } from "bun:test";
import { openSocket, writeRequest } from "../../test/faults/raw-socket.ts";
import { listen } from "./listen.ts";

const HERE = {
  host: "127.0.0.1",
  port: 0,
  tls: undefined,
  log: { warn() {}, info() {} },
  connectionLimit: undefined,
  handleOperator: undefined,
  settings: "GATEHOUSE" as const,
};

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
