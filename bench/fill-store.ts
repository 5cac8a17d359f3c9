// Fills a store with servers and keys before Gatehouse starts with it.
import { DEFAULT_RIGHTS } from "../src/core/api-key.ts";
import type { Log } from "../src/core/ports/log.ts";
import type { Store } from "../src/core/ports/store.ts";
import { hashToken } from "../src/core/token.ts";
import { parseRedisAddress } from "../src/store/redis/parse-address.ts";
import { openRedisStore } from "../src/store/redis/redis-store.ts";
import { Sealer } from "../src/store/sealer.ts";
import { openSqliteStore } from "../src/store/sqlite/sqlite-store.ts";
import { SECRET, serverKeyOf } from "./stage.ts";

const BATCH_SIZE = 256;
const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} };

export function openSqlite(folder: string): Store {
  return openSqliteStore({
    path: `${folder}/gatehouse.db`,
    sealer: new Sealer(SECRET),
    log: SILENT,
    clock: Date.now,
  });
}

export async function openRedis(url: string): Promise<Store> {
  const address = parseRedisAddress(url);
  if (!address) throw new Error(`${url} is not an address`);
  return openRedisStore({ address, sealer: new Sealer(SECRET), log: SILENT, commandLeaseMs: 10_000 });
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
export async function fillKeys(
  store: Store,
  serverIds: readonly string[],
  tokens: readonly string[],
): Promise<void> {
  for (let done = 0; done < tokens.length; done += BATCH_SIZE) {
    const batch = tokens.slice(done, done + BATCH_SIZE);
    await Promise.all(
      batch.map((token, i) =>
        store.keys.create(
          {
            ...DEFAULT_RIGHTS,
            commands: ["*"],
            serverId: serverIds[(done + i) % serverIds.length] ?? "",
            label: "bench",
            expiresAt: null,
            tokenHash: hashToken(token),
          },
          Date.now(),
        ),
      ),
    );
  }
}
