// Clients for one server, for a cluster, and for the primary that sentinels name. They connect, send, and do not wait: deadlines
// and retries are the link's.
import { createClient, createCluster } from "@redis/client";
import { tagOf } from "./names.ts";
import type { RedisAddress, RedisNode } from "./parse-address.ts";

const RECONNECT_EVERY_MS = 200;
const CONNECT_DEADLINE_MS = 1_000;
/** How long the sentinels have to name the primary. */
const SENTINEL_DEADLINE_MS = 500;
/** The older protocol returns maps as flat lists, from one server and from a cluster alike. */
const RESP = 2;
const SLOTS = 16_384;

export type Reply = string | number | null | Reply[];

export type Client = {
  /** `key` says which node of a cluster. */
  send(key: string, args: string[]): Promise<Reply>;
  /** Names the node that has the keys of a hash tag; empty without a cluster, and while nobody knows. */
  nodeOf(tag: string): string;
  isReady(): boolean;
  destroy(): void;
};

type OnError = (error: Error) => void;

/** Throws when the server, the cluster or the primary cannot be reached. */
export async function openClient(address: RedisAddress, onError: OnError): Promise<Client> {
  if (address.isCluster) return openCluster(address, onError);
  const node = address.primaryName === undefined ? address.nodes[0] : await findPrimary(address, onError);
  if (!node) throw new Error(`no sentinel knows a primary called ${address.primaryName}`);
  return openSingle(address, node, onError);
}

async function openSingle(address: RedisAddress, node: RedisNode, onError: OnError): Promise<Client> {
  const { socket, ...options } = optionsOf(address);
  let isConnected = false;
  const client = createClient({
    ...options,
    RESP,
    database: address.database,
    socket: {
      ...socket,
      ...node,
      // The first connection is not retried: the link decides what to do.
      reconnectStrategy: (_: number, cause: Error) => (isConnected ? RECONNECT_EVERY_MS : cause),
    },
  });
  client.on("error", onError);
  await connectInTime(client, CONNECT_DEADLINE_MS);
  isConnected = true;
  return {
    send: (_, args) => client.sendCommand<Reply>(args),
    nodeOf: () => "",
    isReady: () => client.isReady,
    destroy: () => client.destroy(),
  };
}

async function openCluster(address: RedisAddress, onError: OnError): Promise<Client> {
  const cluster = createCluster({
    RESP,
    rootNodes: address.nodes.map((node) => ({ socket: { ...node, ...(address.isTls && { tls: true as const }) } })),
    defaults: optionsOf(address),
    // Connects to primaries only, and to each when it is needed.
    minimizeConnections: true,
  });
  cluster.on("error", onError);
  await connectInTime(cluster, CONNECT_DEADLINE_MS);
  return {
    async send(key, args) {
      // The library throws a TypeError for a slot without an owner, such as that of a primary that has left the cluster.
      if (!cluster.slots[slotOf(tagOf(key))]?.master) throw new Error("no node of the cluster has this key");
      return cluster.sendCommand<Reply>(key, false, args);
    },
    nodeOf: (tag) => cluster.slots[slotOf(tag)]?.master?.address ?? "",
    // The cluster client repairs its own connections; failed requests show when it cannot.
    isReady: () => true,
    destroy: () => cluster.destroy(),
  };
}

/**
 * The primary that most sentinels name: one that was cut off from the others may name the last one. Ourselves, not with the
 * library's sentinel client, which waits and retries for itself without a deadline.
 */
async function findPrimary(address: RedisAddress, onError: OnError): Promise<RedisNode | undefined> {
  const { nodes } = address;
  const votes = new Map<string, number>();
  const { promise: agreed, resolve: agree } = Promise.withResolvers<void>();
  const asked = nodes.map(async (sentinel) => {
    const primary = await askSentinel(address, sentinel, onError).catch(() => undefined);
    if (!primary) return;
    const name = JSON.stringify(primary);
    const count = (votes.get(name) ?? 0) + 1;
    votes.set(name, count);
    if (count > nodes.length / 2) agree();
  });
  await Promise.race([agreed, Promise.all(asked)]);
  const [best] = [...votes].sort(([, a], [, b]) => b - a);
  return best && (JSON.parse(best[0]) as RedisNode);
}

/** Sentinels may have the password of the primary or none. */
async function askSentinel(
  address: RedisAddress,
  sentinel: RedisNode,
  onError: OnError,
): Promise<RedisNode | undefined> {
  const { username, password, ...open } = address;
  const anonymous = { ...open, username: undefined, password: undefined };
  const ask = (as: RedisAddress) => askForPrimary(as, sentinel, onError);
  return ask(anonymous).catch((error) => {
    if (password === undefined || !/^NO(?:AUTH|PERM)\b/.test(String(error?.message))) throw error;
    return ask(address);
  });
}

async function askForPrimary(
  address: RedisAddress,
  sentinel: RedisNode,
  onError: OnError,
): Promise<RedisNode | undefined> {
  const { socket, ...options } = optionsOf(address);
  const client = createClient({ ...options, RESP, socket: { ...socket, ...sentinel, reconnectStrategy: false } });
  client.on("error", onError);
  const question = ["SENTINEL", "GET-MASTER-ADDR-BY-NAME", address.primaryName ?? ""];
  const answer = async () => {
    await client.connect();
    return client.sendCommand<[string, string] | null>(question);
  };
  try {
    const found = await inTime(answer(), SENTINEL_DEADLINE_MS);
    return found ? { host: found[0], port: Number(found[1]) } : undefined;
  } finally {
    destroyQuietly(client);
  }
}

/** Without an offline queue: a request that cannot be sent now fails now. */
function optionsOf({ username, password, isTls }: RedisAddress) {
  return {
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    disableOfflineQueue: true,
    socket: {
      connectTimeout: CONNECT_DEADLINE_MS,
      reconnectStrategy: () => RECONNECT_EVERY_MS,
      ...(isTls && { tls: true as const }),
    },
  };
}

type Connection = { connect(): Promise<unknown>; destroy(): void };

async function connectInTime(client: Connection, deadlineMs: number): Promise<void> {
  try {
    await inTime(client.connect(), deadlineMs);
  } catch (error) {
    destroyQuietly(client);
    // The client wraps the error that our reconnect strategy returns, and the wrapper has no code.
    throw error instanceof Error && "originalError" in error ? error.originalError : error;
  }
}

/** With a deadline: a server may accept a connection and never reply. */
async function inTime<T>(work: Promise<T>, deadlineMs: number): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error("Redis does not answer")), deadlineMs);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}

function destroyQuietly(client: { destroy(): void }): void {
  try {
    client.destroy();
  } catch {
    // It was never open.
  }
}

/** The slot of a hash tag in a cluster: CRC-16/XMODEM, see the cluster specification of Redis. */
function slotOf(tag: string): number {
  let crc = 0;
  for (const byte of Buffer.from(tag)) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
  }
  return (crc & 0xffff) % SLOTS;
}
