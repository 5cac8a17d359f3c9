// Fills a store with servers and keys before Gatehouse starts with it.
import { DEFAULT_SETTINGS } from "../src/core/keys/key-settings.ts";
import { hashToken } from "../src/core/keys/token.ts";
import type { Log } from "../src/core/ports/log.ts";
import type { Store } from "../src/core/ports/store.ts";
import { Sealer } from "../src/database/sealer.ts";
import { openPostgresStore } from "../src/database/store/open-postgres-store.ts";
import { openSqliteStore } from "../src/database/store/open-sqlite-store.ts";
import { MemoryLimits } from "../src/shared/memory-limits.ts";
import { SECRET, serverKeyOf } from "./stage.ts";

const BATCH_SIZE = 256;
const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} };

export function openSqlite(folder: string): Promise<Store> {
  return openSqliteStore({
    path: `${folder}/gatehouse.db`,
    sealer: new Sealer(SECRET),
    log: SILENT,
    clock: Date.now,
    openLimits: ({ blocks }) => new MemoryLimits(blocks, SILENT),
  });
}

export async function openPostgres(url: string): Promise<Store> {
  const { store } = await openPostgresStore({
    url,
    sealer: new Sealer(SECRET),
    log: SILENT,
    isShared: false,
    openLimits: ({ blocks }) => new MemoryLimits(blocks, SILENT),
  });
  return store;
}

/** Adds servers until there are `count`, and returns their ids. */
export async function fillServers(store: Store, count: number): Promise<string[]> {
  const servers = [...(await store.servers.list({ limit: count })).items];
  while (servers.length < count) {
    const index = servers.length;
    const draft = { name: `Town ${index}`, community: null, serverKey: serverKeyOf(index) };
    servers.push(await store.servers.create(draft, Date.now()));
  }
  return servers.map(({ serverId }) => serverId);
}

/** Creates a key for each token, on the servers in turn. The keys may send any command. */
export async function fillKeys(store: Store, serverIds: readonly string[], tokens: readonly string[]): Promise<void> {
  for (let done = 0; done < tokens.length; done += BATCH_SIZE) {
    const batch = tokens.slice(done, done + BATCH_SIZE);
    await Promise.all(
      batch.map((token, i) =>
        store.keys.create(
          {
            ...DEFAULT_SETTINGS,
            commands: ["*"],
            serverId: serverIds[(done + i) % serverIds.length] ?? "",
            label: "bench",
            tokenHash: hashToken(token),
          },
          Date.now(),
        ),
      ),
    );
  }
}
