// Starts real Redis (or Valkey) processes for tests, each with its own port and folder, and with every write on disk before its
// reply. `stopRedisServers`, or the end of the test process, stops them all.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "@redis/client";
import type { RedisAddress } from "../src/shared/parse-address.ts";
import type { Reply } from "../src/shared/redis-client.ts";
import { findFreePort } from "./temporary.ts";
import { until } from "./until.ts";

const START_DEADLINE_MS = 60_000;
const CLUSTER_DEADLINE_MS = 60_000;
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
  /** Accepts only connections with this password from now on. */
  lock(password: string): Promise<void>;
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

/** `settings` are added to the command line: "--maxmemory", "10mb". With a file for a sentinel, it is one. */
export async function startRedis(settings: readonly string[] = [], sentinelFile?: string): Promise<RedisServer> {
  const program = Bun.which("redis-server") ?? Bun.which("valkey-server");
  if (!program) throw new Error("the tests need redis-server or valkey-server; scripts/test.sh installs it");
  const folder = mkdtempSync(join(tmpdir(), "gatehouse-redis-"));
  folders.add(folder);
  // Another process may take the port before Redis listens on it.
  for (let tries = 1; ; tries++) {
    const port = findFreePort();
    const mode = sentinelFile === undefined ? [] : [sentinelFile, "--sentinel"];
    const server = new OwnRedis([program, ...mode], port, folder, settings);
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
  const busPorts = [0, 1, 2].map(findFreePort);
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
  await until(
    "the cluster was not ready",
    async () => {
      const states = await Promise.all(nodes.map((node) => node.ask("CLUSTER", "INFO")));
      return states.every((state) => {
        return ["cluster_state:ok", "cluster_known_nodes:3"].every((line) => String(state).includes(line));
      });
    },
    CLUSTER_DEADLINE_MS,
  );
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
  #password: string | undefined;

  constructor(program: readonly string[], port: number, folder: string, settings: readonly string[]) {
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
      ...[...program, "--port", String(port), "--bind", "127.0.0.1", "--dir", folder, "--daemonize", "no"],
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
      ...(this.#password !== undefined && { password: this.#password }),
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

  async lock(password: string): Promise<void> {
    await this.ask("ACL", "SETUSER", "default", "resetpass", `>${password}`);
    this.#password = password;
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
    await until(
      "redis-server was not ready",
      async () => {
        if (child.exitCode !== null) throw new Error(`redis-server ended with ${child.exitCode}`);
        const info = String(await this.ask("INFO").catch(() => ""));
        // Another process may have got the port first.
        return info.includes(`process_id:${child.pid}\r`) && !info.includes("\nloading:1\r");
      },
      START_DEADLINE_MS,
    );
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
