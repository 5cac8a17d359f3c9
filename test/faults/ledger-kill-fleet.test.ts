// kill -9 again and again of two instances on one Redis and one PostgreSQL, while both read and record: every entry that a
// reading showed is in the ledger once, every other one lies in a gap, and a reader that follows misses nothing.
import { afterEach, expect, test } from "bun:test";
import { LOG_LISTS } from "../../src/core/events/memory.ts";
import { startSimulator } from "../../src/simulator/simulator.ts";
import { chooseSeed, endFleets, expectStatus, type Instance, startBacking, startFleet } from "../instances/fleet.ts";
import { repeat } from "../long.ts";
import { createRandom } from "../random.ts";
import { undoLater } from "../temporary.ts";
import { until } from "../until.ts";
import { EventFollower, type EventPage, readPages, tryAsking } from "./event-follower.ts";
import { hasEveryList, LedgerWitness } from "./ledger-witness.ts";

const KILLS = repeat({ usual: 4, long: 100 });
const READINGS_PER_LIFE_MAX = 25;
const LOG_WINDOW = 20;
const TOWN = "Torture";

afterEach(endFleets);

/** Bursts and equal entries are in different lists: a burst could hide that an equal entry of the same second is another one. */
const FAULTS: readonly Record<string, unknown>[] = [
  { kind: "burst", list: "KillLogs" },
  { kind: "burst", list: "CommandLogs", count: LOG_WINDOW + 1 },
  { kind: "burst", list: "KillLogs", count: 5 },
  { kind: "same-second", list: "ModCalls", count: 3 },
  { kind: "same-second", list: "JoinLogs", count: 2 },
  { kind: "reorder-logs", times: 2 },
  { kind: "partial-logs", keep: 3 },
  { kind: "forget-logs" },
];

test("two instances that are killed while they record lose no entry without a gap and record none twice", async () => {
  const seed = chooseSeed("killing two instances");
  const random = createRandom(seed);
  const pick = (below: number) => Math.floor(random() * below);
  const { addresses } = await startBacking();
  const simulator = await startSimulator({
    seed,
    players: 30,
    speed: 300,
    readLimit: 0,
    logWindow: LOG_WINDOW,
  });
  undoLater(() => simulator.stop());
  const witness = new LedgerWitness(simulator, TOWN);
  const fleet = await startFleet({
    ...addresses,
    count: 2,
    env: {
      GATEHOUSE_UPSTREAM_URL: witness.open(),
      GATEHOUSE_FRESH_MS: "1",
      GATEHOUSE_WATCH: "on",
      GATEHOUSE_WATCH_INTERVAL_MS: "20",
    },
  });
  // A list that is not known to have had entries cannot tell how much of a burst it has left out.
  const fillLists = () => {
    for (const list of LOG_LISTS) simulator.arm({ kind: "burst", list, count: 2, times: 1 });
  };
  fillLists();
  const made = await fleet.at(0).admin("POST", "/servers", { name: TOWN, server_key: `fleet-${TOWN}` });
  const serverId: string = expectStatus(made, 201).server_id;
  const hasFirst = async () => {
    const answer = await fleet.at(0).admin("GET", `/servers/${serverId}/events?after=earliest&limit=500`);
    return hasEveryList(expectStatus(answer, 200).items);
  };
  await until("the first readings are not recorded", hasFirst);

  const run = { isOver: false };
  const callers = fleet.instances.map(async (instance) => {
    while (!run.isOver) {
      const answer = await tryAsking(instance, `/servers/${serverId}/info`);
      if (answer?.status !== 200) await Bun.sleep(20);
      else if (pick(8) === 0) simulator.arm({ times: 1, ...FAULTS[pick(FAULTS.length)] });
    }
  });
  const follower = new EventFollower(serverId, () => fleet.at(pick(2)), pick);
  const following = follower.run();

  for (let kill = 0; kill < KILLS; kill++) {
    await witness.pass(3 + pick(READINGS_PER_LIFE_MAX));
    // Anywhere between two readings: while one is made, judged or written.
    await Bun.sleep(random() * 15);
    const victims = pick(5) === 0 ? fleet.instances : [fleet.at(pick(2))];
    await Promise.all(victims.map((victim) => victim.kill()));
    await Promise.all(victims.map((victim) => victim.start()));
  }
  run.isOver = true;
  await Promise.all(callers);
  expectStatus(await fleet.at(0).admin("PATCH", `/servers/${serverId}`, { watch: false }), 200);
  await simulator.clearFaults();
  // What was lost with a list that started over is told when the list has entries again.
  fillLists();
  const goal = witness.readings + LOG_LISTS.length;
  const isQuiet = async () => {
    const before = witness.readings;
    // Both instances read once more, so that nothing waits in either of them.
    for (const instance of fleet.instances) await instance.admin("GET", `/servers/${serverId}/info`);
    return witness.readings - before <= fleet.instances.length && witness.readings >= goal;
  };
  await until("the watching does not end", isQuiet);
  const readAll = async (instance: Instance) => {
    return (await readPages(instance, serverId, "limit=500")).flatMap(({ items }) => items);
  };
  await until("the last reading is not recorded", async () => witness.hasNewest(await readAll(fleet.at(0))));

  const events = await readAll(fleet.at(0));
  const { gaps, happened } = witness.judge(events, { areEqualsTold: true });
  expect(happened).toBeGreaterThan(20 * KILLS);
  // Readings come so fast that, on a busy machine, not all that wait for PostgreSQL can be kept; the gaps say so.
  const lost = gaps.filter(({ reason }) => reason === "archive");
  expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
  for (const query of ["limit=37", "limit=100&types=gap,player.*", "limit=500&types=modcall.opened"]) {
    const [one, other] = await Promise.all(fleet.instances.map((each) => readPages(each, serverId, query)));
    expect(one).toEqual(other as EventPage[]);
  }
  follower.stop();
  await following;
  expect(follower.events).toEqual(events);
  console.log(
    `${events.length} events, ${gaps.length} gaps (${lost.length} of lost readings), ${witness.readings} readings`,
  );
}, 1_800_000);
