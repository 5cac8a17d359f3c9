// The embedded store fulfils the contract of a command queue, and many acceptances share one commit.
import { Database } from "bun:sqlite";
import { afterAll, describe, expect, test } from "bun:test";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { HISTORY_LIMITS } from "../../src/core/commands/command.ts";
import { StoreUnavailable } from "../../src/core/errors.ts";
import type { Acceptance } from "../../src/core/ports/commands.ts";
import type { Store } from "../../src/core/ports/store.ts";
import { openTestStore } from "../open-store.ts";
import { makeTestFolder } from "../start-gatehouse.ts";
import { describeCommandQueue } from "./command-queue-contract.ts";
import { countCommits } from "./count-commits.ts";
import type { StoreHarness } from "./store-contract.ts";

const NOW = 1_800_000_000_000;
const root = makeTestFolder();
afterAll(() => rmSync(root, { recursive: true, force: true }));
let folders = 0;

function newFolder(): string {
  const folder = join(root, String(++folders));
  mkdirSync(folder);
  return folder;
}

function openStore(path: string, historyLimits = HISTORY_LIMITS): Promise<Store> {
  return openTestStore({ path, historyLimits });
}

async function createHarness(): Promise<StoreHarness> {
  let folder = newFolder();
  const open: Store[] = [];
  return {
    async open(historyLimits) {
      const store = await openStore(join(folder, "gatehouse.db"), historyLimits);
      open.push(store);
      return store;
    },
    // A killed process leaves the files in their current state, including the write-ahead log.
    async crash() {
      const copy = newFolder();
      for (const name of readdirSync(folder)) copyFileSync(join(folder, name), join(copy, name));
      folder = copy;
    },
    async dispose() {
      for (const store of open.splice(0)) await store.close();
    },
  };
}

describeCommandQueue("the embedded store", createHarness);

test("a forgotten player is not in the bytes of the files, dropped commands included, once nobody else reads them", async () => {
  const folder = newFolder();
  const path = join(folder, "gatehouse.db");
  const store = await openStore(path, { ...HISTORY_LIMITS, finishedMax: 50 });
  const { serverId } = await store.servers.create({ name: "One", community: null, serverKey: "a-b" }, NOW);
  for (let i = 0; i < 200; i++) {
    const text = `:pm Zanzibar ${"x".repeat((i * 37) % 900)}`;
    await store.commands.accept({ serverId, keyId: "key_a", text, idempotencyKey: `once-${i}` }, NOW);
    const claimed = await store.commands.claim(serverId, NOW + i, 0);
    if (claimed.kind !== "claimed") throw new Error(claimed.kind);
    const end = { status: "failed", upstreamCode: 1001, upstreamMessage: "y".repeat(i) } as const;
    await store.commands.settle(claimed.command.commandId, end, NOW + i);
  }
  const isInFiles = () => readdirSync(folder).some((file) => readFileSync(join(folder, file)).includes("Zanzibar"));
  const player = { id: "77", names: ["Zanzibar"] };
  const reader = new Database(path, { readonly: true });
  reader.exec("BEGIN; SELECT count(*) FROM commands");
  expect(await store.commands.forgetPlayer(player, NOW)).toBe(false);
  expect(isInFiles()).toBe(true);
  reader.close();
  expect(await store.commands.forgetPlayer(player, NOW)).toBe(true);
  expect(isInFiles()).toBe(false);
  await store.close();
});

describe("the group commit of the embedded store", () => {
  /** Opens a store with two more connections: one sees each commit at once, the other prevents a restart of the write-ahead log. */
  async function openWitnessed() {
    const path = join(newFolder(), "gatehouse.db");
    const store = await openStore(path);
    const { serverId } = await store.servers.create({ name: "One", community: null, serverKey: "a-b" }, NOW);
    const witness = new Database(path, { readonly: true });
    const reader = new Database(path, { readonly: true });
    reader.exec("BEGIN");
    reader.query("SELECT count(*) FROM commands").get();
    const rows = witness.query<{ count: number }, []>("SELECT count(*) AS count FROM commands");
    const one = witness.query("SELECT 1 FROM commands WHERE command_id = ?");
    let servers = 0;
    return {
      store,
      path,
      /** Texts for twenty servers in turn, so that no queue is full too soon. */
      accept: (index: number) => {
        const draft = { keyId: "key_1", text: `:h ${index}`, idempotencyKey: undefined };
        return store.commands.accept({ ...draft, serverId: `${serverId}${servers++ % 20}` }, NOW);
      },
      commits: () => countCommits(path),
      rows: () => rows.get()?.count ?? 0,
      sees: (acceptance: Acceptance) => "receipt" in acceptance && one.get(acceptance.receipt.commandId) !== null,
      async close() {
        reader.close();
        witness.close();
        await store.close();
      },
    };
  }

  test("1,000 acceptances at once need at most 4 commits, and one after the other one each", async () => {
    const { accept, rows, commits, close } = await openWitnessed();
    const before = commits();
    await Promise.all(Array.from({ length: 1_000 }, (_, index) => accept(index)));
    expect(rows()).toBe(1_000);
    expect(commits() - before).toBeLessThanOrEqual(4);
    const between = commits();
    for (let i = 0; i < 5; i++) await accept(i);
    expect(commits() - between).toBe(5);
    await close();
  });

  test("no acceptance resolves before another connection can see the commit", async () => {
    const witnessed = await openWitnessed();
    const answers = Array.from({ length: 300 }, async (_, index) => {
      const acceptance = await witnessed.accept(index);
      return { isSeen: witnessed.sees(acceptance), acceptance };
    });
    expect(witnessed.rows()).toBe(0);
    for (const { isSeen, acceptance } of await Promise.all(answers)) {
      expect(acceptance).toHaveProperty("receipt");
      expect(isSeen).toBe(true);
    }
    await witnessed.close();
  });

  test("a group that cannot be committed is rejected as a whole", async () => {
    const witnessed = await openWitnessed();
    const blocker = new Database(witnessed.path);
    blocker.exec("BEGIN IMMEDIATE");
    for (const one of await Promise.allSettled([0, 1, 2].map(witnessed.accept))) {
      expect(one.status === "rejected" && one.reason).toBeInstanceOf(StoreUnavailable);
    }
    blocker.exec("ROLLBACK");
    blocker.close();
    expect(witnessed.rows()).toBe(0);
    expect(await witnessed.accept(0)).toHaveProperty("receipt");
    expect(witnessed.rows()).toBe(1);
    await witnessed.close();
  });

  test("closing commits all waiting changes", async () => {
    const path = join(newFolder(), "gatehouse.db");
    const store = await openStore(path);
    const draft = { serverId: "srv_1", keyId: "key_1", text: ":h", idempotencyKey: undefined };
    const answers = [store.commands.accept(draft, NOW), store.commands.accept(draft, NOW)];
    await store.close();
    expect(await Promise.all(answers)).toHaveLength(2);
    const again = await openStore(path);
    expect(await again.commands.report()).toMatchObject({ waiting: 2 });
    await again.close();
  });
});
