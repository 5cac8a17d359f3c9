// What is shown of public servers is put together seldom, and never waits for the archive for long.
import { expect, test } from "bun:test";
import { HOUR_MS } from "../../core/durations.ts";
import { StoreUnavailable } from "../../core/errors.ts";
import type { GameServer } from "../../core/game-server.ts";
import type { Counts } from "../../core/history/counts.ts";
import { BUILT_MS, fillHours, PublicStatuses, type PublicStatusesDeps, STATUSES_MAX } from "./public-statuses.ts";

const NOW = Math.floor(1_800_000_000_000 / HOUR_MS) * HOUR_MS + HOUR_MS / 2;

const hour = (at: number, changes: Partial<Counts> = {}): Counts => ({
  ...{ at, knownMs: HOUR_MS, playerMs: 7 * HOUR_MS, min: 5, max: 9, queueMax: 3, staffMax: 2 },
  teamKnownMs: HOUR_MS,
  teamMs: { Police: HOUR_MS },
  ...changes,
});

function makeStatuses(changes: Partial<PublicStatusesDeps> = {}) {
  const servers = new Map<string, GameServer>();
  const stage = { now: NOW, built: 0, servers };
  const statuses = new PublicStatuses({
    servers: { findBySlug: (slug) => servers.get(slug) },
    relay: {
      summarize() {
        stage.built++;
        const counts = { players: 3, playersMax: 40, queue: 1, openModCalls: 0, openCalls: 0 };
        return { state: "online", counts, lastReadAt: stage.now, lastError: null };
      },
      findSnapshot: () => undefined,
    },
    watcher: { catchUpOn: async () => {}, planOf: () => ({ isWatched: true, intervalMs: 5_000 }) },
    history: { readCounts: async (_, __, { to }) => [hour(to - HOUR_MS)] },
    changes: { listStateChanges: async () => [{ state: "offline", at: NOW }] },
    clock: () => stage.now,
    sleep: () => new Promise(() => {}),
    ...changes,
  });
  return { statuses, stage };
}

function publish(stage: { servers: Map<string, GameServer> }, slug: string): void {
  stage.servers.set(slug, {
    ...{ serverId: `srv_${slug}`, name: slug, community: null, createdAt: 0, keyRevision: 1 },
    ...{ isSimulated: false, isWatched: true, publicStatus: { slug, showsJoinKey: false }, ownersSignIn: false },
  });
}

test("readers at once and within five seconds share one, and a change of the server shows at once", async () => {
  const { statuses, stage } = makeStatuses();
  expect(await statuses.read("cedar")).toBeUndefined();
  publish(stage, "cedar");
  const [one, two] = await Promise.all([statuses.read("cedar"), statuses.read("cedar")]);
  stage.now += BUILT_MS - 1;
  expect([two, await statuses.read("cedar"), stage.built]).toEqual([one, one, 1]);
  stage.now += 1;
  await statuses.read("cedar");
  expect(stage.built).toBe(2);
  publish(stage, "cedar");
  await statuses.read("cedar");
  expect(stage.built).toBe(3);
});

test("what was switched off while it was put together is not shown", async () => {
  const { promise, resolve } = Promise.withResolvers<[]>();
  const { statuses, stage } = makeStatuses({ changes: { listStateChanges: () => promise } });
  publish(stage, "cedar");
  const reading = statuses.read("cedar");
  stage.servers.delete("cedar");
  resolve([]);
  expect(await reading).toBeUndefined();
});

test("an archive that fails or does not answer takes away what it knows, and nothing else", async () => {
  const { statuses, stage } = makeStatuses({
    history: { readCounts: () => new Promise(() => {}) },
    changes: { listStateChanges: () => Promise.reject(new StoreUnavailable("away")) },
    sleep: async () => {},
  });
  publish(stage, "cedar");
  expect(await statuses.read("cedar")).toMatchObject({ players: 3, hours: null, outages: null });
  const none = makeStatuses({ history: undefined, changes: undefined });
  publish(none.stage, "cedar");
  expect(await none.statuses.read("cedar")).toMatchObject({ players: 3, hours: null, outages: null });
});

test("however many servers are public, only so many are held", async () => {
  const { statuses, stage } = makeStatuses();
  for (let n = 0; n <= STATUSES_MAX; n++) {
    publish(stage, `s${n}`);
    await statuses.read(`s${n}`);
  }
  expect(statuses.size).toBe(STATUSES_MAX);
  stage.now += BUILT_MS;
  await statuses.read("s0");
  expect(statuses.size).toBe(1);
});

test("a week has 168 hours; one without readings is unknown, and the current one is known as far as it has passed", () => {
  const from = NOW - HOUR_MS / 2 - 167 * HOUR_MS;
  const current = from + 167 * HOUR_MS;
  const hours = fillHours(
    [hour(from), hour(current, { knownMs: HOUR_MS / 2, playerMs: (HOUR_MS / 2) * 4 })],
    from,
    NOW,
  );
  expect(hours).toHaveLength(168);
  expect(hours[0]).toEqual({ at: from, known: 1, min: 5, avg: 7, max: 9 });
  expect(hours[1]).toEqual({ at: from + HOUR_MS, known: 0, min: null, avg: null, max: null });
  expect(hours[167]).toEqual({ at: current, known: 1, min: 5, avg: 4, max: 9 });
});
