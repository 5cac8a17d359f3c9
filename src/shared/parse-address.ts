// Parses the address of a Redis or Valkey: redis:// for one server, redis+cluster:// and redis+sentinel:// with comma-separated
// hosts for a cluster and for the sentinels of a primary. With rediss instead of redis, connections use TLS.

const DEFAULT_PORT = 6379;
const SENTINEL_PORT = 26_379;
const SHAPE = /^(rediss?)(\+cluster|\+sentinel)?:\/\/(?:([^@/]*)@)?([^/?#]+)(?:\/([^?#]*))?$/;
const DATABASE = /^\d{0,5}$/;
const PRIMARY = /^([A-Za-z0-9._-]+)(?:\/(\d{0,5}))?$/;

export type RedisNode = { readonly host: string; readonly port: number };

export type RedisAddress = {
  /** The server, some nodes of the cluster, or the sentinels. */
  readonly nodes: readonly RedisNode[];
  readonly isCluster: boolean;
  /** The name that the sentinels know the primary by; undefined without sentinels. */
  readonly primaryName?: string | undefined;
  readonly isTls: boolean;
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly database: number;
};

/** Undefined for an invalid address. */
export function parseRedisAddress(text: string): RedisAddress | undefined {
  const match = SHAPE.exec(text);
  if (!match) return undefined;
  const [, scheme, kind, credentials, hosts = "", path = ""] = match;
  const isSentinel = kind === "+sentinel";
  const nodes = parseHosts(hosts, isSentinel ? SENTINEL_PORT : DEFAULT_PORT);
  const login = parseCredentials(credentials);
  const target = isSentinel ? parsePrimary(path) : parseDatabase(path);
  if (!nodes || !login || !target || (kind === undefined && nodes.length > 1)) return undefined;
  const isCluster = kind === "+cluster";
  if (isCluster && target.database !== 0) return undefined;
  const [username, password] = login;
  return { nodes, isCluster, isTls: scheme === "rediss", username, password, ...target };
}

type Target = Pick<RedisAddress, "primaryName" | "database">;

function parsePrimary(path: string): Target | undefined {
  const match = PRIMARY.exec(path);
  return match ? { primaryName: match[1], database: Number(match[2] || 0) } : undefined;
}

function parseDatabase(path: string): Target | undefined {
  return DATABASE.test(path) ? { database: Number(path || 0) } : undefined;
}

function parseHosts(text: string, defaultPort: number): RedisNode[] | undefined {
  const nodes = text.split(",").map((host) => parseHost(host, defaultPort));
  return nodes.every((node) => node !== undefined) ? nodes : undefined;
}

function parseHost(text: string, defaultPort: number): RedisNode | undefined {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([A-Za-z0-9._-]+))(?::(\d{1,5}))?$/.exec(text);
  const host = match?.[1] ?? match?.[2];
  const port = match?.[3] === undefined ? defaultPort : Number(match[3]);
  return host !== undefined && port >= 1 && port <= 65_535 ? { host, port } : undefined;
}

type Login = [username: string | undefined, password: string | undefined];

/** Undefined when the percent-encoding is invalid. */
function parseCredentials(text: string | undefined): Login | undefined {
  if (text === undefined || text === "") return [undefined, undefined];
  const colon = text.indexOf(":");
  const decode = (part: string) => (part === "" ? undefined : decodeURIComponent(part));
  try {
    if (colon === -1) return [decode(text), undefined];
    return [decode(text.slice(0, colon)), decode(text.slice(colon + 1))];
  } catch {
    return undefined;
  }
}
