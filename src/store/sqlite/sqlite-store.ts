// The embedded store. One connection; everything that must last is on disk; servers and blocks are also in memory, where
// the way of a request finds them; counts are in memory alone.
import type { Database } from "bun:sqlite";
import { randomUUID } from "node:crypto";
import type { ApiKey, KeyIdentity } from "../../core/api-key.ts";
import { StartRefused } from "../../core/errors.ts";
import type { GameServer } from "../../core/game-server.ts";
import type {
  AuditEntry,
  AuditNote,
  Block,
  Clock,
  DeletedServer,
  KeyChange,
  KeyDetails,
  KeyDraft,
  Log,
  Page,
  PageRequest,
  PortableItem,
  PortableStore,
  ServerDraft,
  TidyTimes,
  UsageCell,
  UsageCount,
} from "../../core/ports.ts";
import type { Verdict } from "../../core/rate-limit.ts";
import type { Sealer } from "../sealer.ts";
import { AuditLog } from "./audit-log.ts";
import { SqliteCommandQueue } from "./command-queue.ts";
import { GroupCommit } from "./group-commit.ts";
import { KeyTable } from "./key-table.ts";
import { LimitBook } from "./limit-book.ts";
import { createFileCheck, lockDataFolder, openDatabase } from "./open-database.ts";
import { readItems, writeItem } from "./portable.ts";
import { ServerTable } from "./server-table.ts";
import { SettingsTable } from "./settings-table.ts";
import { Transactions } from "./transactions.ts";
import { UsageLog } from "./usage-log.ts";

const TIDIED_AT_ONCE = 500;

export type SqliteStoreSettings = {
  readonly path: string;
  readonly sealer: Sealer;
  readonly log: Log;
  readonly clock: Clock;
};

/** Refuses to start on a file that is not ours, is damaged, is in use, or was sealed with another secret. */
export function openSqliteStore(settings: SqliteStoreSettings): PortableStore {
  const lock = lockDataFolder(`${settings.path}.lock`);
  let db: Database | undefined;
  try {
    db = openDatabase(settings.path);
    return new SqliteStore(db, lock, settings);
  } catch (error) {
    db?.close();
    lock.close();
    if (error instanceof StartRefused) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new StartRefused(`${settings.path} cannot be used: ${reason} — check the disk and its permissions`);
  }
}

class SqliteStore implements PortableStore {
  readonly commands: SqliteCommandQueue;
  readonly #db: Database;
  readonly #lock: Database;
  readonly #sealer: Sealer;
  readonly #clock: Clock;
  readonly #transactions: Transactions;
  readonly #group: GroupCommit;
  readonly #settings: SettingsTable;
  readonly #servers: ServerTable;
  readonly #keys: KeyTable;
  readonly #limits: LimitBook;
  readonly #usage: UsageLog;
  readonly #audit: AuditLog;
  #isClosed = false;

  constructor(db: Database, lock: Database, { path, sealer, log, clock }: SqliteStoreSettings) {
    this.#db = db;
    this.#lock = lock;
    this.#sealer = sealer;
    this.#clock = clock;
    const checkFile = createFileCheck(path);
    const audit = new AuditLog(db);
    const transactions = new Transactions(db, checkFile, audit);
    const group = new GroupCommit(db, checkFile);
    const limits = new LimitBook(db, log);
    this.#settings = new SettingsTable(db, transactions);
    this.#settings.checkSecret(sealer);
    const commands = new SqliteCommandQueue(db, group);
    commands.recover(clock());
    const keys = new KeyTable({ db, transactions, group, audit, limits });
    this.#servers = new ServerTable({ db, transactions, sealer, keys, commands });
    this.#keys = keys;
    this.#usage = new UsageLog(db);
    this.#audit = audit;
    this.#transactions = transactions;
    this.#group = group;
    this.#limits = limits;
    this.commands = commands;
  }

  findKey(tokenHash: string, now: number): ApiKey | undefined {
    return this.#keys.find(tokenHash, now, (serverId) => this.#servers.find(serverId)?.serverId ?? serverId);
  }

  get keysVersion(): number {
    return this.#keys.version;
  }

  findServer(serverId: string): GameServer | undefined {
    return this.#servers.find(serverId);
  }

  judge(key: KeyIdentity, now: number, isCounted: boolean): Verdict {
    return this.#limits.judge(key, now, isCounted);
  }

  async createServer(draft: ServerDraft, now: number, note?: AuditNote): Promise<GameServer> {
    return this.#servers.create(draft, now, note);
  }

  async findServerByName(name: string): Promise<GameServer | undefined> {
    return this.#servers.findByName(name);
  }

  async updateServer(
    serverId: string,
    change: Partial<ServerDraft>,
    note?: AuditNote,
  ): Promise<GameServer | undefined> {
    return this.#servers.update(serverId, change, note);
  }

  async deleteServer(serverId: string, now: number, note?: AuditNote): Promise<DeletedServer | undefined> {
    return this.#servers.delete(serverId, now, note);
  }

  async listServers(page: PageRequest): Promise<Page<GameServer>> {
    return this.#servers.list(page);
  }

  async readServerKey(serverId: string): Promise<string | undefined> {
    return this.#servers.readServerKey(serverId);
  }

  async createKey(draft: KeyDraft, now: number, note?: AuditNote): Promise<KeyDetails | undefined> {
    return this.#servers.find(draft.serverId) && this.#keys.create(draft, now, note);
  }

  async findKeyDetails(keyId: string): Promise<KeyDetails | undefined> {
    return this.#keys.findDetails(keyId);
  }

  async listKeys(page: PageRequest & { serverId?: string }): Promise<Page<KeyDetails>> {
    return this.#keys.list(page);
  }

  async updateKey(keyId: string, change: KeyChange, note?: AuditNote): Promise<KeyDetails | undefined> {
    return this.#keys.update(keyId, change, note);
  }

  async rotateKey(
    keyId: string,
    tokenHash: string,
    oldValidUntil: number,
    now: number,
    note?: AuditNote,
  ): Promise<boolean> {
    return this.#keys.rotate(keyId, tokenHash, oldValidUntil, now, note);
  }

  async revokeKey(keyId: string, now: number, note?: AuditNote): Promise<boolean> {
    return this.#keys.revoke(keyId, now, note);
  }

  async listBlocks(now: number): Promise<readonly Block[]> {
    return this.#limits.listBlocks(now);
  }

  async liftBlock(keyId: string, now: number, note?: AuditNote): Promise<void> {
    if (!this.#limits.isBlocked(keyId, now)) return;
    this.#transactions.writeNoted(keyId, note, () => this.#limits.deleteSaved(keyId));
    this.#limits.startOver(keyId);
  }

  async addUsage(cells: readonly UsageCell[]): Promise<readonly UsageCell[]> {
    this.#transactions.write(() => this.#usage.add(cells));
    // There is room again, if there was none.
    this.#limits.saveMissed();
    return [];
  }

  async readUsage(keyId: string, since: number): Promise<readonly UsageCount[]> {
    return this.#transactions.read(() => this.#usage.read(keyId, since));
  }

  async noteChange(target: string, note: AuditNote): Promise<void> {
    this.#transactions.write(() => this.#audit.add(target, note));
  }

  async listAudit(page: PageRequest): Promise<Page<AuditEntry>> {
    return this.#transactions.read(() => this.#audit.list(page));
  }

  async tidy({ now, usage, audit, commands }: TidyTimes): Promise<void> {
    this.#transactions.write(() => {
      this.commands.forgetPaces(now);
      this.#db.query("DELETE FROM deleted_servers WHERE deleted_at < ?").run(audit);
      this.#db.query("DELETE FROM blocks WHERE blocked_until <= ?").run(now);
      this.#db.query("DELETE FROM tokens WHERE valid_until <= ?").run(now);
    });
    await this.#forget(() => this.commands.forgetBefore(commands, TIDIED_AT_ONCE));
    await this.#forget(() => this.#usage.forgetBefore(usage, TIDIED_AT_ONCE));
    await this.#forget(() => this.#audit.forgetBefore(audit, TIDIED_AT_ONCE));
  }

  /** Part by part, with room for requests between: there may be hundreds of thousands. */
  async #forget(forgetSome: () => number): Promise<void> {
    while (!this.#isClosed && this.#transactions.write(forgetSome) === TIDIED_AT_ONCE) {
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async findSetting(name: string): Promise<string | undefined> {
    return this.#settings.find(name);
  }

  async saveSetting(name: string, value: string): Promise<void> {
    this.#settings.save(name, value);
  }

  async keepSetting(name: string, value: string): Promise<string> {
    const kept = this.#settings.find(name);
    if (kept === undefined) this.#settings.save(name, value);
    return kept ?? value;
  }

  async checkHealth(): Promise<void> {
    // Another value each time: SQLite writes nothing when nothing changes.
    this.#settings.save("last-health-check", randomUUID());
    this.#limits.saveMissed();
  }

  async *readItems(): AsyncGenerator<PortableItem> {
    yield* readItems(this.#db, this.#sealer, this.#clock());
  }

  async writeItems(items: readonly PortableItem[]): Promise<void> {
    this.#transactions.write(() => {
      for (const item of items) writeItem(this.#db, this.#sealer, item);
    });
    for (const item of items) {
      if (item.kind === "server") this.#servers.learn(item.server);
      else if (item.kind === "key") for (const { tokenHash } of item.tokens) this.#keys.learnToken(tokenHash);
      else if (item.kind === "block") this.#limits.learn(item.block);
    }
  }

  /** The lock on the data folder is ours. */
  async countOtherInstances(): Promise<number> {
    return 0;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#group.flush();
    this.#limits.close();
    this.#db.close();
    this.#lock.close();
  }
}
