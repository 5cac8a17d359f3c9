// The Redis of two instances: full, frozen, and killed and started again on its files.
import { startPostgres } from "../postgres-server.ts";
import { startRedis } from "../redis-server.ts";
import { type Outage, type OutageOptions, type OutageReport, suffer } from "./outage-stage.ts";

export async function runRedisOutages(options: OutageOptions): Promise<OutageReport> {
  const [redis, postgres] = await Promise.all([startRedis(), startPostgres()]);
  const fleet = { stores: redis.url, count: 2, env: { GATEHOUSE_ARCHIVE: await postgres.createDatabase() } };
  const common: Pick<Outage, "isBesideCommands" | "isFelt"> = {
    isBesideCommands: false,
    isFelt: ({ clients }, refusedBefore) => clients.refused > refusedBefore,
  };
  const outages: readonly Outage[] = [
    {
      ...common,
      name: "Redis was full",
      begin: async () => void (await redis.ask("CONFIG", "SET", "maxmemory", 1)),
      end: async () => void (await redis.ask("CONFIG", "SET", "maxmemory", 0)),
    },
    {
      ...common,
      name: "Redis was frozen",
      begin: async () => redis.freeze(),
      end: async () => redis.thaw(),
    },
    { ...common, name: "Redis was killed", begin: () => redis.kill(), end: () => redis.start() },
  ];
  return suffer(fleet, outages, options);
}
