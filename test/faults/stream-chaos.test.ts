// 200 readers of streams over two instances, while instances, PostgreSQL and the lines between all of them fail: every reader
// that comes back with its cursor has every event once and in order.
import { afterEach, expect, test } from "bun:test";
import { FaultProxy } from "../fault-proxy.ts";
import {
  chooseSeed,
  endFleets,
  expectStatus,
  type Fleet,
  type Instance,
  startBacking,
  startFleet,
} from "../instances/fleet.ts";
import { repeat } from "../long.ts";
import type { PostgresServer } from "../postgres-server.ts";
import { createRandom } from "../random.ts";
import { ResumingReader } from "../resuming-reader.ts";
import { undoLater } from "../temporary.ts";
import { until } from "../until.ts";

const READERS = repeat({ usual: 100, long: 200 });
/** Both readers of a key, one of each kind: opening a stream counts toward its limit. */
const READERS_PER_KEY = 2;
const ROUNDS_OF_ALL_FAULTS = repeat({ usual: 1, long: 12 });
/** Every third reader has a filter. */
const FILTER = "player.*,vehicle.*";
const PATIENCE_MS = 60_000;

afterEach(endFleets);

type Event = { readonly id: string };

/** What fails, and how it comes back. Each waits for a fact: that the fault was felt. */
class Chaos {
  readonly #fleet: Fleet;
  readonly #postgres: PostgresServer;
  readonly #toPostgres: readonly FaultProxy[];
  readonly #toReaders: readonly FaultProxy[];
  readonly #serverId: string;
  readonly #pick: (below: number) => number;

  constructor(parts: {
    readonly fleet: Fleet;
    readonly postgres: PostgresServer;
    readonly toPostgres: readonly FaultProxy[];
    readonly toReaders: readonly FaultProxy[];
    readonly serverId: string;
    readonly pick: (below: number) => number;
  }) {
    this.#fleet = parts.fleet;
    this.#postgres = parts.postgres;
    this.#toPostgres = parts.toPostgres;
    this.#toReaders = parts.toReaders;
    this.#serverId = parts.serverId;
    this.#pick = parts.pick;
  }

  readonly faults: Readonly<Record<string, () => Promise<void>>> = {
    "an instance is killed": () => this.#restart([this.#pick(2)], (instance) => instance.kill()),
    "both instances are killed": () => this.#restart([0, 1], (instance) => instance.kill()),
    "an instance is stopped": () => this.#restart([this.#pick(2)], (instance) => instance.stop()),
    "PostgreSQL is killed": async () => {
      await this.#postgres.kill();
      await this.#untilArchive("away", 0);
      await this.#postgres.start();
    },
    "the line to PostgreSQL is cut": () => this.#breakArchive(this.#pick(2), "closed"),
    "the line to PostgreSQL stalls": () => this.#breakArchive(this.#pick(2), "hold"),
    "the line to PostgreSQL is slow": async () => {
      for (const line of this.#toPostgres) line.set({ kind: "slow", ms: 50 });
      await this.#untilRecorded();
      for (const line of this.#toPostgres) line.set({ kind: "pass" });
    },
    "the readers' line is cut": async () => {
      const line = this.#pickLine();
      line.set({ kind: "closed" });
      await this.#untilRecorded();
      line.set({ kind: "pass" });
    },
    "the readers' line stalls": async () => {
      const line = this.#pickLine();
      line.set({ kind: "hold" });
      await this.#untilRecorded();
      line.set({ kind: "pass" });
    },
    "the readers' line loses what is sent": async () => {
      const line = this.#pickLine();
      line.set({ kind: "swallow" });
      await this.#untilRecorded();
      line.set({ kind: "closed" });
      line.set({ kind: "pass" });
    },
  };

  /** All events that the ledger has, or those of some types. */
  async readLedger(types?: string): Promise<Event[]> {
    const events: Event[] = [];
    for (let after = "earliest"; ; ) {
      const query = `after=${after}&limit=500${types === undefined ? "" : `&types=${types}`}`;
      const answer = await this.#fleet.at(0).admin("GET", `/servers/${this.#serverId}/events?${query}`);
      const page = expectStatus(answer, 200);
      events.push(...page.items);
      if (!page.has_more) return events;
      after = page.next;
    }
  }

  async untilBothAnswer(): Promise<void> {
    for (const index of [0, 1]) await this.#untilArchive("here", index);
  }

  async #restart(indexes: readonly number[], end: (instance: Instance) => Promise<unknown>): Promise<void> {
    await Promise.all(
      indexes.map(async (index) => {
        const instance = this.#fleet.at(index);
        await end(instance);
        await instance.start();
        const line = this.#toReaders[index];
        if (line) line.targetPort = instance.port;
      }),
    );
  }

  async #breakArchive(index: number, kind: "closed" | "hold"): Promise<void> {
    const line = this.#toPostgres[index];
    line?.set({ kind });
    await this.#untilArchive("away", index);
    line?.set({ kind: "pass" });
  }

  #pickLine(): FaultProxy {
    const line = this.#toReaders[this.#pick(this.#toReaders.length)];
    if (!line) throw new Error("there is no line");
    return line;
  }

  async #untilArchive(state: "away" | "here", index: number): Promise<void> {
    await until(
      `the archive of instance ${index} is not ${state}`,
      async () => {
        const status = await this.#askNewest(index).then(({ status }) => status);
        return state === "away" ? status === 503 : status === 200;
      },
      PATIENCE_MS,
    );
  }

  /** Waits until something happens that the readers must learn of later. */
  async #untilRecorded(): Promise<void> {
    const newest = async () => (await this.#askNewest(0)).body?.items?.at(-1)?.id;
    const before = await newest();
    await until(
      "nothing is recorded",
      async () => {
        const now = await newest();
        return now !== undefined && now !== before;
      },
      PATIENCE_MS,
    );
  }

  #askNewest(index: number) {
    return this.#fleet.at(index).admin("GET", `/servers/${this.#serverId}/events?limit=1`);
  }
}

test(
  "every reader that resumes has every event once and in order, whatever fails",
  async () => {
    const seed = chooseSeed("failing under 200 streams");
    // The readers have a generator of their own, so that the seed alone decides the order of the faults.
    const [random, readersRandom] = [createRandom(seed), createRandom(seed + 1)];
    const pick = (below: number) => Math.floor(random() * below);
    const { postgres, addresses } = await startBacking();
    // Only the lines to the archive fail.
    const archive = await postgres.createDatabase();
    const toPostgres = await Promise.all([0, 1].map(() => FaultProxy.start(postgres.port)));
    const fleet = await startFleet({
      ...addresses,
      count: 2,
      archives: toPostgres.map((line) => line.postgresUrl(archive)),
      env: { GATEHOUSE_FRESH_MS: "1", GATEHOUSE_WATCH: "on", GATEHOUSE_WATCH_INTERVAL_MS: "100" },
      simulator: { players: 15, speed: 100 },
    });
    const toReaders = await Promise.all(fleet.instances.map(({ port }) => FaultProxy.start(port)));
    const home = await fleet.addServer();
    const { serverId } = home;
    const chaos = new Chaos({ fleet, postgres, toPostgres, toReaders, serverId, pick });

    const readers: ResumingReader[] = [];
    for (let made = 0; made < READERS; made += READERS_PER_KEY) {
      const wish = { server_id: serverId, label: "reader" };
      const { token } = expectStatus(await fleet.at(0).admin("POST", "/keys", wish), 201);
      const types = made % 3 === 0 ? FILTER : undefined;
      const choosePort = () => toReaders[Math.floor(readersRandom() * 2)]?.port ?? 0;
      for (const kind of ["sse", "socket"] as const)
        readers.push(new ResumingReader({ kind, token, types, choosePort }));
    }
    const running = readers.map((reader) => reader.run());
    undoLater(async () => {
      for (const reader of readers) reader.stop();
      for (const line of [...toReaders, ...toPostgres]) line.set({ kind: "closed" });
      await Promise.all(running);
    });

    /** Every reader has what the ledger has now. */
    const catchUp = async () => {
      await chaos.untilBothAnswer();
      const [all, some] = [await chaos.readLedger(), await chaos.readLedger(FILTER)];
      const isBehind = ({ ids, types }: ResumingReader) => ids.length < (types === undefined ? all : some).length;
      await until("a reader does not catch up", () => !readers.some(isBehind), PATIENCE_MS);
      return { all, some };
    };
    await until("nothing is recorded", async () => (await chaos.readLedger(FILTER)).length > 0, PATIENCE_MS);
    await catchUp();
    const firstConnections = readers.reduce((sum, { connections }) => sum + connections, 0);

    for (let round = 0; round < ROUNDS_OF_ALL_FAULTS; round++) {
      const order = Object.entries(chaos.faults).map((fault) => ({ fault, at: random() }));
      for (const { fault } of order.toSorted((a, b) => a.at - b.at)) {
        const [name, strike] = fault;
        console.log(name);
        await strike();
        await catchUp();
      }
    }

    expectStatus(await fleet.at(0).admin("PATCH", `/servers/${serverId}`, { watch: false }), 200);
    const connections = readers.reduce((sum, reader) => sum + reader.connections, 0) - firstConnections;
    expect(connections).toBeGreaterThan(READERS);
    const { all, some } = await catchUp();
    for (const { ids, types } of readers) {
      const ledger = (types === undefined ? all : some).map(({ id }) => id);
      // The watching may go on for a moment, so a reader may have more.
      expect(ids.slice(0, ledger.length)).toEqual(ledger);
      expect(new Set(ids).size).toBe(ids.length);
    }
    console.log(`${all.length} events, ${connections} times came a reader back`);
  },
  repeat({ usual: 180_000, long: 1_800_000 }),
);
