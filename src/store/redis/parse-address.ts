// Parses the address of a Redis or Valkey: redis:// and rediss:// for one server, redis+cluster:// and rediss+cluster://
// with comma-separated hosts for a cluster.
import type { RedisAddress } from "./redis-link.ts";

const DEFAULT_PORT = 6379;
const SHAPE = /^(rediss?)(\+cluster)?:\/\/(?:([^@/]*)@)?([^/?#]+)(?:\/(\d{0,5}))?$/;

/** Undefined for an invalid address. */
export function parseRedisAddress(text: string): RedisAddress | undefined {
  const match = SHAPE.exec(text);
  if (!match) return undefined;
  const [, scheme, cluster, credentials, hosts = "", database = ""] = match;
  const isCluster = cluster !== undefined;
  const nodes = hosts.split(",").map(parseHost);
  const isWrong = nodes.some((node) => node === undefined) || (!isCluster && nodes.length > 1);
  if (isWrong || (isCluster && database !== "" && database !== "0")) return undefined;
  const login = parseCredentials(credentials);
  if (!login) return undefined;
  const [username, password] = login;
  return {
    nodes: nodes.filter((node) => node !== undefined),
    isCluster,
    isTls: scheme === "rediss",
    username,
    password,
    database: Number(database || 0),
  };
}

function parseHost(text: string): { host: string; port: number } | undefined {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([A-Za-z0-9._-]+))(?::(\d{1,5}))?$/.exec(text);
  const host = match?.[1] ?? match?.[2];
  const port = match?.[3] === undefined ? DEFAULT_PORT : Number(match[3]);
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
