// Instances behind a balancer are restarted in turn while clients send requests: none of the requests is lost.
import { afterEach, expect, test } from "bun:test";
import { connect, createServer, type Server, type Socket } from "node:net";
import { sendRaw, writeRequest } from "../faults/raw-socket.ts";
import { cleanUp, type Listening, makeFolder, serve, stop, undoLater } from "./run-gatehouse.ts";

const INSTANCES = 2;
const ROUNDS = 1;
const CLIENTS = 12;
/** Every byte from a client is this long on its way, so that connections are open before their first byte arrives. */
const DELAY_MS = 5;

afterEach(cleanUp);

/** Opens a connection to the first port that accepts one; connections that break later are not repeated. */
async function connectToAny(ports: readonly number[]): Promise<Socket | undefined> {
  for (const port of ports) {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    socket.once("connect", () => resolve(true));
    socket.on("error", () => resolve(false));
    if (await promise) return socket;
    socket.destroy();
  }
  return undefined;
}

/** A balancer that chooses an instance when a client connects. */
async function startBalancer(listPorts: () => number[]): Promise<number> {
  let connections = 0;
  const balancer: Server = createServer({ allowHalfOpen: true }, async (client) => {
    client.on("error", () => {});
    client.pause();
    const ports = listPorts();
    const first = ++connections % ports.length;
    const instance = await connectToAny([...ports.slice(first), ...ports.slice(0, first)]);
    if (!instance) return void client.destroy();
    instance.on("close", () => client.end());
    instance.pipe(client);
    client.on("data", (bytes: Buffer) => setTimeout(() => instance.write(bytes), DELAY_MS));
    client.on("close", () => instance.destroy());
    client.resume();
  });
  await new Promise<void>((resolve) => balancer.listen(0, "127.0.0.1", resolve));
  undoLater(() => balancer.close());
  const address = balancer.address();
  return typeof address === "object" && address ? address.port : 0;
}

test("restarting instances in turn under load loses no request", async () => {
  const folders = Array.from({ length: INSTANCES }, makeFolder);
  const instances: Listening[] = [];
  for (const cwd of folders) instances.push(await serve({ cwd }));
  const port = await startBalancer(() => instances.map((instance) => instance.port));
  let isOver = false;
  let answered = 0;
  const failures: string[] = [];
  const clients = Array.from({ length: CLIENTS }, async () => {
    while (!isOver) {
      const answer = await sendRaw({ port }, writeRequest("/healthz")).catch(String);
      if (typeof answer === "object" && answer.status === 200) answered++;
      else failures.push(typeof answer === "string" ? answer : `status ${answer?.status}`);
    }
  });
  for (let restarts = 0; restarts < ROUNDS * INSTANCES; restarts++) {
    const at = restarts % INSTANCES;
    expect(await stop(instances[at] as Listening)).toBe(0);
    instances[at] = await serve({ cwd: folders[at] ?? "" });
  }
  isOver = true;
  await Promise.all(clients);
  expect(failures).toEqual([]);
  expect(answered).toBeGreaterThan(CLIENTS);
}, 60_000);
