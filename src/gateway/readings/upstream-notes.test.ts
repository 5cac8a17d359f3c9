// Pauses and refused keys are known to all instances and after a restart, whatever happens to the database meanwhile.
import { beforeEach, describe, expect, test } from "bun:test";
import { StoreUnavailable } from "../../core/errors.ts";
import type { GameServer } from "../../core/game-server.ts";
import type { Log } from "../../core/ports/log.ts";
import type { UpstreamFailure } from "../../core/ports/upstream.ts";
import { LIFTED_AT } from "../../core/readings/upstream-notes.ts";
import { BudgetKeeper } from "./budget-keeper.ts";
import { GlobalKey } from "./server-statuses.ts";
import { UpstreamNotes } from "./upstream-notes.ts";

const NOW = 1_800_000_000_000;
const REFUSED: UpstreamFailure = { code: 2003, message: "refused", isRateLimit: false };
const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} };

/** The database that all instances share. */
const values = new Map<string, string>();
let isAway: boolean;
const check = () => {
  if (isAway) throw new StoreUnavailable("away");
};
const settings = {
  find: async (name: string) => {
    check();
    return values.get(name);
  },
  save: async (name: string, value: string) => void values.set(name, value),
  saveIfAbsent: async (_name: string, value: string) => value,
  amend: async (name: string, change: (value: string | undefined) => string | undefined) => {
    check();
    const value = change(values.get(name));
    if (value !== undefined) values.set(name, value);
  },
};
const servers = { find: (serverId: string) => ({ serverId, keyRevision: 1 }) as GameServer };

beforeEach(() => {
  values.clear();
  isAway = false;
});

const open = (identity = "a") =>
  UpstreamNotes.open({ settings, servers } as unknown as Parameters<typeof UpstreamNotes.open>[0], identity, SILENT);

async function startInstance(identity = "a") {
  const notes = await open(identity);
  const key = new GlobalKey({ isUsed: true, notes });
  const keeper = new BudgetKeeper(undefined, () => NOW, notes);
  notes.onNews = (saved) => {
    key.learnNote(saved.globalKeyFailure);
    keeper.learnNote(saved);
  };
  return { notes, key, keeper };
}

const refusedKey = (serverId: string) => ({ serverId, keyRevision: 1, failure: REFUSED });

describe("a refused global key", () => {
  test("is known to every instance, also to those that start later, until one retries", async () => {
    const [one, two] = [await startInstance(), await startInstance()];
    one.key.learnFailure(REFUSED, 5);
    await one.notes.catchUp();
    await two.notes.catchUp();
    const late = await startInstance();
    expect([one, two, late].map(({ key }) => key.failure)).toEqual([REFUSED, REFUSED, REFUSED]);
    expect([one, two, late].map(({ key }) => key.refusedAt)).toEqual([5, 5, 5]);
    two.key.retry();
    await two.notes.catchUp();
    await one.notes.catchUp();
    expect(one.key.failure).toBeUndefined();
  });

  test("of another key or game API means nothing here", async () => {
    const one = await startInstance("a");
    one.key.learnFailure(REFUSED, 5);
    await one.notes.catchUp();
    expect((await startInstance("b")).key.failure).toBeUndefined();
  });

  test("that could not be saved stays refused here, whatever the others have saved", async () => {
    const [one, two] = [await startInstance(), await startInstance()];
    isAway = true;
    one.key.learnFailure(REFUSED, 5);
    await expect(one.notes.catchUp()).rejects.toThrow(StoreUnavailable);
    isAway = false;
    two.key.retry();
    await two.notes.catchUp();
    await one.notes.catchUp();
    expect(one.key.failure).toEqual(REFUSED);
  });
});

describe("refused server keys", () => {
  test("of two instances are all kept, and each can take its own back", async () => {
    const [one, two] = [await open(), await open()];
    one.saveRefusedKeys([refusedKey("srv_1")]);
    two.saveRefusedKeys([refusedKey("srv_2")]);
    await Promise.all([one.catchUp(), two.catchUp()]);
    await one.catchUp();
    expect(one.saved.refusedKeys.map(({ serverId }) => serverId)).toEqual(["srv_1", "srv_2"]);
    one.saveRefusedKeys([refusedKey("srv_2")]);
    await one.catchUp();
    await two.catchUp();
    expect(two.saved.refusedKeys.map(({ serverId }) => serverId)).toEqual(["srv_2"]);
  });
});

describe("a pause", () => {
  const pause = (ms: number) => ({ pausedUntil: NOW + ms, pauseMs: ms, isPauseNamed: true });

  test("is known to every instance; the longer of two counts", async () => {
    const [one, two] = [await startInstance(), await startInstance()];
    one.notes.savePause(pause(60_000));
    await one.notes.catchUp();
    two.notes.savePause(pause(5_000));
    await two.notes.catchUp();
    expect([one, two].map(({ keeper }) => keeper.msPaused(NOW))).toEqual([60_000, 60_000]);
  });

  test("that an operator has lifted is over for every instance, and the commands there go on", async () => {
    const [one, two] = [await startInstance(), await startInstance()];
    one.notes.savePause(pause(60_000));
    await one.notes.catchUp();
    await two.notes.catchUp();
    let lifts = 0;
    two.keeper.onLift = () => void lifts++;
    await settings.amend(LIFTED_AT, () => String(NOW + 1));
    await one.keeper.lift(NOW + 1);
    await one.notes.catchUp();
    await two.notes.catchUp();
    expect([two.keeper.msPaused(NOW), lifts]).toEqual([0, 1]);
  });
});
