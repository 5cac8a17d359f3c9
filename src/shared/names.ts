// The names of all keys in Redis. What one script needs has one hash tag, so that a cluster keeps it on one node.

/** In a cluster, the windows of the limit are spread over so many hash tags. */
const CLUSTER_SHARDS = 16;

export const BUDGET_NAME = "gatehouse:{budget}:budget";

/** What all instances on one database write, to know that they share this Redis. */
export const ID_NAME = "gatehouse:{budget}:id";

export function countShards(isCluster: boolean): number {
  return isCluster ? CLUSTER_SHARDS : 1;
}

/** Which of the shards has the window of an API key. */
export function shardOf(keyId: string, shards: number): number {
  return shards === 1 ? 0 : Number(Bun.hash.crc32(keyId)) % shards;
}

export function windowName(shard: number, keyId: string): string {
  return `gatehouse:{limit:${shard}}:window:${keyId}`;
}

/** A hash: the newest version of the directory that an instance has announced, and since when none was missed. */
export function directoryName(shard: number): string {
  return `gatehouse:{limit:${shard}}:directory`;
}

/** The token of the instance that calls the game API for the server. */
export function leaseName(serverId: string): string {
  return `gatehouse:{${serverId}}:lease`;
}

/** What instances know about the server. */
export function knownName(serverId: string): string {
  return `gatehouse:{${serverId}}:known`;
}

export function probeName(tag: string): string {
  return `gatehouse:{${tag}}:probe`;
}

/** The hash tag of a name. */
export function tagOf(name: string): string {
  return name.slice(name.indexOf("{") + 1, name.indexOf("}"));
}
