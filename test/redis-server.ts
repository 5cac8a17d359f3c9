// Starts real Redis (or Valkey) processes for tests, each with its own port and folder, and with every write on disk before its
// reply. `stopRedisServers`, or the end of the test process, stops them all.
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "@redis/client";
import type { RedisAddress, Reply } from "../src/store/redis/redis-link.ts";

const START_DEADLINE_MS = 60_000;
const CLUSTER_DEADLINE_MS = 60_000;
const POLL_EVERY_MS = 10;
const PORT_TRIES = 5;
const SLOTS = 16_384;

export type RedisServer = {
  readonly port: number;
  readonly folder: string;
  readonly address: RedisAddress;
  readonly url: string;
  readonly pid: number;
  /** Sends a command on its own connection. */
  ask(...args: (string | number)[]): Promise<Reply>;
  /** Starts it again, on the same port and folder. */
  start(): Promise<void>;
  /** Shuts it down. */
  stop(): Promise<void>;
  kill(): Promise<void>;
  /** Suspends the process: connections stay open and get no replies. */
  freeze(): void;
  thaw(): void;
};

export type RedisCluster = {
  readonly nodes: readonly RedisServer[];
  readonly address: RedisAddress;
  readonly url: string;
  /** Empties every node. */
  flush(): Promise<void>;
};

type Process = ReturnType<typeof Bun.spawn>;

/** With setpriv, the kernel kills our children even when the tests are killed. */
const WITH_PARENT = Bun.which("setpriv") ? ["setpriv", "--pdeathsig", "KILL"] : [];

const running = new Set<Process>();
const folders = new Set<string>();

process.on("exit", () => {
  for (const child of running) child.kill("SIGKILL");
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

export async function stopRedisServers(): Promise<void> {
  const children = [...running];
  for (const child of children) child.kill("SIGKILL");
  await Promise.all(children.map((child) => child.exited));
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  folders.clear();
}

/** `settings` are added to the command line: "--maxmemory", "10mb". */
export async function startRedis(settings: readonly string[] = []): Promise<RedisServer> {
  const program = Bun.which("redis-server") ?? Bun.which("valkey-server");
  if (!program) throw new Error("the tests need redis-server or valkey-server; scripts/test.sh installs it");
  const folder = mkdtempSync(join(tmpdir(), "gatehouse-redis-"));
  folders.add(folder);
  // Another process may take the port before Redis listens on it.
  for (let tries = 1; ; tries++) {
    const port = await findFreePort();
    const server = new OwnRedis(program, port, folder, settings);
    try {
      await server.start();
      return server;
    } catch (error) {
      if (tries === PORT_TRIES) throw error;
    }
  }
}

/**
 * Three masters on the loopback address, each with a third of the slots. Clients are sent to the announced ports instead of
 * the real ones, if there are any.
 */
export async function startRedisCluster(announcedPorts: readonly number[] = []): Promise<RedisCluster> {
  const busPorts = await Promise.all([0, 1, 2].map(findFreePort));
  const nodes = await Promise.all(
    busPorts.map((busPort, index) =>
      startRedis([
        ...["--cluster-enabled", "yes", "--cluster-port", String(busPort)],
        ...["--cluster-node-timeout", "2000"],
        ...["--cluster-announce-port", String(announcedPorts[index] ?? 0)],
      ]),
    ),
  );
  const [first] = nodes;
  if (!first) throw new Error("no node was started");
  for (const [index, node] of nodes.entries()) {
    await node.ask("CLUSTER", "SET-CONFIG-EPOCH", index + 1);
    const begin = Math.floor((index * SLOTS) / nodes.length);
    const end = Math.floor(((index + 1) * SLOTS) / nodes.length) - 1;
    await node.ask("CLUSTER", "ADDSLOTSRANGE", begin, end);
  }
  // Each node meets each other: waiting for the gossip would take seconds.
  for (const [index, node] of nodes.entries()) {
    for (const other of nodes) {
      if (other !== node) await other.ask("CLUSTER", "MEET", "127.0.0.1", node.port, busPorts[index] ?? 0);
    }
  }
  await waitFor("the cluster", CLUSTER_DEADLINE_MS, async () => {
    const states = await Promise.all(nodes.map((node) => node.ask("CLUSTER", "INFO")));
    return states.every((state) => {
      return ["cluster_state:ok", "cluster_known_nodes:3"].every((line) => String(state).includes(line));
    });
  });
  const address = { ...first.address, nodes: nodes.flatMap((node) => node.address.nodes), isCluster: true };
  return {
    nodes,
    address,
    url: `redis+cluster://${nodes.map(({ port }) => `127.0.0.1:${port}`).join(",")}`,
    async flush() {
      await Promise.all(nodes.map((node) => node.ask("FLUSHALL")));
    },
  };
}

class OwnRedis implements RedisServer {
  readonly port: number;
  readonly folder: string;
  readonly address: RedisAddress;
  readonly url: string;
  readonly #command: readonly string[];
  #child: Process | undefined;

  constructor(program: string, port: number, folder: string, settings: readonly string[]) {
    this.port = port;
    this.folder = folder;
    this.url = `redis://127.0.0.1:${port}`;
    this.address = {
      nodes: [{ host: "127.0.0.1", port }],
      isCluster: false,
      isTls: false,
      username: undefined,
      password: undefined,
      database: 0,
    };
    this.#command = [
      ...[program, "--port", String(port), "--bind", "127.0.0.1", "--dir", folder, "--daemonize", "no"],
      ...["--appendonly", "yes", "--appendfsync", "always", "--save", "", "--loglevel", "warning"],
      ...["--maxmemory-policy", "noeviction", ...settings],
    ];
  }

  get pid(): number {
    return this.#getChild().pid;
  }

  async ask(...args: (string | number)[]): Promise<Reply> {
    const client = createClient({
      RESP: 2,
      socket: {
        host: "127.0.0.1",
        port: this.port,
        connectTimeout: START_DEADLINE_MS,
        reconnectStrategy: false,
      },
    });
    client.on("error", () => {});
    try {
      await client.connect();
      return await client.sendCommand<Reply>(args.map(String));
    } finally {
      client.destroy();
    }
  }

  async start(): Promise<void> {
    const child = Bun.spawn([...WITH_PARENT, ...this.#command], {
      stdin: "ignore",
      stdout: "ignore",
      stderr: "ignore",
    });
    running.add(child);
    void child.exited.then(() => running.delete(child));
    this.#child = child;
    await waitFor("redis-server", START_DEADLINE_MS, async () => {
      if (child.exitCode !== null) throw new Error(`redis-server ended with ${child.exitCode}`);
      const info = String(await this.ask("INFO").catch(() => ""));
      // Another process may have got the port first.
      return info.includes(`process_id:${child.pid}\r`) && info.includes("\nloading:0\r");
    });
  }

  async stop(): Promise<void> {
    await this.#end("SIGTERM");
  }

  async kill(): Promise<void> {
    await this.#end("SIGKILL");
  }

  freeze(): void {
    this.#getChild().kill("SIGSTOP");
  }

  thaw(): void {
    this.#getChild().kill("SIGCONT");
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#getChild();
    child.kill(signal);
    await child.exited;
  }

  #getChild(): Process {
    if (!this.#child) throw new Error("redis-server was not started");
    return this.#child;
  }
}

function findFreePort(): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const server = createServer();
  server.once("error", reject);
  server.listen(0, "127.0.0.1", () => {
    const address = server.address();
    server.close(() => resolve(typeof address === "object" && address ? address.port : 0));
  });
  return promise;
}

async function waitFor(what: string, deadlineMs: number, isThere: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + deadlineMs;
  while (!(await isThere())) {
    if (performance.now() > deadline) throw new Error(`${what} was not ready in ${deadlineMs} ms`);
    await Bun.sleep(POLL_EVERY_MS);
  }
}
