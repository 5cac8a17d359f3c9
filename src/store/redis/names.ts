// The names of everything in Redis, on one page. What belongs to one game server has its id as hash tag, so that a cluster
// keeps it together; the directory of servers and keys has one tag of its own, so that a change of it is one step.

export const DIRECTORY_TAG = "directory";

const directory = (name: string) => `gatehouse:{${DIRECTORY_TAG}}:${name}`;
const ofServer = (serverId: string, name: string) => `gatehouse:{${serverId}}:${name}`;

export const NAMES = {
  servers: directory("servers"),
  serverOrder: directory("server-order"),
  deletedServers: directory("deleted-servers"),
  /** The deleted servers whose keys are not all revoked yet, by the time of their deletion. */
  deletions: directory("deletions"),
  /** How far the deletion of a server has come. */
  deletion: (serverId: string) => directory(`deletion:${serverId}`),
  keys: directory("keys"),
  keyOrder: directory("key-order"),
  keysOf: (serverId: string) => directory(`keys-of:${serverId}`),
  counter: directory("counter"),
  version: directory("version"),
  changes: directory("changes"),
  audit: directory("audit"),
  /** The ids of audit entries that came out of an outbox, by the time they were added to the audit log. */
  deliveredNotes: directory("delivered-notes"),
  settings: directory("settings"),
  instances: directory("instances"),
  blocks: directory("blocks"),
  lastUsed: directory("last-used"),
  oldestHours: directory("oldest-hours"),
  /** The servers for which there may be something to do. Never too few: marked before, unmarked long after. */
  waitingServers: directory("waiting"),
  probe: directory("probe"),

  /** The budget of the game API; it belongs to no server. */
  budget: "gatehouse:{budget}:budget",
  /** The failures with which the game API refused global keys, by identity. */
  refusedGlobalKeys: "gatehouse:{budget}:refused-global-keys",

  lease: (serverId: string) => ofServer(serverId, "lease"),
  shared: (serverId: string) => ofServer(serverId, "shared"),
  limit: (serverId: string, keyId: string) => ofServer(serverId, `limit:${keyId}`),
  usage: (serverId: string, keyId: string) => ofServer(serverId, `usage:${keyId}`),

  queue: (serverId: string) => ofServer(serverId, "queue"),
  /** What every script on the commands of a server is given, in the order of command-queue.lua. */
  queueAndMore: (serverId: string) => {
    return ["queue", "sending", "history", "sent", "pace"].map((name) => ofServer(serverId, name));
  },
  /** Audit entries about commands of the server that are not in the audit log yet, by the id of their command. */
  outbox: (serverId: string) => ofServer(serverId, "audit-outbox"),
  /** With an empty id, how the names of all commands of the server begin. */
  command: (serverId: string, commandId: string) => ofServer(serverId, `command:${commandId}`),
  idempotency: (serverId: string, keyId: string, idempotencyKey: string) => {
    return ofServer(serverId, `idempotency:${keyId}:${idempotencyKey}`);
  },
} as const;
