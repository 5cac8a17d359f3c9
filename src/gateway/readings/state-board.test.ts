// Instances that tell each other through the database what they have read while one of them is without Redis.
import { beforeEach, expect, test } from "bun:test";
import type { GameServer } from "../../core/game-server.ts";
import { CLOSED_BREAKER } from "../../core/readings/breaker.ts";
import { NO_COUNTS } from "./server-outcomes.ts";
import { type KnownState, StateBoard } from "./state-board.ts";

const SERVERS = ["srv_a", "srv_b"].map((serverId) => ({ serverId, keyRevision: 1 }) as GameServer);

let now: number;
let saved: Map<string, string>;
let saves: number;
beforeEach(() => {
  now = 1_800_000_000_000;
  saved = new Map();
  saves = 0;
});

/** An instance that knows nothing yet. */
function open() {
  const known = new Map<string, KnownState>();
  const instance = {
    isShared: true,
    read(serverId: string, at = now) {
      const outcome = { keyRevision: 1, state: "online", counts: NO_COUNTS, lastReadAt: at, lastError: null } as const;
      known.set(serverId, { serverId, outcome, breaker: CLOSED_BREAKER, breakerFailure: null });
    },
    readAt: (serverId: string) => known.get(serverId)?.outcome.lastReadAt ?? null,
    exchange: () => board.exchange(),
  };
  const board = new StateBoard({
    settings: {
      find: async (name) => saved.get(name),
      async save(name, value) {
        saves++;
        saved.set(name, value);
      },
    },
    servers: { all: () => SERVERS.values() },
    relay: {
      findState: ({ serverId }) => known.get(serverId),
      learnState: (state) => void known.set(state.serverId, state),
    },
    isShared: () => instance.isShared,
    clock: () => now,
  });
  return instance;
}

async function exchangeAll(instances: readonly ReturnType<typeof open>[]): Promise<void> {
  for (let round = 0; round < 2; round++) for (const instance of instances) await instance.exchange();
}

test("what each instance has read is known to all while Redis is away, the newest reading of each server", async () => {
  const [one, two, three] = [open(), open(), open()];
  for (const instance of [one, two, three]) instance.isShared = false;
  one.read("srv_a", now - 1_000);
  two.read("srv_a");
  two.read("srv_b", now - 2_000);
  await exchangeAll([one, two, three]);
  for (const { readAt } of [one, two, three]) expect([readAt("srv_a"), readAt("srv_b")]).toEqual([now, now - 2_000]);
  saves = 0;
  await exchangeAll([one, two, three]);
  expect(saves).toBe(0);
});

test("an instance that alone is without Redis knows what the others read, and they know what it reads", async () => {
  const [one, alone] = [open(), open()];
  one.read("srv_a");
  await exchangeAll([one, alone]);
  expect(saves).toBe(0);
  alone.isShared = false;
  alone.read("srv_b");
  await exchangeAll([one, alone]);
  await exchangeAll([one, alone]);
  for (const { readAt } of [one, alone]) expect([readAt("srv_a"), readAt("srv_b")]).toEqual([now, now]);
  alone.isShared = true;
  now += 10_000;
  saves = 0;
  one.read("srv_a");
  await exchangeAll([one, alone]);
  expect(saves).toBe(0);
});

test("a reading with an older key never takes the place of one with a newer key", async () => {
  const [one, two] = [open(), open()];
  one.isShared = false;
  two.isShared = false;
  two.read("srv_a");
  await two.exchange();
  const newer = saved.get("watched-servers")?.replace('"keyRevision":1', '"keyRevision":2') ?? "";
  saved.set("watched-servers", newer);
  now += 1_000;
  one.read("srv_a");
  await one.exchange();
  expect(saved.get("watched-servers")).toBe(newer);
});
