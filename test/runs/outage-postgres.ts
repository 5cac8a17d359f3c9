// The PostgreSQL of two instances: full, frozen, and killed and started again on its files.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { startBacking } from "../instances/fleet.ts";
import { mounting } from "../needs.ts";
import { fill, mountDisk } from "../small-disk.ts";
import { type Outage, type OutageOptions, type OutageReport, suffer } from "./outage-stage.ts";

const DISK_SIZE = "256m";

/** PostgreSQL is only filled where a small disk can be mounted. */
export async function runPostgresOutages(options: OutageOptions): Promise<OutageReport> {
  const { postgres, redis } = await startBacking();
  const common: Pick<Outage, "isBesideCommands" | "isFelt"> = {
    isBesideCommands: false,
    isFelt: ({ clients }, refusedBefore) => clients.refused > refusedBefore,
  };
  const outages: Outage[] = [
    {
      ...common,
      name: "PostgreSQL was frozen",
      begin: async () => postgres.freeze(),
      end: async () => postgres.thaw(),
    },
    {
      ...common,
      name: "PostgreSQL was killed",
      begin: () => postgres.kill(),
      end: () => postgres.start(),
    },
  ];
  const canFill = mounting() === undefined;
  if (canFill) {
    // The write-ahead log is elsewhere: without room for it, the whole server ends.
    const disk = await mountDisk(DISK_SIZE);
    await postgres.createTablespace("small", disk);
    const ballast = join(disk, "ballast");
    outages.unshift({
      ...common,
      name: "PostgreSQL was full",
      begin: async () => fill(ballast),
      end: async () => rmSync(ballast),
    });
  }
  await postgres.ask(`CREATE DATABASE outages ${canFill ? "TABLESPACE small" : ""}`);
  const fleet = { stores: postgres.urlOf("outages"), redis: redis.url, count: 2 };
  return suffer(fleet, outages, options);
}
