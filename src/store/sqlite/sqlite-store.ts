// The embedded store: one SQLite connection. Durable data is on disk, data that every request needs is also in memory, and
// request counts are in memory only.
import type { Database } from "bun:sqlite";
import { randomUUID } from "node:crypto";
import { HISTORY_LIMITS, type HistoryLimits } from "../../core/command.ts";
import { StoreUnavailable } from "../../core/errors.ts";
import type { GameServer } from "../../core/game-server.ts";
import type { Clock } from "../../core/ports/clock.ts";
import type { Log } from "../../core/ports/log.ts";
import type { PortableItem, PortableStore } from "../../core/ports/portable-store.ts";
import type { TidyTimes } from "../../core/ports/store.ts";
import { createFileCheck } from "../../sqlite/database-file.ts";
import { refuseToOpen } from "../../sqlite/explain-open-error.ts";
import type { Sealer } from "../sealer.ts";
import { AuditLog } from "./audit-log.ts";
import { CommandHistory } from "./command-history.ts";
import { SqliteCommandQueue } from "./command-queue.ts";
import { Committer } from "./committer.ts";
import { deleteExpiredDevices } from "./device-rows.ts";
import { DeviceTable } from "./device-table.ts";
import { GroupCommit } from "./group-commit.ts";
import { KeyTable } from "./key-table.ts";
import { LimitTable } from "./limit-table.ts";
import { lockDataFolder, openDatabase } from "./open-database.ts";
import { readItems, writeItem } from "./portable-items.ts";
import { ServerTable } from "./server-table.ts";
import { SettingsTable } from "./settings-table.ts";
import { TransactionRunner } from "./transaction-runner.ts";
import { UsageLog } from "./usage-log.ts";

const TIDY_BATCH = 500;

export type SqliteStoreSettings = {
  readonly path: string;
  readonly sealer: Sealer;
  readonly log: Log;
  readonly clock: Clock;
  readonly historyLimits?: HistoryLimits;
};

/** Throws StartRefused for a file that is not ours, is damaged, is in use, or was sealed with another secret. */
export function openSqliteStore(settings: SqliteStoreSettings): PortableStore {
  const lock = lockDataFolder(`${settings.path}.lock`);
  let db: Database | undefined;
  try {
    db = openDatabase(settings.path);
    return new SqliteStore(db, lock, settings);
  } catch (error) {
    db?.close();
    lock.close();
    // The tables report an error of SQLite as StoreUnavailable.
    const isWrapped = error instanceof StoreUnavailable && error.cause !== undefined;
    throw refuseToOpen(settings.path, isWrapped ? error.cause : error);
  }
}

class SqliteStore implements PortableStore {
  readonly servers: ServerTable;
  readonly keys: KeyTable;
  readonly devices: DeviceTable;
  readonly limits: LimitTable;
  readonly usage: UsageLog;
  readonly audit: AuditLog;
  readonly settings: SettingsTable;
  readonly commands: SqliteCommandQueue;
  readonly #history: CommandHistory;
  readonly #db: Database;
  readonly #lock: Database;
  readonly #sealer: Sealer;
  readonly #clock: Clock;
  readonly #transactions: TransactionRunner;
  readonly #groupCommit: GroupCommit;
  readonly #committer: Committer;
  #isClosed = false;

  constructor(db: Database, lock: Database, settings: SqliteStoreSettings) {
    const { path, sealer, log, clock, historyLimits = HISTORY_LIMITS } = settings;
    const audit = new AuditLog(db);
    const committer = new Committer(db, createFileCheck(path), log);
    const transactions = new TransactionRunner(committer, audit);
    const groupCommit = new GroupCommit(committer);
    const settingsTable = new SettingsTable(db, transactions);
    settingsTable.checkSecret(sealer);
    const history = new CommandHistory(db, historyLimits);
    const commands = new SqliteCommandQueue(db, groupCommit, audit, history);
    commands.recover(clock());
    const serverCache = new Map<string, GameServer>();
    const limits = new LimitTable(db, transactions, log);
    const keys = new KeyTable({ db, transactions, groupCommit, audit, limits, servers: serverCache });
    this.servers = new ServerTable({ db, transactions, sealer, cache: serverCache, keys, commands });
    this.keys = keys;
    this.devices = new DeviceTable({ db, transactions, audit, keys, servers: serverCache });
    this.limits = limits;
    this.usage = new UsageLog(db, transactions);
    this.audit = audit;
    this.settings = settingsTable;
    this.commands = commands;
    this.#history = history;
    this.#db = db;
    this.#lock = lock;
    this.#sealer = sealer;
    this.#clock = clock;
    this.#transactions = transactions;
    this.#groupCommit = groupCommit;
    this.#committer = committer;
  }

  async tidy({ now, usage, audit, commands }: TidyTimes): Promise<void> {
    await this.servers.finishDeletions();
    this.#transactions.write(() => {
      this.commands.deleteExpiredHolds(now);
      this.#db.query("DELETE FROM deleted_servers WHERE deleted_at < ?").run(audit);
      this.#db.query("DELETE FROM blocks WHERE blocked_until <= ?").run(now);
      this.#db.query("DELETE FROM tokens WHERE valid_until <= ?").run(now);
      deleteExpiredDevices(this.#db, now);
      this.#history.deleteEmptyCounts();
    });
    await this.#deleteInBatches(() => this.commands.deleteBefore(commands, TIDY_BATCH));
    await this.#deleteInBatches(() => this.#history.deleteReceipts(now, TIDY_BATCH));
    // A history that an older version has let grow.
    for (const serverId of this.#transactions.read(() => this.#history.listOverfull()))
      await this.#deleteInBatches(() => this.#history.drop(serverId, now, TIDY_BATCH));
    await this.#deleteInBatches(() => this.usage.deleteBefore(usage, TIDY_BATCH));
    await this.#deleteInBatches(() => this.audit.deleteBefore(audit, TIDY_BATCH));
  }

  /** Sleeps as long as each batch took, so that requests get at least half of the time: there may be very many rows. */
  async #deleteInBatches(deleteBatch: () => number): Promise<void> {
    while (!this.#isClosed) {
      const startedAt = performance.now();
      if (this.#transactions.write(deleteBatch) < TIDY_BATCH) return;
      await Bun.sleep(performance.now() - startedAt);
    }
  }

  async checkHealth(): Promise<void> {
    // A new value each time, because SQLite writes nothing when the value is the same.
    await this.settings.save("last-health-check", randomUUID());
  }

  async *readItems(): AsyncGenerator<PortableItem> {
    await this.servers.finishDeletions();
    yield* readItems(this.#db, this.#sealer, this.#clock());
  }

  async writeItems(items: readonly PortableItem[]): Promise<void> {
    this.#transactions.write(() => {
      for (const item of items) writeItem(this.#db, this.#sealer, item);
    });
    for (const item of items) {
      if (item.kind === "server") this.servers.cacheServer(item.server);
      else if (item.kind === "key") for (const { tokenHash } of item.tokens) this.keys.addToken(tokenHash);
      else if (item.kind === "block") this.limits.loadBlock(item.block);
    }
  }

  /** Always 0, because the data folder is locked. */
  countIgnored(): number {
    return 0;
  }

  async countOtherInstances(): Promise<number> {
    return 0;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.servers.close();
    this.#groupCommit.flush();
    this.limits.close();
    this.#committer.close();
    this.#db.close();
    this.#lock.close();
  }
}
