// Starts a primary, a replica and three real sentinels for tests, and lets the sentinels fail over.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type RedisServer, startRedis } from "./redis-server.ts";
import { undoLater } from "./temporary.ts";
import { until } from "./until.ts";

const NAME = "town";
const SENTINELS = 3;
/** How long a primary may be silent before the sentinels take it for dead. */
const DOWN_AFTER_MS = 1_000;

export type SentinelGroup = {
  /** redis+sentinel://… */
  readonly url: string;
  /** The server that the sentinels name as the primary. */
  findPrimary(): Promise<RedisServer>;
  /** Makes the replica the primary, as for maintenance; both keep running. */
  failOver(): Promise<void>;
};

export type SentinelLocks = {
  /** Of the primary and the replica. */
  readonly password?: string;
  /** Whether the sentinels have the same password. */
  readonly areSentinelsLocked?: boolean;
};

export async function startSentinelGroup(locks: SentinelLocks = {}): Promise<SentinelGroup> {
  const { password, areSentinelsLocked = false } = locks;
  const volatile = ["--appendonly", "no"];
  const [primary, replica] = await Promise.all([startRedis(volatile), startRedis(volatile)]);
  await replica.ask("REPLICAOF", "127.0.0.1", primary.port);
  await until("the replica is not connected", async () => {
    return String(await replica.ask("INFO", "replication")).includes("master_link_status:up");
  });
  const sentinels: RedisServer[] = [];
  while (sentinels.length < SENTINELS) sentinels.push(await startSentinel(primary.port, password));
  if (password !== undefined) await lockAll([replica, primary], password);
  const [first] = sentinels as [RedisServer];
  await until("the sentinels do not know each other and the replica", async () => {
    const states = await Promise.all(sentinels.map((sentinel) => sentinel.ask("INFO", "sentinel")));
    return states.every((state) => String(state).includes(`slaves=1,sentinels=${SENTINELS}`));
  });
  if (password !== undefined && areSentinelsLocked) {
    for (const sentinel of sentinels) {
      await sentinel.ask("SENTINEL", "CONFIG", "SET", "sentinel-pass", password);
      await sentinel.lock(password);
    }
  }
  const login = password === undefined ? "" : `:${password}@`;
  return {
    url: `redis+sentinel://${login}${sentinels.map(({ port }) => `127.0.0.1:${port}`).join(",")}/${NAME}`,
    async findPrimary() {
      const address = await first.ask("SENTINEL", "GET-MASTER-ADDR-BY-NAME", NAME);
      return (address as string[])[1] === String(primary.port) ? primary : replica;
    },
    async failOver() {
      // Refused until the other one is a replica that is up to date.
      await until("the sentinels do not fail over", async () => {
        const reply = await first.ask("SENTINEL", "FAILOVER", NAME).catch(String);
        return reply === "OK";
      });
    },
  };
}

/** Each of them is the replica of the other one after a failover. */
async function lockAll(servers: readonly RedisServer[], password: string): Promise<void> {
  for (const server of servers) {
    await server.ask("CONFIG", "SET", "masterauth", password);
    await server.lock(password);
  }
}

/** A sentinel keeps what it learns in its file of settings, so each has its own. */
async function startSentinel(primaryPort: number, password: string | undefined): Promise<RedisServer> {
  const folder = mkdtempSync(join(tmpdir(), "gatehouse-sentinel-"));
  undoLater(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "sentinel.conf");
  writeFileSync(
    file,
    `sentinel monitor ${NAME} 127.0.0.1 ${primaryPort} 2
sentinel down-after-milliseconds ${NAME} ${DOWN_AFTER_MS}
sentinel failover-timeout ${NAME} 10000
${password === undefined ? "" : `sentinel auth-pass ${NAME} ${password}`}
`,
  );
  return startRedis([], file);
}
