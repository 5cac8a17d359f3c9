// What operators and callers see while the archive is away, and after it came back.
import { Database } from "bun:sqlite";
import { afterEach, expect, test } from "bun:test";
import { mkdirSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ArchiveUnavailable } from "../../src/core/errors.ts";
import type { LedgerRecord } from "../../src/core/ports/archive.ts";
import type { Readiness } from "../../src/core/wire/health.ts";
import { MemoryArchive } from "../event-archive.ts";
import { makeTestFolder, startGatehouse, type TestGatehouse } from "../start-gatehouse.ts";
import { until } from "../until.ts";

const EVENTS = "/v2/game/server/events";

let gatehouse: TestGatehouse | undefined;
afterEach(async () => {
  await gatehouse?.stop();
  gatehouse = undefined;
});

async function tellNotices({ get, masterKey }: TestGatehouse, isOperator = true): Promise<Readiness["notices"]> {
  const answer = await get("/readyz", isOperator ? masterKey : undefined);
  expect(answer.status).toBe(200);
  return ((await answer.json()) as Readiness).notices;
}

test("/readyz stays 200 with a notice, whose reason only operators see, until the archive is back", async () => {
  const archive = new MemoryArchive();
  gatehouse = await startGatehouse({ archive });
  const { token } = await gatehouse.addKey(await gatehouse.addServer());
  expect(await tellNotices(gatehouse)).toEqual([]);

  archive.fault = new ArchiveUnavailable("database.example did not answer");
  const refused = await gatehouse.get(EVENTS, token);
  expect([refused.status, await refused.json()]).toEqual([
    503,
    {
      code: 5106,
      message: "unavailable",
      retry_after: 1,
      details: { archive: "cannot be read or written" },
    },
  ]);
  const told = {
    since: gatehouse.clock.now,
    remedy: expect.stringContaining("gatehouse doctor"),
    command: "gatehouse doctor",
  };
  expect(await tellNotices(gatehouse)).toEqual([
    {
      ...told,
      code: "archive_away",
      message: "The archive cannot be used (database.example did not answer); 0 event(s) wait in memory.",
      count: 0,
      reason: "database.example did not answer",
    },
  ]);
  expect(await tellNotices(gatehouse, false)).toEqual([
    { ...told, code: "archive_away", message: "The archive cannot be used; 0 event(s) wait in memory.", count: 0 },
  ]);
  expect(gatehouse.logLines.filter((line) => line.includes("the archive cannot answer"))).toHaveLength(1);
  expect(gatehouse.logLines.join()).not.toContain("the store cannot answer");

  archive.fault = undefined;
  expect((await gatehouse.get(EVENTS, token)).status).toBe(200);
  expect(await tellNotices(gatehouse)).toEqual([]);
});

/** Answers nothing. */
class FrozenArchive extends MemoryArchive {
  override load = () => new Promise<never>(() => {});
  override prune = () => new Promise<never>(() => {});
  override continueForgetting = () => new Promise<never>(() => {});
}

test("a stop does not wait for an archive that hangs", async () => {
  gatehouse = await startGatehouse({ archive: new FrozenArchive() });
  const { token } = await gatehouse.addKey(await gatehouse.addServer());
  expect((await gatehouse.get("/v2/game/server", token)).status).toBe(200);
  await gatehouse.stop();
  gatehouse = undefined;
});

/** Its disk is full: what is there can be read, and nothing is recorded. */
class FullArchive extends MemoryArchive {
  isFull = false;

  override async record(records: readonly LedgerRecord[]) {
    if (this.isFull) throw new ArchiveUnavailable("the disk is full");
    return super.record(records);
  }
}

test("an archive that can be read and not written is told too, with the events that wait", async () => {
  const archive = new FullArchive();
  gatehouse = await startGatehouse({ archive });
  const { get } = gatehouse;
  const { token } = await gatehouse.addKey(await gatehouse.addServer());
  archive.isFull = true;
  expect((await get("/v2/game/server", token)).status).toBe(200);
  const notices = await untilNotices(gatehouse, 1);
  const [notice] = notices;
  expect(notice?.count).toBeGreaterThan(0);
  expect(notice?.message).toBe(
    `The archive cannot be used (the disk is full); ${notice?.count} event(s) wait in memory.`,
  );
  // A good read does not hide it.
  expect((await get(`${EVENTS}?after=earliest`, token)).status).toBe(200);
  expect(await tellNotices(gatehouse)).toEqual(notices);
  archive.isFull = false;
  expect(await untilNotices(gatehouse, 0)).toEqual([]);
  const { items } = (await (await get(`${EVENTS}?after=earliest`, token)).json()) as { items: unknown[] };
  expect(items).toHaveLength(notice?.count ?? 0);
});

async function untilNotices(started: TestGatehouse, count: number): Promise<Readiness["notices"]> {
  let notices: Readiness["notices"] = [];
  await until(`there are not ${count} notices`, async () => {
    notices = await tellNotices(started);
    return notices.length === count;
  });
  return notices;
}

async function scrape({ get, masterKey }: TestGatehouse): Promise<Map<string, number>> {
  const text = await (await get("/metrics", masterKey)).text();
  const samples = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(
    samples.map((line) => {
      const cut = line.lastIndexOf(" ");
      return [line.slice(0, cut), Number(line.slice(cut + 1))];
    }),
  );
}

test("/metrics tells of the archive, the events by type and source, the gaps, and the reads that wait", async () => {
  const archive = new FullArchive();
  gatehouse = await startGatehouse({ archive });
  const { get } = gatehouse;
  const server = await gatehouse.addServer();
  const { token } = await gatehouse.addKey(server);
  const first = await scrape(gatehouse);
  expect(first.get("gatehouse_archive_up")).toBe(1);
  expect(first.get("gatehouse_archive_failures_total")).toBe(0);
  expect(first.get("gatehouse_watched_servers")).toBe(0);
  expect(first.get('gatehouse_size_max{of="waiting_events"}')).toBe(10_000);

  archive.isFull = true;
  expect((await get("/v2/game/server", token)).status).toBe(200);
  await untilNotices(gatehouse, 1);
  const away = await scrape(gatehouse);
  const waiting = away.get('gatehouse_size{of="waiting_events"}') ?? 0;
  expect(waiting).toBeGreaterThan(0);
  expect(away.get("gatehouse_archive_up")).toBe(0);
  expect(away.get("gatehouse_archive_failures_total")).toBeGreaterThan(0);

  archive.isFull = false;
  await untilNotices(gatehouse, 0);
  const back = await scrape(gatehouse);
  expect(back.get('gatehouse_size{of="waiting_events"}')).toBe(0);
  expect(back.get("gatehouse_archive_up")).toBe(1);
  const recorded = [...back].filter(([name]) => name.startsWith("gatehouse_events_recorded_total{"));
  expect(recorded.reduce((sum, [, value]) => sum + value, 0)).toBe(waiting);
  for (const [name] of recorded) expect(name).toMatch(/\{type="[a-z]+\.?[a-z]*",source="(log|diff|gateway)"\}$/);

  // Another game server under the same name makes a gap.
  await gatehouse.admin("PATCH", `/admin/servers/${server.serverId}`, { server_key: "test-Another" });
  gatehouse.clock.advance(60_000);
  expect((await get("/v2/game/server", token)).status).toBe(200);
  const replaced = 'gatehouse_gaps_recorded_total{reason="server_replaced"}';
  await until("there is no gap", async () => (await scrape(gatehouse as TestGatehouse)).get(replaced) === 1);

  const reading = get(`${EVENTS}?after=now&wait=20`, token);
  await until("no read waits", async () => {
    return (await scrape(gatehouse as TestGatehouse)).get("gatehouse_waiting_reads") === 1;
  });
  gatehouse.clock.advance(60_000);
  await gatehouse.admin("DELETE", `/admin/servers/${server.serverId}`);
  await reading;
  expect((await scrape(gatehouse)).get("gatehouse_waiting_reads")).toBe(0);
});

test("without an archive there are no metrics of it", async () => {
  gatehouse = await startGatehouse();
  const names = [...(await scrape(gatehouse)).keys()];
  // The game's webhooks are counted with and without one.
  const others = names.filter((name) => !name.startsWith("gatehouse_game_webhook"));
  expect(others.join("\n")).not.toMatch(/archive|events|watch/);
});

type Fault = {
  readonly make: (path: string) => unknown;
  readonly mend: (path: string) => unknown;
  readonly reason: string;
};

let locker: Database | undefined;

const FAULTS: Readonly<Record<string, Fault>> = {
  "is not a database": {
    make: (path) => writeFileSync(path, "my diary"),
    mend: (path) => rmSync(path),
    reason: "archive.db is not an archive of Gatehouse",
  },
  "is damaged": {
    make(path) {
      for (const suffix of ["-wal", "-shm"]) rmSync(path + suffix, { force: true });
      truncateSync(path, 8_192);
    },
    mend: (path) => rmSync(path),
    reason: "archive.db is damaged",
  },
  "is a folder": {
    make(path) {
      for (const suffix of ["", "-wal", "-shm"]) rmSync(path + suffix, { force: true });
      mkdirSync(path);
    },
    mend: (path) => rmSync(path, { recursive: true }),
    reason: "archive.db cannot be read",
  },
  "is locked by another program": {
    make(path) {
      locker = new Database(path);
      locker.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; UPDATE ledgers SET version = version");
    },
    mend: () => locker?.close(),
    reason: "locked",
  },
};

test.each(Object.entries(FAULTS))(
  "a file that %s does not stop a start, is named, and is used again without a restart",
  async (_, { make, mend, reason }) => {
    const folder = makeTestFolder();
    const path = join(folder, "archive.db");
    const env = { GATEHOUSE_ARCHIVE: "sqlite" };
    try {
      const first = await startGatehouse({ folder, env });
      const server = await first.addServer();
      const { token } = await first.addKey(server);
      expect((await first.get("/v2/game/server", token)).status).toBe(200);
      await first.stop();
      make(path);

      gatehouse = await startGatehouse({ folder, env, clock: first.clock });
      const { get } = gatehouse;
      first.clock.advance(60_000);
      expect((await get("/v2/game/server", token)).status).toBe(200);
      expect((await get(EVENTS, token)).status).toBe(503);
      const [notice] = await untilNotices(gatehouse, 1);
      expect(notice?.message).toContain(reason);
      expect(gatehouse.logLines.join("\n")).toContain(reason);

      await mend(path);
      await until("the archive is not used again", async () => (await get(EVENTS, token)).status === 200);
      expect(await untilNotices(gatehouse, 0)).toEqual([]);
    } finally {
      await gatehouse?.stop();
      gatehouse = undefined;
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
