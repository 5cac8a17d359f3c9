// What several instances need: a PostgreSQL and a Redis, as real processes.
import { startPostgres, stopPostgresServers } from "./postgres-server.ts";
import { startRedis, stopRedisServers } from "./redis-server.ts";

/** The settings of an instance that uses both. */
export async function startSharedServices(): Promise<Record<string, string>> {
  const [postgres, redis] = await Promise.all([startPostgres(), startRedis()]);
  return { GATEHOUSE_STORE: await postgres.createDatabase(), GATEHOUSE_REDIS: redis.url };
}

export async function stopSharedServices(): Promise<void> {
  await Promise.all([stopPostgresServers(), stopRedisServers()]);
}
