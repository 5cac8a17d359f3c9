// gatehouse migrate takes the archive along between the data folder and a real PostgreSQL, and cursors stay valid.
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { filterAll } from "../../src/core/events/event-types.ts";
import { NOTHING_KNOWN } from "../../src/core/events/memory.ts";
import { writeChangedParts } from "../../src/core/events/memory-text.ts";
import type { Archive } from "../../src/core/ports/archive.ts";
import { openPostgresArchive } from "../../src/database/archive/open-archive.ts";
import { act, addHistory, minute, session } from "../archive/history-samples.ts";
import { addEvents, kill, kills, NOW, record } from "../archive/ledger-samples.ts";
import { makeDelivery, makeWebhook } from "../archive/webhook-samples.ts";
import { openThreadedArchive } from "../event-archive.ts";
import { type PostgresServer, startPostgres, stopPostgresServers } from "../postgres-server.ts";
import { runToEnd } from "../run-gatehouse.ts";
import { makeOldFile, OLD_SCHEMA, OLD_SECRET } from "../store/old-files.ts";
import { cleanUp, makeFolder } from "../temporary.ts";

const env = { GATEHOUSE_SECRET: OLD_SECRET };

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(stopPostgresServers);
afterEach(cleanUp);

async function use<T>(archive: Archive, work: (archive: Archive) => Promise<T>): Promise<T> {
  try {
    return await work(archive);
  } finally {
    await archive.close();
  }
}

const inFolder = (folder: string) => openThreadedArchive(join(folder, "archive.db"));

async function fill(archive: Archive): Promise<void> {
  await addEvents(archive, kills(2_500));
  const odd = {
    data: '{"x":"\\u0000 ☃ \\ud83d","n":12345678901234567890}',
    meta: '{"a":1.0}',
    isBackfill: true,
  };
  await addEvents(archive, [kill(9_000, odd)], "srv_b");
  const memory = writeChangedParts(NOTHING_KNOWN, { ...NOTHING_KNOWN, lastReadingAt: NOW, queue: "[1,2]" });
  await archive.record([record({ serverId: "srv_b", version: 1, memory })]);
  await archive.prune({ now: NOW, days: 30, eventsMax: 2_400 });
  await archive.startForgetting("77");
  for (let n = 0; n < 30; n++) {
    const webhookId = `hook_${n % 2 === 0 ? "a" : "B"}${n}`;
    const serverId = n < 15 ? "srv_a" : "srv_b";
    await archive.createWebhook(makeWebhook({ webhookId, serverId, types: n % 3 === 0 ? ["gap"] : null }));
  }
  const place = (await archive.findWebhook("hook_a0"))?.place ?? { number: 0, mark: 0 };
  const failure = { failures: 3, nextAttemptAt: NOW, isEnabled: false, disabledReason: "gone" };
  await archive.noteAttempt("hook_a0", { place }, failure, makeDelivery(1, { status: null, error: "«☃»" }));
  await archive.noteAttempt("hook_a0", { place }, {}, makeDelivery(2));
  const stays = [{ team: "«☃»", from: NOW, to: NOW + 5 }];
  const sessions = ["1", "9", "10"].map((player) => session(player, NOW, NOW + 5, { stays, wasStaff: true }));
  const minutes = [minute(NOW, 3, { queueMax: 2, teamKnownMs: 9, teamMs: { Полиция: 7 } })];
  await addHistory(archive, { minutes, sessions, acts: [act("9", NOW), act("9", NOW, [1, 2])] });
  await archive.setAlertRules("srv_a", { offline: { minutes: 5 } });
  const seen = { kind: "street", name: "Улица", cellX: -2, cellZ: 3, count: 4, sumX: 9, sumZ: 0 } as const;
  await archive.addPlaces("srv_a", [seen]);
  const corners = { left: -9, top: -8, right: 7, bottom: 6 };
  for (const serverId of ["srv_a", "srv_b"]) {
    const content = new Uint8Array([0, 255, serverId.length]);
    const facts = { type: "image/webp", width: 5, height: 4, hash: serverId, bytes: 3, setAt: NOW } as const;
    await archive.saveMapImage(serverId, { ...facts, ...corners, content });
  }
}

/** Everything that a user of an archive can see. */
async function look(archive: Archive) {
  const pages = [];
  for (const serverId of ["srv_a", "srv_b", "srv_never"]) {
    const request = { serverId, filter: filterAll(), limit: 500 };
    const [oldest, newest, ofPlayer] = await Promise.all([
      archive.readPage({ ...request, start: { after: "earliest" } }),
      archive.readPage({ ...request, start: { before: "now" } }),
      archive.readPage({ ...request, start: { before: "now" }, player: "1500" }),
    ]);
    pages.push(oldest, newest, ofPlayer, await archive.load(serverId));
    pages.push(await archive.listPlaces(serverId), await archive.readMapImage(serverId));
    const period = { from: NOW - 1, to: NOW + 1 };
    pages.push(await archive.listSessions({ serverId, ...period, limit: 10 }));
    const { members, listed } = await archive.readStaff(serverId, period, ["1"]);
    pages.push(
      members.toSorted((a, b) => Number(a.player) - Number(b.player)),
      listed,
    );
    pages.push(await archive.readCounts(serverId, "1d", period));
    pages.push(await archive.sumPresence(serverId, { from: 0, to: 2 * NOW }, [], { offset: 0, limit: 9 }));
  }
  return {
    pages,
    recorded: await archive.findRecorded("srv_a", ["kill-1", "kill-2500", "kill-9999"]),
    webhooks: await archive.listWebhooks(),
    deliveries: await archive.listDeliveries("hook_a0"),
  };
}

test("there and back: events, cursors, memory, identities and webhooks are the same", async () => {
  const [folder, home] = [makeFolder(), makeFolder()];
  const url = await server.createDatabase();
  makeOldFile(join(folder, "gatehouse.db"), OLD_SCHEMA);
  await use(inFolder(folder), fill);
  const before = await use(inFolder(folder), look);
  expect([before.webhooks.length, before.deliveries.length]).toEqual([30, 2]);
  const run = (...args: string[]) => runToEnd(["migrate", ...args], { cwd: folder, env });

  const there = await run("--from", "sqlite", "--to", url, "--data-dir", folder, "--json");
  expect(there).toMatchObject({ exitCode: 0, stderr: "" });
  expect(JSON.parse(there.stdout)).toMatchObject({ moved: { ledgers: 2, webhooks: 30, map_images: 2 } });
  expect(await use(openPostgresArchive(url), look)).toEqual(before);

  const homeward = await run("--from", url, "--to", "sqlite", "--data-dir", home);
  expect(homeward).toMatchObject({ exitCode: 0, stderr: "" });
  expect(await use(inFolder(home), look)).toEqual(before);
  // Both go on: the forgetting that was under way, and new servers.
  for (const archive of [inFolder(home), openPostgresArchive(url)]) {
    await use(archive, async () => {
      while (await archive.continueForgetting());
      await addEvents(archive, [kill(1)], "srv_new");
      const { last } = await addEvents(archive, [kill(9_999)]);
      expect(last.number).toBe(2_501);
      const { place } = (await archive.findWebhook("hook_a0")) ?? { place: last };
      expect(await archive.noteAttempt("hook_a0", { place }, { place: last }, makeDelivery(3))).toBe(true);
    });
  }
});

test("an archive that GATEHOUSE_ARCHIVE puts elsewhere stays there, and one in the target is not overwritten", async () => {
  const folder = makeFolder();
  const url = await server.createDatabase();
  makeOldFile(join(folder, "gatehouse.db"), OLD_SCHEMA);
  await use(inFolder(folder), (archive) => addEvents(archive, kills(3)));
  await use(openPostgresArchive(url), (archive) => addEvents(archive, kills(2)));
  const move = (archive: Record<string, string>) =>
    runToEnd(["migrate", "--from", "sqlite", "--to", url, "--data-dir", folder, "--json"], {
      cwd: folder,
      env: { ...env, ...archive },
    });
  const refused = await move({});
  expect(refused.exitCode).toBe(1);
  expect(refused.stderr).toContain("is not empty (ledgers: 1");
  expect(refused.stderr).toContain("GATEHOUSE_ARCHIVE");
  const moved = await move({ GATEHOUSE_ARCHIVE: url });
  expect(moved).toMatchObject({ exitCode: 0, stderr: "" });
  const { not_moved, moved: counts } = JSON.parse(moved.stdout);
  expect(not_moved).toContainEqual(expect.stringContaining("the archive: it stays"));
  expect(counts).not.toHaveProperty("events");
  const last = await use(openPostgresArchive(url), (archive) => archive.findLast(["srv_a"]));
  expect(last.get("srv_a")?.number).toBe(2);
});
