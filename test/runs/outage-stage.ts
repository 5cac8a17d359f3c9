// A fleet at work: clients send commands, one server is watched, a webhook delivers its events and a reader follows them.
// Outages come and go while it works; afterwards everything is judged.
import { LOG_LISTS } from "../../src/core/events/memory.ts";
import { INSTANCE_LEASE_MS } from "../../src/core/ports/instance-lease.ts";
import { EventFollower, readPages, tryAsking } from "../faults/event-follower.ts";
import type { ToldEvent } from "../faults/ledger-judge.ts";
import { LedgerWitness } from "../faults/ledger-witness.ts";
import { CommandClients, type Place } from "../instances/command-clients.ts";
import {
  expectStatus,
  type Fleet,
  type FleetOptions,
  type Home,
  type Instance,
  type Key,
  startFleet,
} from "../instances/fleet.ts";
import { createRandom } from "../random.ts";
import { undoLater } from "../temporary.ts";
import { until } from "../until.ts";
import { WebhookReceiver } from "../webhook-receiver.ts";
import { findWebhookFaults } from "./webhook-judge.ts";

const TOWN = "Watched";
const WATCH_EVERY_MS = 100;
/** A key remembers the idempotency keys of 30,000 commands; an outage takes some seconds, with about 50 commands in each. */
const OUTAGES_PER_KEY = 20;
/** The longest time between two outages, and that an outage lasts after it was felt. */
const PAUSE_MAX_MS = 600;
/** This share of the outages lasts longer than an instance may be silent before it counts as dead. */
const LONG_SHARE = 0.1;
const LONG_MS = INSTANCE_LEASE_MS + 1_000;
const FELT_WITHIN_MS = 60_000;
const BACK_WITHIN_MS = 60_000;
const READ_WITHIN_MS = 20_000;
const SETTLED_WITHIN_MS = 60_000;
/** Events that a webhook must get in that time while it is behind. */
const CAUGHT_UP_MIN = 200;

export type Outage = {
  readonly name: string;
  /** Whether commands must be accepted all the time. */
  readonly isBesideCommands: boolean;
  begin(): Promise<void>;
  /** Whether the fleet has noticed it. */
  isFelt(stage: OutageStage, refusedBefore: number): boolean | Promise<boolean>;
  end(): Promise<void>;
};

export type OutageOptions = {
  /** How many outages of each kind. */
  readonly count: number;
  readonly seed: number;
  readonly stopped?: AbortSignal;
  readonly onOutage?: (done: number, total: number, name: string) => void;
};

export type OutageReport = {
  readonly outages: number;
  readonly accepted: number;
  readonly refused: number;
  readonly delivered: number;
  readonly unknown: number;
  readonly events: number;
  readonly gaps: number;
  readonly webhookEvents: number;
  /** One sentence for each broken promise; empty when all held. */
  readonly problems: readonly string[];
};

/** Lets every outage happen `count` times, in turn, and judges the fleet at the end. */
export async function suffer(
  fleetOptions: FleetOptions,
  outages: readonly Outage[],
  { count, seed, stopped, onOutage }: OutageOptions,
): Promise<OutageReport> {
  const turns = Array.from({ length: count }, () => outages).flat();
  const stage = await OutageStage.open(fleetOptions, seed, Math.ceil(turns.length / OUTAGES_PER_KEY));
  try {
    for (const [done, outage] of turns.entries()) {
      if (stopped?.aborted) throw new Error("stopped");
      onOutage?.(done, turns.length, outage.name);
      await stage.suffer(outage);
    }
    return await stage.judge(turns.length);
  } finally {
    stage.abandon();
  }
}

export class OutageStage {
  readonly fleet: Fleet;
  readonly clients: CommandClients;
  readonly #witness: LedgerWitness;
  readonly #receiver: WebhookReceiver;
  readonly #watched: Place;
  readonly #random: () => number;
  readonly #follower: EventFollower;
  #following: Promise<void> = Promise.resolve();
  readonly #pids: readonly number[];
  readonly #problems: string[] = [];

  private constructor(
    fleet: Fleet,
    witness: LedgerWitness,
    receiver: WebhookReceiver,
    places: readonly [Place, ...Place[]],
    random: () => number,
  ) {
    this.fleet = fleet;
    this.#witness = witness;
    this.#receiver = receiver;
    this.#watched = places[0];
    this.#random = random;
    this.clients = new CommandClients(fleet, places, random);
    const pick = (below: number) => Math.floor(random() * below);
    const choose = () => fleet.at(pick(fleet.instances.length));
    this.#follower = new EventFollower(this.#watched.home.serverId, choose, pick);
    this.#pids = fleet.instances.map(({ process }) => process.pid);
  }

  /** `keyCount`: for each server. */
  static async open(options: FleetOptions, seed: number, keyCount: number): Promise<OutageStage> {
    let witness: LedgerWitness | undefined;
    const fleet = await startFleet({
      ...options,
      simulator: { seed, players: 20, speed: 60, readLimit: 0, ...options.simulator },
      between: (simulator) => {
        witness = new LedgerWitness(simulator, TOWN);
        return witness.open();
      },
      env: {
        GATEHOUSE_COMMAND_INTERVAL_MS: "1",
        GATEHOUSE_FRESH_MS: String(WATCH_EVERY_MS / 2),
        GATEHOUSE_WATCH: "on",
        GATEHOUSE_WATCH_INTERVAL_MS: String(WATCH_EVERY_MS),
        GATEHOUSE_WEBHOOKS_PRIVATE: "allow",
        GATEHOUSE_WEBHOOKS_RETRY_MS: "100",
        ...options.env,
      },
    });
    if (!witness) throw new Error("the fleet has no upstream");
    const receiver = await WebhookReceiver.start();
    undoLater(() => receiver.stop());
    // Nothing is watched before the webhook is there, so that it must get every event.
    const homes = [
      await fleet.addServer({ town: TOWN, watch: false }),
      await fleet.addServer({ watch: false }),
    ] as const;
    const [{ serverId }] = homes;
    const wish = { server_id: serverId, label: "all", url: receiver.url, format: "standard" };
    const webhook = expectStatus(await fleet.at(0).admin("POST", "/webhooks", wish), 201);
    receiver.secrets = [webhook.secret];
    const makePlace = async (home: Home): Promise<Place> => {
      const keys: [Key, ...Key[]] = [await fleet.addKey(home)];
      while (keys.length < keyCount) keys.push(await fleet.addKey(home));
      return { home, keys };
    };
    const places = [await makePlace(homes[0]), await makePlace(homes[1])] as const;
    const stage = new OutageStage(fleet, witness, receiver, [...places], createRandom(seed));
    await stage.#begin();
    return stage;
  }

  async #begin(): Promise<void> {
    this.#fillLists();
    await this.#watch(true);
    await this.#witness.pass(LOG_LISTS.length + 1);
    this.#following = this.#follower.run();
    // A follower that fails is judged at the end.
    this.#following.catch(() => {});
    this.clients.start();
    const { accepted } = this.clients;
    await until("nothing is accepted", () => this.clients.accepted > accepted);
    await until("nothing is recorded", () => this.#follower.events.length > 0);
    // Calls are slow, so that outages often begin during one.
    this.fleet.simulator.arm({ kind: "slow", ms: 15, target: "commands" });
  }

  /** One outage, from its begin until everything goes on. */
  async suffer(outage: Outage): Promise<void> {
    const { clients } = this;
    await Bun.sleep(this.#random() * PAUSE_MAX_MS);
    const { refused } = clients;
    await outage.begin();
    try {
      const isFelt = () => outage.isFelt(this, refused);
      await this.#expectSoon(`${outage.name} was never noticed`, FELT_WITHIN_MS, isFelt);
      await Promise.all(this.fleet.instances.map((instance) => this.#expectRead(outage, instance)));
      if (outage.isBesideCommands) await this.#expectAccepting(`while ${outage.name}`);
      const isLong = this.#random() < LONG_SHARE;
      await Bun.sleep(this.#random() * PAUSE_MAX_MS + (isLong ? LONG_MS : 0));
    } finally {
      await outage.end();
    }
    await this.#expectAccepting(`after ${outage.name}`);
    const told = this.#follower.events.length;
    const isTold = () => this.#follower.events.length > told;
    await this.#expectSoon(`no event was recorded after ${outage.name}`, BACK_WITHIN_MS, isTold);
    await clients.collectEnds();
  }

  async judge(outages: number): Promise<OutageReport> {
    const { clients, fleet } = this;
    const problems = this.#problems;
    await fleet.simulator.clearFaults();
    await clients.stop();
    const deliveries = await clients.judge(outages);
    problems.push(...deliveries.problems);
    const events = await this.#settle();
    const gaps = this.#judgeLedger(events);
    this.#follower.stop();
    await this.#following.catch((error: Error) => problems.push(error.message));
    if (!Bun.deepEquals(this.#follower.events, events))
      problems.push(`a reader that followed got ${this.#follower.events.length} of ${events.length} events`);
    await this.#judgeWebhook(events);
    for (const [index, { process }] of fleet.instances.entries()) {
      const isRunning = await Promise.race([process.exited.then(() => false), Bun.sleep(0).then(() => true)]);
      if (!isRunning || process.pid !== this.#pids[index])
        problems.push(`instance ${index} ended: ${process.stderr.slice(-500)}`);
    }
    return {
      outages,
      accepted: clients.accepted,
      refused: clients.refused,
      delivered: deliveries.delivered,
      unknown: deliveries.statuses.unknown ?? 0,
      events: events.length,
      gaps,
      webhookEvents: this.#receiver.ids.length,
      problems,
    };
  }

  /** Ends the clients at once. */
  abandon(): void {
    this.clients.abandon();
    this.#follower.stop();
  }

  /** A list that was never anything but empty cannot tell how much it has left out. */
  #fillLists(): void {
    for (const list of LOG_LISTS) this.fleet.simulator.arm({ kind: "burst", list, count: 2, times: 1, server: TOWN });
  }

  async #watch(watch: boolean): Promise<void> {
    const path = `/servers/${this.#watched.home.serverId}`;
    expectStatus(await this.fleet.at(0).admin("PATCH", path, { watch }), 200);
  }

  /** The ledger when nothing is read any more and everything is recorded. */
  async #settle(): Promise<ToldEvent[]> {
    const { fleet } = this;
    const { serverId } = this.#watched.home;
    this.#fillLists();
    const { readings } = this.#witness;
    const isRead = () => this.#witness.readings > readings + LOG_LISTS.length;
    await until("the server is not read any more", isRead, SETTLED_WITHIN_MS);
    await this.#watch(false);
    const isQuiet = async () => {
      const before = this.#witness.readings;
      await Bun.sleep(3 * WATCH_EVERY_MS);
      return this.#witness.readings === before;
    };
    await until("the watching does not end", isQuiet, SETTLED_WITHIN_MS);
    const isRecorded = () => this.#witness.hasNewest(this.#follower.events);
    await this.#expectSoon("the last reading was not recorded", SETTLED_WITHIN_MS, isRecorded);
    const path = `/servers/${serverId}/events?limit=1`;
    const isReadable = async () => (await tryAsking(fleet.at(0), path))?.status === 200;
    await until("the events cannot be read", isReadable, SETTLED_WITHIN_MS);
    return (await readPages(fleet.at(0), serverId, "limit=500")).flatMap(({ items }) => items);
  }

  /** How many gaps there are. */
  #judgeLedger(events: readonly ToldEvent[]): number {
    try {
      // Several instances may read at once, and only one of two readings is recorded.
      const areEqualsTold = this.fleet.instances.length > 1;
      return this.#witness.judge(events, { areEqualsTold }).gaps.length;
    } catch (error) {
      this.#problems.push(`the ledger is not exact: ${error}`);
      return events.filter(({ type }) => type === "gap").length;
    }
  }

  async #judgeWebhook(events: readonly ToldEvent[]): Promise<void> {
    // Backfill is not sent.
    const due = events.filter(({ backfill }) => !backfill).length;
    const count = () => this.#receiver.ids.length;
    // After many outages it may be far behind, but it must go on.
    let target = 0;
    while (target < due) {
      target = Math.min(due, count() + CAUGHT_UP_MIN);
      const isCaughtUp = () => count() >= target;
      if (!(await this.#expectSoon("the webhook does not catch up", SETTLED_WITHIN_MS, isCaughtUp))) break;
    }
    this.#problems.push(...findWebhookFaults(this.#receiver, events));
  }

  async #expectRead({ name }: Outage, instance: Instance): Promise<void> {
    const answer = await instance.read(this.#watched.keys[0], "?Players=true");
    if (answer.status !== 200)
      this.#problems.push(`while ${name}, a read got ${answer.status} ${JSON.stringify(answer.body)}`);
    else if (answer.ms > READ_WITHIN_MS) this.#problems.push(`while ${name}, a read took ${Math.round(answer.ms)} ms`);
  }

  async #expectAccepting(when: string): Promise<void> {
    const { accepted } = this.clients;
    const isAccepting = () => this.clients.accepted > accepted;
    await this.#expectSoon(`no command was accepted ${when}`, BACK_WITHIN_MS, isAccepting);
  }

  async #expectSoon(complaint: string, withinMs: number, isSo: () => boolean | Promise<boolean>): Promise<boolean> {
    try {
      await until(complaint, isSo, withinMs);
      return true;
    } catch (error) {
      this.#problems.push((error as Error).message);
      return false;
    }
  }
}
