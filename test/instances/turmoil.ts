// Disturbs a fleet, its PostgreSQL and its Redis at random while clients send commands to any instance, and compares the receipts of the
// clients with the commands that the game has received.
import { createRandom } from "../random.ts";
import { CommandClients, type Deliveries, type Place } from "./command-clients.ts";
import type { Backing, Fleet, Instance } from "./fleet.ts";

/** An instance that was silent for so long counts as dead. */
const LEASE_MS = 5_000;

export type Disturbance =
  | "kill"
  | "freeze"
  | "freeze-past-lease"
  | "postgres-kill"
  | "postgres-freeze"
  | "redis-kill"
  | "redis-freeze";

export type TurmoilOptions = Backing & {
  readonly fleet: Fleet;
  readonly disturbances: readonly Disturbance[];
  readonly seed: number;
};

export type TurmoilReport = Deliveries & { readonly accepted: number; readonly repeated: number };

export async function runTurmoil(options: TurmoilOptions): Promise<TurmoilReport> {
  const { fleet, postgres, redis, disturbances, seed } = options;
  const random = createRandom(seed);
  const pick = (): Instance => fleet.at(Math.floor(random() * fleet.instances.length));
  const places: Place[] = [];
  for (let index = 0; index < 3; index++) {
    const home = await fleet.addServer();
    places.push({ home, keys: [await fleet.addKey(home)] });
  }
  const clients = new CommandClients(fleet, places, random);

  async function disturb(kind: Disturbance): Promise<void> {
    const victim = pick();
    switch (kind) {
      case "kill":
        await victim.kill();
        return await victim.start();
      case "freeze":
        victim.freeze();
        await Bun.sleep(random() * 900);
        return victim.thaw();
      case "freeze-past-lease":
        victim.freeze();
        await Bun.sleep(LEASE_MS + 500 + random() * 1_000);
        return victim.thaw();
      case "postgres-kill":
        await postgres.kill();
        await Bun.sleep(random() * 500);
        return await postgres.start();
      case "postgres-freeze":
        postgres.freeze();
        await Bun.sleep(random() * 3_000);
        return postgres.thaw();
      case "redis-kill":
        await redis.kill();
        await Bun.sleep(random() * 500);
        return await redis.start();
      case "redis-freeze":
        redis.freeze();
        await Bun.sleep(random() * 1_500);
        return redis.thaw();
    }
  }

  try {
    clients.start();
    // Calls are slow, so that disturbances often happen during one.
    fleet.simulator.arm({ kind: "slow", ms: 15, target: "commands" });
    for (const kind of disturbances) {
      await Bun.sleep(random() * 600);
      await disturb(kind);
    }
    await fleet.simulator.clearFaults();
    await clients.stop();
    const deliveries = await clients.judge(disturbances.length);
    return { ...deliveries, accepted: clients.accepted, repeated: clients.repeated };
  } finally {
    clients.abandon();
  }
}
