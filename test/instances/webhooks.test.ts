// Two instances deliver together: one sends for both, and another goes on when it is killed.
import { afterAll, expect, test } from "bun:test";
import { INSTANCE_LEASE_MS } from "../../src/core/ports/instance-lease.ts";
import { writeWebhookSecret } from "../../src/core/webhooks/standard.ts";
import { openPostgresArchive } from "../../src/database/archive/open-archive.ts";
import { createWebhookSealer, Sealer } from "../../src/database/sealer.ts";
import { HOLD_EVERY_MS } from "../../src/gateway/instances/lease-holder.ts";
import { addEvents, kills } from "../archive/ledger-samples.ts";
import { makeWebhook } from "../archive/webhook-samples.ts";
import { until } from "../until.ts";
import { WebhookReceiver } from "../webhook-receiver.ts";
import { endFleets, type Instance, SECRET, startBacking, startFleet } from "./fleet.ts";

const SIGNING_SECRET = writeWebhookSecret(new Uint8Array(32).fill(1));
const WEBHOOK = "hook_a";
/** What the contract promises. */
const TAKE_OVER_MS = 30_000;

afterAll(endFleets);

function delivers(instance: Instance): boolean {
  return instance.process.stderr.includes("this instance delivers to webhooks now");
}

test("one instance delivers, and when it is killed the other goes on after its lease", async () => {
  const receiver = await WebhookReceiver.start();
  receiver.secrets = [SIGNING_SECRET];
  const { redis, addresses } = await startBacking();
  const archive = openPostgresArchive(String(addresses.stores));
  const sealer = createWebhookSealer(new Sealer(SECRET));
  try {
    await archive.createWebhook(
      makeWebhook({
        webhookId: WEBHOOK,
        format: "standard",
        sealedUrl: sealer.seal(receiver.url, WEBHOOK, "url"),
        shownUrl: receiver.url.split("/").slice(0, 4).join("/"),
        sealedSecret: sealer.seal(SIGNING_SECRET, WEBHOOK, "secret"),
      }),
    );
    const fleet = await startFleet({
      ...addresses,
      count: 2,
      env: {
        GATEHOUSE_WEBHOOKS_PRIVATE: "allow",
        GATEHOUSE_EVENTS_DAYS: "100000",
        GATEHOUSE_LOG_LEVEL: "info",
      },
    });
    await until("nobody delivers", () => fleet.instances.some(delivers), TAKE_OVER_MS);
    await addEvents(archive, kills(5));
    await until("the events do not arrive", () => receiver.ids.length === 5, TAKE_OVER_MS);
    expect(receiver.accepted).toHaveLength(5);
    // An answer that is not noted yet would be a repeat after the kill.
    await until(
      "the last event is not noted",
      async () => (await archive.findWebhook(WEBHOOK))?.place.number === 5,
      TAKE_OVER_MS,
    );
    expect(fleet.instances.filter(delivers)).toHaveLength(1);

    const holder = fleet.instances.find(delivers);
    expect(INSTANCE_LEASE_MS + HOLD_EVERY_MS).toBeLessThan(TAKE_OVER_MS);
    // Who delivers is decided in the database, so that Redis does not matter.
    redis.freeze();
    await holder?.kill();
    await addEvents(archive, kills(5, 6));
    await until("nobody goes on", () => receiver.ids.length === 10, TAKE_OVER_MS);
    expect(fleet.instances.every(delivers)).toBe(true);
    expect(receiver.accepted).toHaveLength(10);
    expect(receiver.forged).toEqual([]);
  } finally {
    await archive.close();
    receiver.stop();
  }
});
