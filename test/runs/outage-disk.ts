// A data folder whose disk is filled to the last byte and freed again, under one instance.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { fill, makeSmallDisk } from "../small-disk.ts";
import { type OutageOptions, type OutageReport, suffer } from "./outage-stage.ts";

const DISK_SIZE = "64m";

/** Needs `mounting`. */
export async function runDiskOutages(options: OutageOptions): Promise<OutageReport> {
  const data = join(await makeSmallDisk(DISK_SIZE), "data");
  const ballast = join(data, "ballast");
  const fleet = { stores: "sqlite", count: 1, env: { GATEHOUSE_DATA_DIR: data } };
  return suffer(
    fleet,
    [
      {
        name: "the disk was full",
        isBesideCommands: false,
        begin: async () => fill(ballast),
        // Commands may be accepted for a while, because SQLite writes over what it has written before.
        async isFelt({ clients, fleet }, refusedBefore) {
          if (clients.refused > refusedBefore) return true;
          return (await fetch(`${fleet.at(0).url}/readyz`)).status === 503;
        },
        end: async () => rmSync(ballast),
      },
    ],
    options,
  );
}
