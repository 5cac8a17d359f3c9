// The embedded store. One connection; everything that must last is on disk; servers and blocks are also in memory, where
// the way of a request finds them; counts are in memory alone.
import type { Database } from "bun:sqlite";
import { randomBytes } from "node:crypto";
import { type ApiKey, endingWith, isExpired, type KeyIdentity } from "../../core/api-key.ts";
import { StartRefused, StoreUnavailable } from "../../core/errors.ts";
import type { GameServer } from "../../core/game-server.ts";
import {
  type AuditEntry,
  type AuditNote,
  type Block,
  type Clock,
  type DeletedServer,
  type KeyChange,
  type KeyDetails,
  type KeyDraft,
  type Log,
  type Page,
  type PageRequest,
  type PortableItem,
  type PortableStore,
  type ServerDraft,
  type TidyTimes,
  TOKENS_IN_GRACE_MAX,
  type UsageCell,
  type UsageCount,
} from "../../core/ports.ts";
import type { Verdict } from "../../core/rate-limit.ts";
import { randomBase62 } from "../../core/token.ts";
import type { Sealer } from "../sealer.ts";
import { isRightSecret, SECRET_CHECK, sealSecretCheck } from "../secret-check.ts";
import { AuditLog } from "./audit-log.ts";
import { SqliteCommandQueue } from "./command-queue.ts";
import { GroupCommit } from "./group-commit.ts";
import { LimitBook } from "./limit-book.ts";
import { createFileCheck, lockDataFolder, openDatabase } from "./open-database.ts";
import { toPage, toSeq } from "./pages.ts";
import { readItems, writeItem } from "./portable.ts";
import { type ApiKeyRow, type KeyRow, type ServerRow, toApiKey, toGameServer, toKeyDetails } from "./rows.ts";
import { TokenMarks } from "./token-marks.ts";
import { UsageLog } from "./usage-log.ts";

const ID_LENGTH = 20;
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
  readonly #checkFile: () => void;
  readonly #sealer: Sealer;
  readonly #clock: Clock;
  readonly #servers = new Map<string, GameServer>();
  readonly #tokens = new TokenMarks();
  /** Grows before the write that it tells of: nothing comes between them, and a commit may fail after it has happened. */
  #keysVersion = 0;
  readonly #group: GroupCommit;
  readonly #limits: LimitBook;
  readonly #usage: UsageLog;
  readonly #audit: AuditLog;
  #isClosed = false;

  constructor(db: Database, lock: Database, settings: SqliteStoreSettings) {
    this.#db = db;
    this.#lock = lock;
    this.#checkFile = createFileCheck(settings.path);
    this.#sealer = settings.sealer;
    this.#clock = settings.clock;
    this.#limits = new LimitBook(db, settings.log);
    this.#usage = new UsageLog(db);
    this.#audit = new AuditLog(db);
    this.#group = new GroupCommit(db, this.#checkFile);
    this.commands = new SqliteCommandQueue(db, this.#group);
    this.#checkSecret();
    this.commands.recover(settings.clock());
    this.#load();
  }

  findKey(tokenHash: string, now: number): ApiKey | undefined {
    if (!this.#tokens.mayHave(tokenHash)) return undefined;
    const row = this.#guard(() =>
      this.#db
        .query<ApiKeyRow & { valid_until: number | null }, [string]>(
          `SELECT key_id, server_id, versions, sections, commands, ip_allow, expires_at, suspended, valid_until
           FROM tokens JOIN keys USING (key_id) WHERE token_hash = ?`,
        )
        .get(tokenHash),
    );
    const key = row && endingWith(this.#toApiKey(row), row.valid_until);
    return key && !isExpired(key, now) ? key : undefined;
  }

  get keysVersion(): number {
    return this.#keysVersion;
  }

  findServer(serverId: string): GameServer | undefined {
    return this.#servers.get(serverId);
  }

  judge(key: KeyIdentity, now: number, isCounted: boolean): Verdict {
    return this.#limits.judge(key, now, isCounted);
  }

  async createServer(draft: ServerDraft, now: number, note?: AuditNote): Promise<GameServer> {
    const serverId = newId("srv_");
    const server: GameServer = {
      serverId,
      name: draft.name,
      community: draft.community,
      createdAt: now,
      keyRevision: 1,
    };
    this.#writeNoted(serverId, note, () => {
      this.#db
        .query(
          "INSERT INTO servers (server_id, name, community, server_key, key_revision, created_at) VALUES (?, ?, ?, ?, 1, ?)",
        )
        .run(serverId, draft.name, draft.community, this.#sealer.seal(draft.serverKey, serverId), now);
    });
    this.#servers.set(serverId, server);
    return server;
  }

  async findServerByName(name: string): Promise<GameServer | undefined> {
    const row = this.#guard(() =>
      this.#db.query<ServerRow, [string]>("SELECT * FROM servers WHERE name = ? LIMIT 1").get(name),
    );
    return row ? toGameServer(row) : undefined;
  }

  async updateServer(
    serverId: string,
    change: Partial<ServerDraft>,
    note?: AuditNote,
  ): Promise<GameServer | undefined> {
    const old = this.#servers.get(serverId);
    if (!old) return undefined;
    const server: GameServer = {
      ...old,
      name: change.name ?? old.name,
      community: change.community === undefined ? old.community : change.community,
      keyRevision: old.keyRevision + (change.serverKey === undefined ? 0 : 1),
    };
    this.#writeNoted(serverId, note, () => {
      this.#db
        .query("UPDATE servers SET name = ?, community = ?, key_revision = ? WHERE server_id = ?")
        .run(server.name, server.community, server.keyRevision, serverId);
      if (change.serverKey !== undefined) {
        const sealed = this.#sealer.seal(change.serverKey, serverId);
        this.#db.query("UPDATE servers SET server_key = ? WHERE server_id = ?").run(sealed, serverId);
      }
    });
    this.#servers.set(serverId, server);
    return server;
  }

  async deleteServer(serverId: string, now: number, note?: AuditNote): Promise<DeletedServer | undefined> {
    if (!this.#servers.has(serverId)) {
      return this.#wasDeleted(serverId) ? { revokedKeys: 0, failedCommands: 0 } : undefined;
    }
    const rows = this.#guard(() =>
      this.#db
        .query<{ key_id: string }, [string]>(
          "SELECT key_id FROM keys WHERE server_id = ? AND revoked_at IS NULL",
        )
        .all(serverId),
    );
    const keyIds = rows.map((row) => row.key_id);
    this.#keysVersion++;
    const failedCommands = this.#writeNoted(serverId, note, () => {
      this.#db.query("DELETE FROM servers WHERE server_id = ?").run(serverId);
      this.#db.query("INSERT INTO deleted_servers VALUES (?, ?)").run(serverId, now);
      for (const keyId of keyIds) this.#revoke(keyId, now);
      return this.commands.failWaitingNow(serverId, now);
    });
    this.#servers.delete(serverId);
    for (const keyId of keyIds) this.#limits.forget(keyId);
    return { revokedKeys: keyIds.length, failedCommands };
  }

  async listServers(page: PageRequest): Promise<Page<GameServer>> {
    const rows = this.#guard(() =>
      this.#db
        .query<ServerRow, [number, number]>("SELECT * FROM servers WHERE seq > ? ORDER BY seq LIMIT ?")
        .all(toSeq(page.cursor), page.limit + 1),
    );
    return toPage(rows, page.limit, toGameServer);
  }

  async readServerKey(serverId: string): Promise<string | undefined> {
    const row = this.#guard(() =>
      this.#db
        .query<{ server_key: Uint8Array }, [string]>("SELECT server_key FROM servers WHERE server_id = ?")
        .get(serverId),
    );
    return row ? this.#sealer.open(row.server_key, serverId) : undefined;
  }

  async createKey(draft: KeyDraft, now: number, note?: AuditNote): Promise<KeyDetails | undefined> {
    if (!this.#servers.has(draft.serverId)) return undefined;
    const keyId = newId("key_");
    const row = await this.#group.run(() => {
      if (note) this.#audit.add(keyId, note);
      this.#db
        .query(
          `INSERT INTO keys (key_id, server_id, label, versions, sections, commands, ip_allow, expires_at, suspended, created_at)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, ?)`,
        )
        .run(
          keyId,
          draft.serverId,
          draft.label,
          JSON.stringify(draft.versions),
          draft.sections,
          JSON.stringify(draft.commands),
          JSON.stringify(draft.ipAllow),
          draft.expiresAt,
          now,
        );
      this.#insertToken(draft.tokenHash, keyId);
      return this.#findKeyRow(keyId);
    });
    return row && toKeyDetails(row);
  }

  async findKeyDetails(keyId: string): Promise<KeyDetails | undefined> {
    const row = this.#findKeyRow(keyId);
    return row && toKeyDetails(row);
  }

  async listKeys({
    limit,
    cursor,
    serverId,
  }: PageRequest & { serverId?: string }): Promise<Page<KeyDetails>> {
    // Two queries: a condition that may be empty would keep the index from being used.
    const ofServer = serverId === undefined ? [] : [serverId];
    const condition = serverId === undefined ? "" : "server_id = ? AND";
    const rows = this.#guard(() =>
      this.#db
        .query<KeyRow, (string | number)[]>(
          `SELECT * FROM key_details WHERE ${condition} seq > ? ORDER BY seq LIMIT ?`,
        )
        .all(...ofServer, toSeq(cursor), limit + 1),
    );
    return toPage(rows, limit, toKeyDetails);
  }

  async updateKey(keyId: string, change: KeyChange, note?: AuditNote): Promise<KeyDetails | undefined> {
    const old = this.#findKeyRow(keyId);
    if (!old || old.revoked_at !== null) return undefined;
    const key = { ...toKeyDetails(old), ...change };
    this.#keysVersion++;
    const row = this.#writeNoted(keyId, note, () => {
      this.#db
        .query(
          `UPDATE keys SET label = ?, versions = ?, sections = ?, commands = ?, ip_allow = ?, expires_at = ?, suspended = ?
           WHERE key_id = ?`,
        )
        .run(
          key.label,
          JSON.stringify(key.versions),
          key.sections,
          JSON.stringify(key.commands),
          JSON.stringify(key.ipAllow),
          key.expiresAt,
          key.isSuspended ? 1 : 0,
          keyId,
        );
      return this.#findKeyRow(keyId);
    });
    return row && toKeyDetails(row);
  }

  async rotateKey(
    keyId: string,
    tokenHash: string,
    oldValidUntil: number,
    now: number,
    note?: AuditNote,
  ): Promise<boolean> {
    const row = this.#findKeyRow(keyId);
    if (!row || row.revoked_at !== null) return false;
    this.#keysVersion++;
    this.#writeNoted(keyId, note, () => {
      const replaced = this.#db
        .query<{ token_hash: string }, [number, string]>(
          "UPDATE tokens SET valid_until = ? WHERE key_id = ? AND valid_until IS NULL RETURNING token_hash",
        )
        .get(oldValidUntil, keyId);
      this.#db
        .query(
          `DELETE FROM tokens WHERE key_id = ?1 AND token_hash NOT IN (
             SELECT token_hash FROM tokens WHERE key_id = ?1 AND valid_until > ?2
             ORDER BY token_hash = ?3 DESC, valid_until DESC LIMIT ?4)`,
        )
        .run(keyId, now, replaced?.token_hash ?? "", TOKENS_IN_GRACE_MAX);
      this.#insertToken(tokenHash, keyId);
    });
    return true;
  }

  async revokeKey(keyId: string, now: number, note?: AuditNote): Promise<boolean> {
    const row = this.#findKeyRow(keyId);
    if (!row) return false;
    if (row.revoked_at === null) {
      this.#keysVersion++;
      this.#writeNoted(keyId, note, () => this.#revoke(keyId, now));
      this.#limits.forget(keyId);
    }
    return true;
  }

  async listBlocks(now: number): Promise<readonly Block[]> {
    return this.#limits.listBlocks(now);
  }

  async liftBlock(keyId: string, now: number, note?: AuditNote): Promise<void> {
    if (!this.#limits.isBlocked(keyId, now)) return;
    this.#writeNoted(keyId, note, () => this.#limits.deleteSaved(keyId));
    this.#limits.startOver(keyId);
  }

  async addUsage(cells: readonly UsageCell[]): Promise<readonly UsageCell[]> {
    this.#write(() => this.#usage.add(cells));
    // There is room again, if there was none.
    this.#limits.saveMissed();
    return [];
  }

  async readUsage(keyId: string, since: number): Promise<readonly UsageCount[]> {
    return this.#guard(() => this.#usage.read(keyId, since));
  }

  async noteChange(target: string, note: AuditNote): Promise<void> {
    this.#write(() => this.#audit.add(target, note));
  }

  async listAudit(page: PageRequest): Promise<Page<AuditEntry>> {
    return this.#guard(() => this.#audit.list(page));
  }

  async tidy({ now, usage, audit, commands }: TidyTimes): Promise<void> {
    this.#write(() => {
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
    while (!this.#isClosed && this.#write(forgetSome) === TIDIED_AT_ONCE) {
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async findSetting(name: string): Promise<string | undefined> {
    return this.#findSetting(name);
  }

  async saveSetting(name: string, value: string): Promise<void> {
    this.#saveSetting(name, value);
  }

  async keepSetting(name: string, value: string): Promise<string> {
    const kept = this.#findSetting(name);
    if (kept === undefined) this.#saveSetting(name, value);
    return kept ?? value;
  }

  async checkHealth(): Promise<void> {
    // Another value each time: SQLite writes nothing when nothing changes.
    this.#saveSetting("last-health-check", newId(""));
    this.#limits.saveMissed();
  }

  async *readItems(): AsyncGenerator<PortableItem> {
    yield* readItems(this.#db, this.#sealer, this.#clock());
  }

  async writeItems(items: readonly PortableItem[]): Promise<void> {
    this.#write(() => {
      for (const item of items) writeItem(this.#db, this.#sealer, item);
    });
    for (const item of items) {
      if (item.kind === "server") this.#servers.set(item.server.serverId, item.server);
      else if (item.kind === "key") for (const { tokenHash } of item.tokens) this.#tokens.add(tokenHash);
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

  #load(): void {
    for (const row of this.#db.query<ServerRow, []>("SELECT * FROM servers").all()) {
      this.#servers.set(row.server_id, toGameServer(row));
    }
    const tokens = this.#db.query<{ token_hash: string }, []>("SELECT token_hash FROM tokens");
    for (const { token_hash } of tokens.iterate()) this.#tokens.add(token_hash);
  }

  /** With the server's own spelling of its id: a hundred thousand keys need not each keep a copy. */
  #toApiKey(row: ApiKeyRow): ApiKey {
    const serverId = this.#servers.get(row.server_id)?.serverId ?? row.server_id;
    return toApiKey(row, serverId, this.#limits.of(row.key_id));
  }

  /** Fails early, not at the first read of a server, when the database was made with another secret. */
  #checkSecret(): void {
    const kept = this.#findSetting(SECRET_CHECK);
    if (kept === undefined) {
      this.#saveSetting(SECRET_CHECK, sealSecretCheck(this.#sealer));
      return;
    }
    if (isRightSecret(kept, this.#sealer)) return;
    throw new StartRefused(
      "GATEHOUSE_SECRET (or secret.key in the data folder) is not the one this database was made with; " +
        "the stored server keys cannot be read — put the old secret back",
    );
  }

  #insertToken(tokenHash: string, keyId: string): void {
    this.#db.query("INSERT INTO tokens (token_hash, key_id) VALUES (?, ?)").run(tokenHash, keyId);
    this.#tokens.add(tokenHash);
  }

  #revoke(keyId: string, now: number): void {
    this.#db.query("UPDATE keys SET revoked_at = ? WHERE key_id = ?").run(now, keyId);
    this.#limits.deleteSaved(keyId);
    this.#db.query("DELETE FROM tokens WHERE key_id = ?").run(keyId);
  }

  #wasDeleted(serverId: string): boolean {
    const query = "SELECT 1 FROM deleted_servers WHERE server_id = ?";
    return this.#guard(() => this.#db.query(query).get(serverId)) !== null;
  }

  #findKeyRow(keyId: string): KeyRow | undefined {
    return this.#guard(
      () =>
        this.#db.query<KeyRow, [string]>("SELECT * FROM key_details WHERE key_id = ?").get(keyId) ??
        undefined,
    );
  }

  #findSetting(name: string): string | undefined {
    return this.#guard(() =>
      this.#db.query<{ value: string }, [string]>("SELECT value FROM settings WHERE name = ?").get(name),
    )?.value;
  }

  #saveSetting(name: string, value: string): void {
    this.#write(() => {
      this.#db
        .query("INSERT INTO settings VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = ?2")
        .run(name, value);
    });
  }

  /** One transaction: all of it is on disk when this returns, or none. Memory is changed only afterwards. */
  #write<T>(change: () => T): T {
    return this.#guard(() => {
      this.#checkFile();
      return this.#db.transaction(change).immediate();
    });
  }

  #writeNoted<T>(target: string, note: AuditNote | undefined, change: () => T): T {
    return this.#write(() => {
      if (note) this.#audit.add(target, note);
      return change();
    });
  }

  #guard<T>(access: () => T): T {
    try {
      return access();
    } catch (error) {
      throw new StoreUnavailable(error instanceof Error ? error.message : String(error), { cause: error });
    }
  }
}

function newId(prefix: string): string {
  return prefix + randomBase62(ID_LENGTH, randomBytes);
}
