// Commands are accepted by any instance and sent by one: in order, at a common pace and at most once, also when instances,
// PostgreSQL and Redis fail.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { FaultProxy } from "../fault-proxy.ts";
import { repeat } from "../long.ts";
import { createRandom } from "../random.ts";
import type { RawAnswer } from "../raw-socket.ts";
import { until } from "../until.ts";
import { listCommands } from "./command-clients.ts";
import { askAllAtOnce, writeSubmission } from "./crowd.ts";
import {
  type Backing,
  COMMAND,
  chooseSeed,
  endFleets,
  expectStatus,
  type Fleet,
  type Home,
  type Instance,
  type Key,
  startBacking,
  startFleet,
} from "./fleet.ts";
import { type Disturbance, runTurmoil } from "./turmoil.ts";

/** What the contract promises. */
const GO_ON_WITHIN_MS = 30_000;
const ROUND: readonly Disturbance[] = [
  ...Array<Disturbance>(repeat({ usual: 2, long: 5 })).fill("kill"),
  ...Array<Disturbance>(repeat({ usual: 1, long: 2 })).fill("freeze"),
  ...Array<Disturbance>(repeat({ usual: 1, long: 2 })).fill("postgres-kill"),
  "postgres-freeze",
  "redis-kill",
  "redis-freeze",
  "freeze-past-lease",
];
const ROUNDS = repeat({ usual: 1, long: 10 });

function deliveriesOf(fleet: Fleet, { town }: Home) {
  return fleet.simulator.calls().calls.filter(({ kind, server }) => kind === "command" && server === town);
}

/** Retries submissions that got 5106: on a busy machine PostgreSQL may miss its deadline. */
async function askUntilJudged(ports: readonly number[], requests: readonly string[]): Promise<readonly RawAnswer[]> {
  const answers = await askAllAtOnce(ports, requests);
  const unjudged = requests.filter((_, index) => answers[index]?.status === 503);
  if (unjudged.length === 0) return answers;
  return [...answers.filter(({ status }) => status !== 503), ...(await askUntilJudged(ports, unjudged))];
}

function textsOf(fleet: Fleet, home: Home): string[] {
  return deliveriesOf(fleet, home).map(({ command = "" }) => command);
}

describe("four instances", () => {
  const INTERVAL_MS = 120;
  let fleet: Fleet;

  beforeAll(async () => {
    const { addresses } = await startBacking();
    const env = { GATEHOUSE_COMMAND_INTERVAL_MS: String(INTERVAL_MS), GATEHOUSE_UPSTREAM_TIMEOUT_MS: "60000" };
    fleet = await startFleet({ ...addresses, env });
  });
  afterAll(endFleets);

  test("deliver in the order of acceptance, at the common pace, each command once", async () => {
    const home = await fleet.addServer();
    const key = await fleet.addKey(home);
    const texts = Array.from({ length: 12 }, (_, index) => `:h number ${index}`);
    const ids: string[] = [];
    for (const [index, text] of texts.entries()) {
      ids.push(expectStatus(await fleet.at(index % 4).submit(key, text), 202).command_id);
    }
    await until("not all is delivered", () => deliveriesOf(fleet, home).length >= texts.length);
    expect(textsOf(fleet, home)).toEqual(texts);
    const times = deliveriesOf(fleet, home).map(({ at }) => at);
    // A send that was delayed on its way comes closer to the next one. Four paces would need a quarter of the time.
    const spentMs = (times.at(-1) ?? 0) - (times[0] ?? 0);
    expect(spentMs).toBeGreaterThan((INTERVAL_MS * (texts.length - 1)) / 2);
    for (const [index, id] of ids.entries()) {
      const path = `${COMMAND}/${id}`;
      const instance = fleet.at((index + 1) % 4);
      await until("it is not told as sent", async () => {
        return expectStatus(await instance.ask("GET", path, key.token), 200).status === "sent";
      });
    }
    expect(textsOf(fleet, home)).toEqual(texts);
  });

  test("give one answer to one Idempotency-Key, wherever it is shown", async () => {
    const home = await fleet.addServer();
    const key = await fleet.addKey(home);
    const all = Array.from({ length: 40 }, (_, index) => fleet.at(index % 4).submit(key, ":h once", "the-key"));
    const answers = await Promise.all(all);
    const accepted = answers.filter(({ status }) => status === 202);
    expect(accepted.length).toBeGreaterThanOrEqual(4);
    // A repetition during the first submission on the same instance is a conflict; a later one gets the receipt.
    for (const { status, body } of answers) if (status !== 202) expect([status, body.code]).toEqual([409, 5105]);
    expect(new Set(accepted.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    for (const instance of fleet.instances) {
      const again = expectStatus(await instance.submit(key, ":h once", "the-key"), 202);
      expect(again).toEqual(accepted[0]?.body);
      const other = await instance.submit(key, ":h twice", "the-key");
      expect([other.status, other.body.code]).toEqual([422, 5105]);
    }
    await until("it is not delivered", () => deliveriesOf(fleet, home).length > 0);
    expect(textsOf(fleet, home)).toEqual([":h once"]);
    expect((await listCommands(fleet.at(3), home)).length).toBe(1);
  });

  test("accept exactly 100 of 1,000 parallel submissions", async () => {
    const home = await fleet.addServer();
    const key = await fleet.addKey(home);
    // The game rate-limits the first command, which returns to the head; nothing leaves the queue meanwhile.
    const fault = { kind: "rate-limit", retry_after: 60, target: "commands", server: home.town };
    fleet.simulator.arm(fault);
    expectStatus(await fleet.at(0).submit(key, ":h first"), 202);
    await until("it is not given back", async () => {
      const [first] = await listCommands(fleet.at(1), home);
      return deliveriesOf(fleet, home).length === 1 && first?.status === "queued";
    });
    const ports = fleet.instances.map(({ port }) => port);
    const requests = Array.from({ length: 1_000 }, (_, index) => writeSubmission(key.token, `:h ${index}`));
    const answers = await askUntilJudged(ports, requests);
    const bodies = answers.map(({ status, body }) => ({ ...JSON.parse(body), status }));
    const accepted = bodies.filter(({ status }) => status === 202);
    expect(accepted.length).toBe(99);
    const positions = accepted.map(({ position }) => position).sort((a, b) => a - b);
    expect(positions).toEqual(Array.from({ length: 99 }, (_, index) => index + 2));
    expect(bodies.filter(({ status, code }) => status === 429 && code === 5015).length).toBe(901);
    expect((await listCommands(fleet.at(2), home)).length).toBe(100);
    await fleet.simulator.clearFaults();

    // A waiting command can be cancelled on another instance, which makes room.
    const { command_id } = accepted.find(({ position }) => position === 50);
    expectStatus(await fleet.at(3).ask("DELETE", `${COMMAND}/${command_id}`, key.token), 200);
    expectStatus(await fleet.at(2).submit(key, ":h room"), 202);
    expect((await fleet.at(1).submit(key, ":h no room")).body.code).toBe(5015);
    const gone = await fleet.at(1).admin("DELETE", `/servers/${home.serverId}`);
    expect(expectStatus(gone, 200).failed_commands).toBe(100);
  });

  test("go on within 30 s with the commands of one that died, and the one it was sending is unknown on all, once", async () => {
    const home = await fleet.addServer();
    const key = await fleet.addKey(home);
    const [sender, ...others] = fleet.instances as [Instance, ...Instance[]];
    // Alone, so that it is the one that sends.
    for (const instance of others) await instance.kill();
    fleet.simulator.arm({ kind: "slow", ms: 50_000, times: 1, target: "commands", server: home.town });
    for (const text of [":h one", ":h two", ":h three"]) expectStatus(await sender.submit(key, text), 202);
    await until("the first is not sent", () => deliveriesOf(fleet, home).length === 1);
    await Promise.all(others.map((instance) => instance.start()));
    await sender.kill();
    const beganAt = performance.now();
    await until("nobody goes on", () => deliveriesOf(fleet, home).length === 3, GO_ON_WITHIN_MS);
    console.log(`another instance went on after ${Math.round(performance.now() - beganAt)} ms`);
    await until("the others are not noted", async () => {
      return (await listCommands(fleet.at(1), home)).slice(1).every(({ status }) => status === "sent");
    });
    await sender.start();
    expect(textsOf(fleet, home)).toEqual([":h one", ":h two", ":h three"]);
    const told = await Promise.all(fleet.instances.map((instance) => listCommands(instance, home)));
    expect(told[0]?.map(({ status }) => status)).toEqual(["unknown", "sent", "sent"]);
    for (const list of told) expect(list).toEqual(told[0] ?? []);
  });
});

describe("a sender that is frozen between taking a command and sending it", () => {
  afterAll(endFleets);

  // Three times, because the order of events in a thawed process is random.
  test("does not send it late: the others have gone on without it", async () => {
    const SENDERS = 3;
    const { postgres, addresses } = await startBacking();
    const url = String(addresses.stores);
    const proxies = await Promise.all(Array.from({ length: SENDERS }, () => FaultProxy.start(postgres.port)));
    const fleet = await startFleet({
      ...addresses,
      stores: [...proxies.map((proxy) => proxy.postgresUrl(url)), url],
      // Long enough to look out for the claim after the acceptance.
      env: { GATEHOUSE_COMMAND_INTERVAL_MS: "3000", GATEHOUSE_UPSTREAM_TIMEOUT_MS: "300" },
    });
    const senders = fleet.instances.slice(0, SENDERS);
    const other = fleet.at(SENDERS);
    const places: { home: Home; key: Key }[] = [];
    for (const _ of senders) {
      const home = await fleet.addServer();
      places.push({ home, key: await fleet.addKey(home) });
    }
    // One sender at a time, so that nobody else takes the command. The last one stays for the rest.
    for (const instance of fleet.instances) await instance.kill();
    for (const [index, sender] of senders.entries()) {
      const { home, key } = places[index] as { home: Home; key: Key };
      await sender.start();
      expectStatus(await sender.submit(key, ":h before"), 202);
      await until("the pace is not set", () => deliveriesOf(fleet, home).length === 1);
      expectStatus(await sender.submit(key, ":h first"), 202);
      const isFrozen = freezeAfterClaim(proxies[index] as FaultProxy, sender);
      await until("nothing was claimed", isFrozen);
    }
    await other.start();
    for (const { key } of places)
      for (const text of [":h second", ":h third"]) expectStatus(await other.submit(key, text), 202);
    const isGoingOn = () => places.every(({ home }) => textsOf(fleet, home).includes(":h third"));
    await until("the other does not go on", isGoingOn, GO_ON_WITHIN_MS);
    for (const sender of senders) sender.thaw();
    for (const [index, { key, home }] of places.entries()) {
      await until("the woken one accepts nothing", async () => {
        const { status } = await (senders[index] as Instance).submit(key, ":h fourth", "fourth");
        return status === 202;
      });
      await until("the fourth is not delivered", () => textsOf(fleet, home).includes(":h fourth"));
    }
    const arrived = places.map(({ home }) => textsOf(fleet, home).join());
    expect(arrived).toEqual(Array<string>(SENDERS).fill(":h before,:h second,:h third,:h fourth"));
    for (const { home } of places) {
      for (const instance of fleet.instances) {
        const [, first] = await listCommands(instance, home);
        expect(first).toMatchObject({ command: ":h first", status: "unknown" });
      }
    }
  });

  /** Freezes the sender before it sees that its claim is committed: the transaction that has read and updated the command. */
  function freezeAfterClaim(proxy: FaultProxy, sender: Instance): () => boolean {
    let isFrozen = false;
    const transactions = new Map<object, { hasRead: boolean; hasUpdated: boolean }>();
    proxy.watchReply = (piece, connection) => {
      if (isFrozen) return;
      const begun = piece.includes("BEGIN") ? undefined : transactions.get(connection);
      const hasRead = begun?.hasRead || piece.includes(":h first");
      const hasUpdated = begun?.hasUpdated || (hasRead && piece.includes("UPDATE 1"));
      transactions.set(connection, { hasRead, hasUpdated });
      if (!hasUpdated || !piece.includes("COMMIT")) return;
      isFrozen = true;
      sender.freeze();
    };
    return () => isFrozen;
  }
});

describe("in turmoil", () => {
  let backing: Backing;
  let fleet: Fleet;

  beforeAll(async () => {
    const { addresses, ...rest } = await startBacking();
    backing = rest;
    const env = { GATEHOUSE_COMMAND_INTERVAL_MS: "1", GATEHOUSE_UPSTREAM_TIMEOUT_MS: "1000" };
    fleet = await startFleet({ ...addresses, env });
  });
  afterAll(endFleets);

  test(
    "instances, PostgreSQL and Redis are killed and frozen at random: nothing accepted is lost, nothing is delivered twice or out of order",
    async () => {
      const seed = chooseSeed("turmoil");
      const random = createRandom(seed);
      const kinds = Array.from({ length: ROUNDS }, () => ROUND).flat();
      const disturbances = kinds
        .map((kind) => ({ kind, place: random() }))
        .sort((a, b) => a.place - b.place)
        .map(({ kind }) => kind);
      const { problems, ...report } = await runTurmoil({ fleet, ...backing, disturbances, seed });
      console.log(JSON.stringify(report));
      expect(problems).toEqual([]);
      expect(report.accepted).toBeGreaterThan(100);
    },
    60_000 * (1 + ROUNDS),
  );
});
