// PostgreSQL killed, frozen, full, restarted and replaced: every call answers in time, the archive recovers by itself, and
// nothing is recorded twice.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { chownSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { SQL } from "bun";
import { StoreUnavailable } from "../../src/core/errors.ts";
import { filterAll } from "../../src/core/events/event-types.ts";
import type { Archive } from "../../src/core/ports/archive.ts";
import { openPostgresArchive } from "../../src/database/archive/open-archive.ts";
import { mounting, testWith } from "../needs.ts";
import { type PostgresServer, startPostgres, stopPostgresServers } from "../postgres-server.ts";
import { fill, mountDisk } from "../small-disk.ts";
import { cleanUp, undoLater } from "../temporary.ts";
import { addEvents, kill, kills, NOW, readAll, record } from "./ledger-samples.ts";
import { makeDelivery, makeWebhook } from "./webhook-samples.ts";

const DEADLINE_MS = 5_000;
/** Of a machine that does other work too. */
const TOLERANCE_MS = 2_000;
const RECOVERS_WITHIN_MS = 20_000;

let server: PostgresServer;
const archives: Archive[] = [];

beforeAll(async () => {
  server = await startPostgres();
});
afterEach(async () => {
  for (const archive of archives.splice(0)) await archive.close();
  await cleanUp();
});
afterAll(stopPostgresServers);

function open(url: string): Archive {
  const archive = openPostgresArchive(url);
  archives.push(archive);
  return archive;
}

/** Every method once, at the same time. All fail with StoreUnavailable, in time. */
async function expectUnavailable(archive: Archive): Promise<void> {
  const startedAt = performance.now();
  const calls: Promise<unknown>[] = [
    archive.load("srv_a"),
    archive.findRecorded("srv_a", ["kill-1"]),
    archive.record([record({ version: 1, events: [kill(4)] })]),
    archive.readPage({ serverId: "srv_a", start: { after: "earliest" }, filter: filterAll(), limit: 9 }),
    archive.prune({ now: NOW, days: 30, eventsMax: 1_000 }),
    archive.removeServer("srv_never"),
    archive.startForgetting("987"),
    archive.continueForgetting(),
    archive.listWebhooks(),
    archive.setAlertRules("srv_late", {}),
    archive.readStaff("srv_a", { from: 0, to: NOW }, []),
    archive.createWebhook(makeWebhook({ webhookId: "hook_late", serverId: "srv_late" })),
    archive.noteAttempt("hook_a", { place: { number: 0, mark: 0 } }, { failures: 1 }, makeDelivery(1)),
    archive.countWaiting("srv_a", { number: 0, mark: 0 }, filterAll()),
  ];
  const outcomes = await Promise.allSettled(calls);
  const reasons = outcomes.map((outcome) => (outcome.status === "rejected" ? outcome.reason : outcome.value));
  for (const reason of reasons) expect(reason).toBeInstanceOf(StoreUnavailable);
  expect(performance.now() - startedAt).toBeLessThan(DEADLINE_MS + TOLERANCE_MS);
}

async function untilAvailable(archive: Archive): Promise<void> {
  const deadline = performance.now() + RECOVERS_WITHIN_MS;
  for (;;) {
    try {
      await archive.load("srv_a");
      return;
    } catch (error) {
      expect(error).toBeInstanceOf(StoreUnavailable);
      if (performance.now() > deadline) throw new Error("the archive does not recover");
    }
    await Bun.sleep(100);
  }
}

/** Brings the tables to the step before that of the webhooks, which the history came after. */
const UNDO_PLAYERS = `DROP TABLE gatehouse.known_players, gatehouse.command_targets, gatehouse.notes, gatehouse.mod_calls;
  ALTER TABLE gatehouse.ledgers DROP COLUMN known_count, DROP COLUMN known_from`;
const UNDO_WEBHOOKS = `DROP TABLE gatehouse.webhooks, gatehouse.deliveries; DROP INDEX gatehouse.events_by_kind;
  DROP TABLE gatehouse.counts, gatehouse.sessions, gatehouse.player_days, gatehouse.staff_acts, gatehouse.player_names;
  ${UNDO_PLAYERS};
  DELETE FROM gatehouse.migrations WHERE step > (SELECT max(step) - 4 FROM gatehouse.migrations)`;

async function listSessions(condition: string): Promise<readonly (number | undefined)[]> {
  const rows = await server.ask(`SELECT pid FROM pg_stat_activity WHERE ${condition}`);
  return (rows as { pid: number }[]).map(({ pid }) => pid);
}

/** What a writer does whose answer was lost: the version says whether it happened. */
async function recordOnce(archive: Archive): Promise<void> {
  const { version } = await archive.load("srv_a");
  if (version === 1) {
    // A conflict: the write that was under way has come to its end only now.
    const [outcome] = await archive.record([record({ version, events: [kill(4)] })]);
    if (outcome && "conflict" in outcome) expect((await archive.load("srv_a")).version).toBe(2);
  }
  expect((await readAll(archive)).map(({ at }) => at - NOW)).toEqual([1, 2, 3, 4]);
}

describe("PostgreSQL", () => {
  test("answers, while this process is held up for longer than the deadline, and no query is given up", async () => {
    const archive = open(await server.createDatabase());
    await addEvents(archive, kills(3));
    const pages = Array.from({ length: 8 }, () => readAll(archive));
    Bun.sleepSync(DEADLINE_MS + 500);
    for (const page of await Promise.all(pages)) expect(page).toHaveLength(3);
  });

  test("killed, and back", async () => {
    const archive = open(await server.createDatabase());
    await addEvents(archive, kills(3));
    await server.kill();
    await expectUnavailable(archive);
    await expectUnavailable(archive);
    await server.start();
    await untilAvailable(archive);
    await recordOnce(archive);
  });

  test("frozen, and thawed", async () => {
    const archive = open(await server.createDatabase());
    await addEvents(archive, kills(3));
    server.freeze();
    try {
      await expectUnavailable(archive);
      await expectUnavailable(archive);
    } finally {
      server.thaw();
    }
    await untilAvailable(archive);
    await recordOnce(archive);
  });

  test("absent at first", async () => {
    const url = await server.createDatabase();
    await server.kill();
    const archive = open(url);
    await expectUnavailable(archive);
    await server.start();
    await untilAvailable(archive);
    await addEvents(archive, kills(2));
  });

  test("restarted between two calls", async () => {
    const archive = open(await server.createDatabase());
    await addEvents(archive, kills(3));
    await server.stop();
    await server.start();
    await untilAvailable(archive);
    await recordOnce(archive);
  });

  test("replaced by an empty database: writers notice, and old cursors expire", async () => {
    const url = await server.createDatabase();
    const name = new URL(url).pathname.slice(1);
    const archive = open(url);
    const { last } = await addEvents(archive, kills(3));
    await server.ask(`DROP DATABASE ${name} WITH (FORCE)`);
    await server.ask(`CREATE DATABASE ${name}`);
    await untilAvailable(archive);
    expect(await archive.record([record({ version: 1, events: [kill(4)] })])).toEqual([{ conflict: true }]);
    await addEvents(archive, kills(3));
    const page = await archive.readPage({
      serverId: "srv_a",
      start: { after: last },
      filter: filterAll(),
      limit: 9,
    });
    expect(page).toMatchObject({ expired: true });
  });

  test("its tables dropped while it is used", async () => {
    const url = await server.createDatabase();
    const archive = open(url);
    await addEvents(archive, kills(3));
    await server.ask("DROP SCHEMA gatehouse CASCADE", url);
    expect(await archive.load("srv_a").catch((error) => error)).toBeInstanceOf(StoreUnavailable);
    expect((await archive.load("srv_a")).version).toBe(0);
    await addEvents(archive, kills(2));
  });

  test("changing tables that hold many events is not interrupted by the deadline of a call", async () => {
    const url = await server.createDatabase();
    await addEvents(open(url), kills(3));
    await server.ask(UNDO_WEBHOOKS, url);
    const sql = new SQL(url, { max: 1 });
    undoLater(() => sql.close({ timeout: 0 }));
    const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>();
    const locked = Promise.withResolvers<void>();
    const holding = sql.begin(async (tx) => {
      await tx`LOCK TABLE gatehouse.events IN ACCESS EXCLUSIVE MODE`;
      locked.resolve();
      await mayEnd;
    });
    await locked.promise;
    const archive = open(url);
    expect(await archive.load("srv_a").catch((error) => error)).toBeInstanceOf(StoreUnavailable);
    const [session] = await listSessions("wait_event_type = 'Lock' AND query LIKE '%CREATE TABLE webhooks%'");
    expect(session).toBeDefined();
    const next = archive.load("srv_a");
    end();
    await holding;
    expect((await next).version).toBe(1);
    // The session that was waiting has gone on.
    expect(await listSessions("state = 'idle'")).toContain(session);
    expect(await archive.listWebhooks()).toEqual([]);
  });

  testWith(mounting)("full: writes are refused and reads go on, and all is well when there is room", async () => {
    const disk = await mountDisk("24m");
    const { uid, gid } = statSync(join(server.folder, "data"));
    chownSync(disk, uid, gid);
    await server.ask(`CREATE TABLESPACE small LOCATION '${disk}'`);
    await server.ask("CREATE DATABASE on_small_disk TABLESPACE small");
    undoLater(async () => {
      await server.ask("DROP DATABASE on_small_disk WITH (FORCE)").catch(() => {});
      await server.ask("DROP TABLESPACE small").catch(() => {});
    });
    const archive = open(server.urlOf("on_small_disk"));
    await addEvents(archive, kills(3));
    const ballast = join(disk, "ballast");
    fill(ballast);
    const big = kills(400, 10).map((event) => ({ ...event, data: JSON.stringify("x".repeat(1_500)) }));
    const startedAt = performance.now();
    const refused = archive.record([record({ version: 1, events: big })]);
    expect(await refused.catch((error) => error)).toBeInstanceOf(StoreUnavailable);
    expect(performance.now() - startedAt).toBeLessThan(DEADLINE_MS + TOLERANCE_MS);
    expect(await readAll(archive)).toHaveLength(3);
    rmSync(ballast);
    await recordOnce(archive);
  });
});
