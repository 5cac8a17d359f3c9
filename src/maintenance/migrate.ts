// gatehouse migrate: copies servers, keys, blocks and waiting commands to another store, and compares them afterwards.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { StartRefused } from "../core/errors.ts";
import type { Log } from "../core/ports/log.ts";
import type { PortableItem, PortableStore } from "../core/ports/portable-store.ts";
import { DataFolder } from "../data-folder.ts";
import { parseRedisAddress } from "../store/redis/parse-address.ts";
import { Sealer } from "../store/sealer.ts";
import { markMigration, refuseUnfinished } from "../store/unfinished-migration.ts";

const BATCH_SIZE = 200;
const COMMAND_LEASE_MS = 10_000;
const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} };

export type Counts = Record<PortableItem["kind"], number>;
export type Migration = { readonly moved: Counts };

export type MigrationSettings = {
  readonly from: string;
  readonly to: string;
  readonly dataDir: string;
  /** Undefined: secret.key in the data folder. */
  readonly secret: string | undefined;
  readonly onProgress: (done: number, total: number) => void;
};

/** Throws StartRefused when a store is unusable or in use. The source is not changed. */
export async function migrate(settings: MigrationSettings): Promise<Migration> {
  const { from, to, onProgress } = settings;
  if (from === to) throw new StartRefused("--from and --to are the same store", 2);
  const database = join(settings.dataDir, "gatehouse.db");
  if (from === "sqlite" && !existsSync(database)) {
    throw new StartRefused(`there is no ${database} — set GATEHOUSE_DATA_DIR or --data-dir`);
  }
  const source = await openStore(from, settings);
  try {
    await refuseUnfinished(source.settings);
    const others = await source.countOtherInstances();
    if (others > 0)
      throw new StartRefused(
        `${others} instance(s) of Gatehouse still use ${hidePassword(from)} — stop them first`,
      );
    refuseIgnored(source, from);
    const target = await openStore(to, settings);
    try {
      await refuseUsed(target, to);
      const items = await readAll(source);
      await markMigration(target.settings, false);
      const moved: Counts = { server: 0, key: 0, block: 0, command: 0 };
      for (let done = 0; done < items.length; done += BATCH_SIZE) {
        const batch = items.slice(done, done + BATCH_SIZE);
        await target.writeItems(batch);
        for (const { kind } of batch) moved[kind]++;
        onProgress(Math.min(done + BATCH_SIZE, items.length), items.length);
      }
      compareItems(items, await readAll(target), to);
      await markMigration(target.settings, true);
      return { moved };
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

async function openStore(name: string, { dataDir, secret }: MigrationSettings): Promise<PortableStore> {
  const folder = DataFolder.open(dataDir);
  const storeSecret = secret ?? folder.findSecret("secret.key");
  if (storeSecret === undefined) {
    throw new StartRefused(
      `there is no secret.key in ${folder.path} — put it there, or set GATEHOUSE_SECRET`,
    );
  }
  const sealer = new Sealer(storeSecret);
  if (name === "sqlite") {
    const { openSqliteStore } = await import("../store/sqlite/sqlite-store.ts");
    return openSqliteStore({ path: folder.databasePath, sealer, log: SILENT, clock: Date.now });
  }
  const address = parseRedisAddress(name);
  if (!address) throw new StartRefused("--from and --to must be sqlite or the address of a Redis", 2);
  const { openRedisStore } = await import("../store/redis/redis-store.ts");
  const { TOOL_REPLY_DEADLINE_MS: replyDeadlineMs } = await import("../store/redis/redis-link.ts");
  return openRedisStore({ address, sealer, log: SILENT, commandLeaseMs: COMMAND_LEASE_MS, replyDeadlineMs });
}

async function readAll(store: PortableStore): Promise<PortableItem[]> {
  const items: PortableItem[] = [];
  for await (const item of store.readItems()) items.push(item);
  return items;
}

/** They would be left behind without a word, and the source may be deleted after the migration. */
function refuseIgnored(source: PortableStore, name: string): void {
  const ignored = source.countIgnored();
  if (ignored === 0) return;
  throw new StartRefused(
    `${ignored} servers and keys in ${hidePassword(name)} have no valid signature and would be left behind; nothing was moved — ` +
      "run `gatehouse doctor` on that store, which says what to do",
  );
}

async function refuseUsed(target: PortableStore, name: string): Promise<void> {
  const others = await target.countOtherInstances();
  if (others > 0)
    throw new StartRefused(
      `${others} instance(s) of Gatehouse use ${hidePassword(name)} already — stop them first`,
    );
  for await (const _ of target.readItems()) {
    throw new StartRefused(`${hidePassword(name)} is not empty; nothing was moved — choose an empty store`);
  }
}

/** Compares every field, because the source may be deleted after the migration. */
function compareItems(
  allSent: readonly PortableItem[],
  allArrived: readonly PortableItem[],
  name: string,
): void {
  // A block may have ended in the meantime.
  const sent = allSent.filter(({ kind }) => kind !== "block");
  const arrived = allArrived.filter(({ kind }) => kind !== "block");
  const found = new Map(arrived.map((item) => [nameOf(item), item]));
  const missing = sent.filter((item) => !isDeepStrictEqual(found.get(nameOf(item)), item));
  if (missing.length === 0 && arrived.length === sent.length) return;
  const [first] = missing;
  throw new StartRefused(
    `${missing.length} of ${sent.length} differ in the new store${first ? `, for example ${nameOf(first)}` : ""} — ` +
      `empty ${hidePassword(name)} and try again; the source is unchanged`,
  );
}

function nameOf(item: PortableItem): string {
  switch (item.kind) {
    case "server":
      return item.server.serverId;
    case "key":
      return item.key.keyId;
    case "block":
      return `block of ${item.block.keyId}`;
    case "command":
      return item.command.commandId;
  }
}

function hidePassword(name: string): string {
  return name.replace(/\/\/.*@/s, "//[redacted]@");
}
