// A TCP balancer in front of several instances. It chooses an instance when a client connects and goes on to the next one when
// the connection is refused; it repeats nothing that was accepted. Every byte can be some time on its way.
import { connect, createServer, type Socket } from "node:net";
import { undoLater } from "../temporary.ts";

export type BalancerOptions = {
  /** The ports of the instances at this moment. */
  readonly listPorts: () => readonly number[];
  /** How long every byte, and every close, is on its way. */
  readonly delayMs: number;
};

/** Returns its port. */
export async function startBalancer({ listPorts, delayMs }: BalancerOptions): Promise<number> {
  let connections = 0;
  const lines = new Set<Socket>();
  const balancer = createServer({ allowHalfOpen: true }, async (client) => {
    lines.add(client);
    client.on("close", () => lines.delete(client));
    client.on("error", () => {});
    client.pause();
    const ports = listPorts();
    const first = ++connections % ports.length;
    const instance = await connectToAny([...ports.slice(first), ...ports.slice(0, first)]);
    if (!instance) return void client.destroy();
    carry(client, instance, delayMs);
    carry(instance, client, delayMs);
    client.resume();
  });
  await new Promise<void>((resolve) => balancer.listen(0, "127.0.0.1", resolve));
  undoLater(() => {
    balancer.close();
    for (const client of lines) client.destroy();
  });
  const address = balancer.address();
  return typeof address === "object" && address ? address.port : 0;
}

/** Undefined when every port refuses, or when one fails in another way: that must be seen as a failed request. */
async function connectToAny(ports: readonly number[]): Promise<Socket | undefined> {
  for (const port of ports) {
    const { promise, resolve } = Promise.withResolvers<string>();
    const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true, noDelay: true });
    // The kernel connects a socket with itself when it happens to have the port that nobody listens on.
    socket.once("connect", () => resolve(socket.localPort === port ? "ECONNREFUSED" : "open"));
    socket.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? "failed"));
    const outcome = await promise;
    if (outcome === "open") return socket;
    socket.destroy();
    if (outcome !== "ECONNREFUSED") return undefined;
  }
  return undefined;
}

/** Passes on bytes, the end and a break, each after the delay and in order. */
function carry(from: Socket, to: Socket, delayMs: number): void {
  const onTheWay: (() => void)[] = [];
  const pass = (step: () => void) => {
    if (delayMs === 0) return step();
    onTheWay.push(step);
    setTimeout(() => onTheWay.shift()?.(), delayMs);
  };
  from.on("data", (bytes: Buffer) => pass(() => void (to.writable && to.write(bytes))));
  from.on("end", () => pass(() => to.end()));
  from.on("close", () => pass(() => to.destroySoon()));
}
