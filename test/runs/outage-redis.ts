// The Redis of two instances: full, frozen, emptied, and killed and started again without its data. Nobody may be refused.
import { startBacking } from "../instances/fleet.ts";
import { type Outage, type OutageOptions, type OutageReport, suffer } from "./outage-stage.ts";

export async function runRedisOutages(options: OutageOptions): Promise<OutageReport> {
  const { redis, addresses } = await startBacking();
  const common: Pick<Outage, "isBesideCommands" | "isFelt"> = {
    isBesideCommands: true,
    async isFelt({ fleet }) {
      const states = await Promise.all(fleet.instances.map((instance) => instance.readMetric("gatehouse_redis_up")));
      return states.every((state) => state === 0);
    },
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
    {
      ...common,
      name: "Redis was emptied",
      begin: async () => void (await redis.ask("FLUSHALL")),
      // Nobody need notice it.
      isFelt: () => true,
      end: async () => void (await redis.ask("FLUSHALL")),
    },
  ];
  return suffer({ ...addresses, count: 2 }, outages, options);
}
