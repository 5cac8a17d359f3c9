// The names of everything in Redis, on one page. What belongs to one game server has its id as hash tag, so that a cluster
// keeps it together; the directory of servers and keys has one tag of its own, so that a change of it is one step.

const directory = (name: string) => `gatehouse:{directory}:${name}`;

export const NAMES = {
  servers: directory("servers"),
  serverOrder: directory("server-order"),
  deletedServers: directory("deleted-servers"),
  keys: directory("keys"),
  keyOrder: directory("key-order"),
  keysOf: (serverId: string) => directory(`keys-of:${serverId}`),
  counter: directory("counter"),
  version: directory("version"),
  changes: directory("changes"),
  audit: directory("audit"),
  settings: directory("settings"),
  instances: directory("instances"),
  blocks: directory("blocks"),
  lastUsed: directory("last-used"),
  oldestHours: directory("oldest-hours"),

  /** The budget of the game API; it belongs to no server. */
  budget: "gatehouse:{budget}:budget",

  lease: (serverId: string) => `gatehouse:{${serverId}}:lease`,
  shared: (serverId: string) => `gatehouse:{${serverId}}:shared`,
  limit: (serverId: string, keyId: string) => `gatehouse:{${serverId}}:limit:${keyId}`,
  usage: (serverId: string, keyId: string) => `gatehouse:{${serverId}}:usage:${keyId}`,
} as const;
