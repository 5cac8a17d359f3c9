// Which instances live, what a dead one may still do, and who acts for all: on a real PostgreSQL.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setSystemTime, test } from "bun:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { ArchiveUnavailable, StartRefused, StoreUnavailable } from "../../src/core/errors.ts";
import { checkEveryMs } from "../../src/core/running-time.ts";
import { openPostgresArchive } from "../../src/database/archive/open-archive.ts";
import { DEADLINE_MS, Fenced, PostgresDriver } from "../../src/database/postgres.ts";
import type { Sql } from "../../src/database/sql.ts";
import { BEAT_DEADLINE_MS, BEAT_EVERY_MS } from "../../src/database/store/instances.ts";
import { STORE_MIGRATIONS } from "../../src/database/store/migrations.ts";
import { openPostgresLink, type PostgresLink } from "../../src/database/store/open-postgres-store.ts";
import { addEvents, kills, readAll } from "../archive/ledger-samples.ts";
import { type PostgresServer, startPostgres, stopPostgresServers } from "../postgres-server.ts";
import { until } from "../until.ts";

const DEAD_AGO_MS = 6_000;
/** The time that an instance leaves the others to be seen. */
const SEEN_MS = 5_000;
const ROUNDED_MS = 5;

let server: PostgresServer;
let url: string;
let links: PostgresLink[];
let abandoned: number;
let ticks: number;
/** What happens while an instance waits for a rival. */
let whileWaiting: () => Promise<unknown>;

beforeAll(async () => {
  server = await startPostgres();
});
afterAll(stopPostgresServers);
beforeEach(async () => {
  url = await server.createDatabase();
  links = [];
  abandoned = 0;
  ticks = 0;
  whileWaiting = async () => {};
});
afterEach(async () => {
  setSystemTime();
  await Promise.all(links.map((link) => link.close()));
});

function openLink({ isShared = true } = {}): PostgresLink {
  const ignore = () => {};
  const link = openPostgresLink({
    url,
    isShared,
    log: { debug: ignore, info: ignore, warn: ignore, error: ignore },
    markAbandoned: async (sql) => {
      abandoned++;
      await sql.get("SELECT 1 AS one FROM commands");
    },
    sleep: async () => void (await whileWaiting()),
    ownTicks: () => ticks,
  });
  links.push(link);
  return link;
}

async function start(options?: { isShared: boolean }): Promise<PostgresLink> {
  const link = openLink(options);
  await link.instances.start();
  return link;
}

/** A beat that takes dead instances off the list, when it may. */
async function beatAndReap({ instances }: PostgresLink): Promise<void> {
  // One that is under way would be joined.
  await instances.beat();
  await instances.beat();
  await instances.reaped();
}

const ask = (query: string) => server.ask(`SET search_path = gatehouse; ${query}`, url);

async function listInstances(): Promise<string[]> {
  const rows = await links[0]?.driver.query((sql) =>
    sql.all<{ instance_id: string }>("SELECT instance_id FROM instances"),
  );
  return (rows ?? []).map((row) => row.instance_id).toSorted();
}

/** A row that nobody renews. */
function addRow(instanceId: string, agoMs: number, redis: string): Promise<unknown> {
  const at = `CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint) - ${agoMs}`;
  return ask(`INSERT INTO instances VALUES ('${instanceId}', 0, ${at}, '${redis}')`);
}

const write = (sql: Sql) => sql.run("INSERT INTO settings VALUES ('written', 'yes') ON CONFLICT DO NOTHING");
const isWritten = async ({ driver }: PostgresLink) =>
  (await driver.query((sql) => sql.get("SELECT 1 AS found FROM settings WHERE name = 'written'"))) !== undefined;

describe("instances that share a Redis", () => {
  test("have an id each, know how many they are, and agree on what identifies their Redis", async () => {
    const first = await start();
    const second = await start();
    await first.instances.beat();
    expect(first.instances.instanceId).not.toBe(second.instances.instanceId);
    expect([first.instances.count, second.instances.count]).toEqual([2, 2]);
    expect(first.instances.redisId).not.toBe("");
    expect(second.instances.redisId).toBe(first.instances.redisId);
  });

  test("learn the directory's version and the database's time with each beat", async () => {
    const link = await start();
    const versions: number[] = [];
    link.instances.onVersion = (version) => versions.push(version);
    await link.driver.transact((sql) => sql.run("UPDATE directory SET version = 41"));
    const before = Date.now();
    await link.instances.beat();
    const estimate = link.clock();
    const after = Date.now();
    expect(versions.at(-1)).toBe(41);
    // The database is on this machine, and the estimate is off by no more than the beat took.
    const errorMs = after - before + ROUNDED_MS;
    expect(estimate).toBeWithin(before - errorMs, after + errorMs);
  });

  test("know how far this machine's clock is from the database's, and that it was set right", async () => {
    const { instances } = await start();
    const learn = async () => {
      // The first may have been under way.
      for (let i = 0; i < 2; i++) await instances.beat();
      return instances.clockOffsetMs;
    };
    const now = Date.now();
    setSystemTime(now + 60_000);
    // The machine's clock stands still meanwhile.
    expect(await learn()).toBeWithin(30_000, 60_000 + ROUNDED_MS);
    setSystemTime(now - 60_000);
    expect(await learn()).toBeWithin(-90_000, -30_000);
    setSystemTime();
    // The database is on this machine, but times are rounded.
    expect(Math.abs(await learn())).toBeLessThan(ROUNDED_MS);
  });

  test("delete the row of one that was not seen for five seconds, and what it was sending is unknown", async () => {
    const link = await start();
    await addRow("dead", DEAD_AGO_MS, link.instances.redisId);
    await addRow("late", 4_000, link.instances.redisId);
    const before = abandoned;
    ticks = SEEN_MS;
    await beatAndReap(link);
    expect(abandoned).toBe(before + 1);
    expect(await listInstances()).toEqual([link.instances.instanceId ?? "", "late"].toSorted());
  });

  test("leave those that were not seen while PostgreSQL was away the time to be seen again, also after a start", async () => {
    await start();
    await addRow("unseen", DEAD_AGO_MS, links[0]?.instances.redisId ?? "");
    const fresh = await start();
    await beatAndReap(fresh);
    expect(await listInstances()).toContain("unseen");
    ticks = SEEN_MS;
    await beatAndReap(fresh);
    expect(await listInstances()).not.toContain("unseen");
  });

  test("leave the row of one whose transaction is under way", async () => {
    const link = await start();
    await addRow("busy", DEAD_AGO_MS, link.instances.redisId);
    const busy = new PostgresDriver({ url, migrations: STORE_MIGRATIONS, findInstanceId: () => "busy" });
    ticks = SEEN_MS;
    await busy.transact(async (sql) => {
      await write(sql);
      await beatAndReap(link);
    });
    expect(await isWritten(link)).toBe(true);
    await busy.close();
    await beatAndReap(link);
    expect(await listInstances()).toEqual([link.instances.instanceId ?? ""]);
  });

  test("write nothing under an id that counts as dead, and go on under a new one", async () => {
    const link = await start();
    const { instanceId } = link.instances;
    await ask("DELETE FROM instances");
    await expect(link.driver.transact(write)).rejects.toThrow(Fenced);
    expect(await isWritten(link)).toBe(false);
    await link.instances.beat();
    expect(link.instances.instanceId).not.toBe(instanceId);
    await link.driver.transact(write);
    expect(await isWritten(link)).toBe(true);
  });

  test("are gone from the list when they stop", async () => {
    await start();
    const second = await start();
    await second.close();
    expect(await listInstances()).toEqual([links[0]?.instances.instanceId ?? ""]);
  });
});

describe("without a Redis", () => {
  test("a second instance is refused with the setting that helps", async () => {
    const first = await start({ isShared: false });
    whileWaiting = () => first.instances.beat();
    await expect(start({ isShared: false })).rejects.toThrow(/GATEHOUSE_REDIS/);
    expect(await listInstances()).toEqual([first.instances.instanceId ?? ""]);
  });

  test.each([true, false])("and beside one with a Redis is refused: %p", async (isFirstShared) => {
    const first = await start({ isShared: isFirstShared });
    whileWaiting = () => first.instances.beat();
    const second = start({ isShared: !isFirstShared });
    await expect(second).rejects.toThrow(StartRefused);
    await expect(second).rejects.toThrow(/GATEHOUSE_REDIS/);
  });

  test("the successor of a killed instance waits for its row to expire", async () => {
    const first = await start({ isShared: false });
    await first.close();
    await addRow("killed", 4_000, "");
    let waits = 0;
    whileWaiting = async () => {
      if (++waits === 2) await ask("UPDATE instances SET seen_at = seen_at - 2000 WHERE instance_id = 'killed'");
    };
    // The row does not move forward, so nobody renews it.
    links = [];
    const second = await start({ isShared: false });
    expect(waits).toBe(2);
    expect(await listInstances()).toEqual([second.instances.instanceId ?? ""]);
    expect(abandoned).toBeGreaterThan(0);
  });

  test("one that wakes beside its successor writes nothing and must end", async () => {
    const first = await start({ isShared: false });
    const reasons: Error[] = [];
    first.instances.onReplaced = (error) => reasons.push(error);
    await ask("DELETE FROM instances");
    const second = await start({ isShared: false });
    whileWaiting = () => second.instances.beat();
    await expect(first.driver.transact(write)).rejects.toThrow(StoreUnavailable);
    await first.instances.beat();
    expect(reasons).toHaveLength(1);
    expect(reasons[0]).toBeInstanceOf(StartRefused);
    expect(await isWritten(second)).toBe(false);
    await second.driver.transact(write);
  });

  test("one whose database was replaced by an empty one goes on", async () => {
    const link = await start({ isShared: false });
    await ask("DROP SCHEMA gatehouse CASCADE");
    await link.instances.beat();
    await link.instances.beat();
    await link.driver.transact(write).catch(() => {});
    await link.driver.transact(write);
    expect(await isWritten(link)).toBe(true);
  });
});

describe("a database that is away", () => {
  let own: PostgresServer;
  beforeAll(async () => {
    own = await startPostgres();
  });

  test("fails queries at once after one beat, and answers by itself when it is back", async () => {
    url = await own.createDatabase();
    const link = await start();
    await own.kill();
    await link.instances.beat();
    expect(link.instances.isUp).toBe(false);
    // It waits for no connection, which is given up after seconds.
    const failure = link.driver.transact(write).catch((error) => error);
    expect(await Promise.race([failure, nextTurn("it waits")])).toBeInstanceOf(StoreUnavailable);
    await own.start();
    await until("the instance is not up", () => link.instances.isUp);
    await link.driver.transact(write);
    expect(await isWritten(link)).toBe(true);
  });

  test("is noticed by a beat when it is silent, and the queries under way fail then", async () => {
    url = await own.createDatabase();
    const link = await start();
    await link.driver.transact(write);
    own.freeze();
    const failure = await link.driver.transact(write).catch((error) => error);
    own.thaw();
    expect(failure).toBeInstanceOf(StoreUnavailable);
    // Not by its own deadline, which is later.
    expect(String(failure)).not.toContain("did not answer within");
    await until("the instance is not up", () => link.instances.isUp);
    await link.driver.transact(write);
  });
});

test("a beat notices within three seconds that the database is silent", () => {
  expect(BEAT_EVERY_MS + BEAT_DEADLINE_MS + checkEveryMs(BEAT_DEADLINE_MS)).toBeLessThan(3_000);
});

test("a query is given up in time for its request to be refused within five seconds", () => {
  expect(DEADLINE_MS + checkEveryMs(DEADLINE_MS)).toBeLessThan(5_000);
});

describe("an archive in the same database", () => {
  test("takes nothing from an instance that counts as dead, and fails at once while the database is away", async () => {
    const link = await start();
    const state = { instanceId: link.instances.instanceId, isUp: true };
    const archive = openPostgresArchive(url, () => state);
    try {
      await addEvents(archive, kills(1));
      state.instanceId = "dead";
      await expect(addEvents(archive, kills(1, 2))).rejects.toThrow(ArchiveUnavailable);
      expect(await readAll(archive)).toHaveLength(1);
      state.isUp = false;
      await expect(readAll(archive)).rejects.toThrow(ArchiveUnavailable);
    } finally {
      await archive.close();
    }
  });
});

describe("a lease", () => {
  const readEpoch = (link: PostgresLink) =>
    link.driver.query((sql) => sql.get<{ epoch: number }>("SELECT epoch FROM leases WHERE name = 'watch'"));

  test("has one holder, and a higher epoch with each new one", async () => {
    const [first, second] = [await start(), await start()];
    const [ofFirst, ofSecond] = [first.instances.lease("watch"), second.instances.lease("watch")];
    const held = await Promise.all([ofFirst.hold(), ofSecond.hold(), ofFirst.hold(), ofSecond.hold()]);
    expect(held.filter(Boolean).length).toBeGreaterThan(0);
    expect(await ofFirst.hold()).not.toBe(await ofSecond.hold());
    expect(await readEpoch(first)).toEqual({ epoch: 1 });
    const [holder, other] = (await ofFirst.hold()) ? [ofFirst, ofSecond] : [ofSecond, ofFirst];
    await holder.release();
    expect([await other.hold(), await holder.hold()]).toEqual([true, false]);
    expect(await readEpoch(first)).toEqual({ epoch: 2 });
  });

  test("of an instance that counts as dead can be taken, and its id cannot take it back", async () => {
    const [first, second] = [await start(), await start()];
    expect(await first.instances.lease("watch").hold()).toBe(true);
    await ask(`DELETE FROM instances WHERE instance_id = '${first.instances.instanceId}'`);
    expect(await second.instances.lease("watch").hold()).toBe(true);
    const late = await first.instances.lease("watch").hold();
    expect(late).toBe(false);
    expect(await readEpoch(second)).toEqual({ epoch: 2 });
  });

  test("of another name is another lease", async () => {
    const [first, second] = [await start(), await start()];
    expect(await first.instances.lease("watch").hold()).toBe(true);
    expect(await second.instances.lease("webhooks").hold()).toBe(true);
  });
});
