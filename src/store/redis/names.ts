// The names of all keys in Redis. Everything of one game server has the server's id as hash tag, so that a cluster keeps it
// on one node. The directory of servers and keys has its own tag, so that a change of it is one script.

export const DIRECTORY_TAG = "directory";

const directory = (name: string) => `gatehouse:{${DIRECTORY_TAG}}:${name}`;
const ofServer = (serverId: string, name: string) => `gatehouse:{${serverId}}:${name}`;

export const NAMES = {
  servers: directory("servers"),
  serverOrder: directory("server-order"),
  /** The id of the server that has each slug. It only keeps slugs unique: what is shown is in the signed records. */
  statusSlugs: directory("status-slugs"),
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
  /** When each signed-in device was used last. */
  deviceUses: directory("device-uses"),
  oldestHours: directory("oldest-hours"),
  /** Every server with work waiting: marked before a command is accepted, and unmarked long after the last one ended. */
  waitingServers: directory("waiting"),
  probe: directory("probe"),

  /** The budget of the game API; it belongs to no server. */
  budget: "gatehouse:{budget}:budget",
  /** The failures with which the game API refused global keys, by identity. */
  refusedGlobalKeys: "gatehouse:{budget}:refused-global-keys",

  /** The token of the instance that watches. */
  watchLease: "gatehouse:{budget}:watch-lease",
  /** The token of the instance that delivers to webhooks. */
  deliveryLease: "gatehouse:{budget}:delivery-lease",

  lease: (serverId: string) => ofServer(serverId, "lease"),
  shared: (serverId: string) => ofServer(serverId, "shared"),
  limit: (serverId: string, keyId: string) => ofServer(serverId, `limit:${keyId}`),
  usage: (serverId: string, keyId: string) => ofServer(serverId, `usage:${keyId}`),

  queue: (serverId: string) => ofServer(serverId, "queue"),
  /** The keys of every script on the commands of a server, in the order of command-queue.lua. */
  queueKeys: (serverId: string) => {
    return ["queue", "sending", "history", "sent", "pace"].map((name) => ofServer(serverId, name));
  },
  /** Audit entries about commands of the server that are not in the audit log yet, by the id of their command. */
  outbox: (serverId: string) => ofServer(serverId, "audit-outbox"),
  /** With an empty command id: the prefix of all commands of the server. */
  command: (serverId: string, commandId: string) => ofServer(serverId, `command:${commandId}`),
  idempotency: (serverId: string, keyId: string, idempotencyKey: string) => {
    return ofServer(serverId, `idempotency:${keyId}:${idempotencyKey}`);
  },
  /** How many receipts of dropped commands the key has, by hour. */
  receipts: (serverId: string, keyId: string) => ofServer(serverId, `receipts:${keyId}`),
} as const;
