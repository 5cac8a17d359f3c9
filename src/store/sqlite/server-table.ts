// The game servers. All of them are also in memory, because every request needs one.
import type { Database } from "bun:sqlite";
import { SERVER_DELETED } from "../../core/command.ts";
import { StoreUnavailable } from "../../core/errors.ts";
import type { GameServer, PublicStatus } from "../../core/game-server.ts";
import type { AuditNote } from "../../core/ports/audit.ts";
import type { Page, PageRequest } from "../../core/ports/pages.ts";
import {
  type DeletedServer,
  type ServerDraft,
  type ServerStore,
  SlugTaken,
} from "../../core/ports/servers.ts";
import { newId } from "../new-id.ts";
import type { Sealer } from "../sealer.ts";
import type { SqliteCommandQueue } from "./command-queue.ts";
import type { KeyTable } from "./key-table.ts";
import { toPage, toSeq } from "./pages.ts";
import { type ServerRow, toGameServer } from "./rows.ts";
import type { TransactionRunner } from "./transaction-runner.ts";

/** A larger batch would block the event loop for too long. */
const REVOKED_AT_ONCE = 100;
/** The prefix of the setting that holds the progress of an unfinished deletion; the server's id follows. */
const UNFINISHED_DELETION = "unfinished-deletion ";

/** How far the revocation of a deleted server's keys has come. `afterSeq` is the last key that was revoked. */
type DeletionProgress = DeletedServer & {
  readonly deletedAt: number;
  readonly afterSeq: number;
  readonly isFinished: boolean;
};

export type ServerTableParts = {
  readonly db: Database;
  readonly transactions: TransactionRunner;
  readonly sealer: Sealer;
  /** All servers by id. This table fills and updates it; the key table reads it. */
  readonly cache: Map<string, GameServer>;
  /** Deleting a server revokes its keys and fails its commands. */
  readonly keys: KeyTable;
  readonly commands: SqliteCommandQueue;
};

export class ServerTable implements ServerStore {
  readonly #parts: ServerTableParts;
  /** Deletions under way, by server. */
  readonly #deletions = new Map<string, Promise<DeletedServer | undefined>>();
  /** The decrypted keys by cached server. Every change caches a new server, so the key of an old one is gone with it. */
  readonly #openedKeys = new WeakMap<GameServer, string>();
  /** The ids of the servers with a public status, by slug. */
  readonly #bySlug = new Map<string, string>();
  #isClosed = false;

  constructor(parts: ServerTableParts) {
    this.#parts = parts;
    for (const row of parts.db.query<ServerRow, []>("SELECT * FROM servers").all())
      this.cacheServer(toGameServer(row));
  }

  /** Adds or replaces a server that is on disk already. */
  cacheServer(server: GameServer): void {
    this.#forgetSlug(server.serverId);
    this.#parts.cache.set(server.serverId, server);
    if (server.publicStatus) this.#bySlug.set(server.publicStatus.slug, server.serverId);
  }

  find(serverId: string): GameServer | undefined {
    return this.#parts.cache.get(serverId);
  }

  all(): Iterable<GameServer> {
    return this.#parts.cache.values();
  }

  findBySlug(slug: string): GameServer | undefined {
    const serverId = this.#bySlug.get(slug);
    return serverId === undefined ? undefined : this.find(serverId);
  }

  async create(draft: ServerDraft, now: number, note?: AuditNote): Promise<GameServer> {
    const { db, transactions, sealer } = this.#parts;
    const { name, community, serverKey, isSimulated = false, isWatched = true, publicStatus = null } = draft;
    const serverId = newId("srv_");
    this.#checkSlug(publicStatus, serverId);
    const sealed = sealer.seal(serverKey, serverId);
    const { slug = null, showsJoinKey = false } = publicStatus ?? {};
    transactions.writeAudited(serverId, note, () => {
      db.query(
        `INSERT INTO servers (server_id, name, community, server_key, key_revision, created_at, simulated, watch,
                              status_slug, status_join_key) VALUES (?, ?, ?, ?, 1, ?, ?, ?, ?, ?)`,
      ).run(serverId, name, community, sealed, now, +isSimulated, +isWatched, slug, +showsJoinKey);
    });
    const marks = { isSimulated, isWatched, publicStatus };
    const server: GameServer = { serverId, name, community, createdAt: now, keyRevision: 1, ...marks };
    this.cacheServer(server);
    return server;
  }

  async findByName(name: string): Promise<GameServer | undefined> {
    const { db, transactions } = this.#parts;
    const row = transactions.read(() =>
      db.query<ServerRow, [string]>("SELECT * FROM servers WHERE name = ? LIMIT 1").get(name),
    );
    return row ? toGameServer(row) : undefined;
  }

  async update(
    serverId: string,
    change: Partial<ServerDraft>,
    note?: AuditNote,
  ): Promise<GameServer | undefined> {
    const old = this.find(serverId);
    if (!old) return undefined;
    const { db, transactions, sealer } = this.#parts;
    const server: GameServer = {
      ...old,
      name: change.name ?? old.name,
      community: change.community === undefined ? old.community : change.community,
      keyRevision: old.keyRevision + (change.serverKey === undefined ? 0 : 1),
      isSimulated: change.isSimulated ?? old.isSimulated,
      isWatched: change.isWatched ?? old.isWatched,
      publicStatus: change.publicStatus === undefined ? old.publicStatus : change.publicStatus,
    };
    this.#checkSlug(server.publicStatus, serverId);
    transactions.writeAudited(serverId, note, () => {
      const { name, community, keyRevision, isSimulated, isWatched } = server;
      const { slug = null, showsJoinKey = false } = server.publicStatus ?? {};
      db.query(
        `UPDATE servers SET name = ?, community = ?, key_revision = ?, simulated = ?, watch = ?, status_slug = ?,
                            status_join_key = ? WHERE server_id = ?`,
      ).run(name, community, keyRevision, +isSimulated, +isWatched, slug, +showsJoinKey, serverId);
      if (change.serverKey !== undefined) {
        const sealed = sealer.seal(change.serverKey, serverId);
        db.query("UPDATE servers SET server_key = ? WHERE server_id = ?").run(sealed, serverId);
      }
    });
    this.cacheServer(server);
    return server;
  }

  async delete(serverId: string, now: number, note?: AuditNote): Promise<DeletedServer | undefined> {
    if (this.#parts.cache.has(serverId)) this.#beginDeletion(serverId, now, note);
    const deleted = await this.#finishDeletion(serverId);
    return deleted ?? (this.#wasDeleted(serverId) ? { revokedKeys: 0, failedCommands: 0 } : undefined);
  }

  /** Finishes the deletions that were interrupted. */
  async finishDeletions(): Promise<void> {
    const { db, transactions } = this.#parts;
    const query = "SELECT name FROM settings WHERE name GLOB ?";
    const rows = transactions.read(() =>
      db.query<{ name: string }, [string]>(query).all(`${UNFINISHED_DELETION}*`),
    );
    for (const { name } of rows) await this.#finishDeletion(name.slice(UNFINISHED_DELETION.length));
  }

  async listDeleted(): Promise<readonly string[]> {
    const { db, transactions } = this.#parts;
    const query = "SELECT server_id FROM deleted_servers";
    const rows = transactions.read(() => db.query<{ server_id: string }, []>(query).all());
    return rows.map(({ server_id }) => server_id);
  }

  async list(page: PageRequest): Promise<Page<GameServer>> {
    const { db, transactions } = this.#parts;
    const rows = transactions.read(() =>
      db
        .query<ServerRow, [number, number]>("SELECT * FROM servers WHERE seq > ? ORDER BY seq LIMIT ?")
        .all(toSeq(page.cursor), page.limit + 1),
    );
    return toPage(rows, page.limit, toGameServer);
  }

  async readServerKey(serverId: string): Promise<string | undefined> {
    const { db, transactions, sealer } = this.#parts;
    const server = this.#isClosed ? undefined : this.find(serverId);
    const opened = server && this.#openedKeys.get(server);
    if (opened !== undefined) return opened;
    const row = transactions.read(() =>
      db
        .query<{ server_key: Uint8Array }, [string]>("SELECT server_key FROM servers WHERE server_id = ?")
        .get(serverId),
    );
    if (!row) return undefined;
    const serverKey = sealer.open(row.server_key, serverId);
    if (server) this.#openedKeys.set(server, serverKey);
    return serverKey;
  }

  close(): void {
    this.#isClosed = true;
  }

  /** One transaction. From then on the server's keys are refused, because their server is gone. */
  #beginDeletion(serverId: string, now: number, note: AuditNote | undefined): void {
    const { db, transactions, keys, commands, cache } = this.#parts;
    keys.announceChange();
    transactions.writeAudited(serverId, note, () => {
      db.query("DELETE FROM servers WHERE server_id = ?").run(serverId);
      db.query("INSERT INTO deleted_servers VALUES (?, ?)").run(serverId, now);
      const failedCommands = commands.failWaitingNow(serverId, now, SERVER_DELETED);
      const progress = { deletedAt: now, afterSeq: 0, isFinished: false, revokedKeys: 0, failedCommands };
      this.#saveProgress(serverId, progress);
    });
    this.#forgetSlug(serverId);
    cache.delete(serverId);
  }

  #forgetSlug(serverId: string): void {
    const slug = this.find(serverId)?.publicStatus?.slug;
    if (slug !== undefined) this.#bySlug.delete(slug);
  }

  /** Nothing can come between this and the write, because both are synchronous. */
  #checkSlug(publicStatus: PublicStatus | null, serverId: string): void {
    const holder = publicStatus && this.#bySlug.get(publicStatus.slug);
    if (holder && holder !== serverId) throw new SlugTaken();
  }

  /** Undefined when there is nothing to finish. Callers that come meanwhile get the same result. */
  #finishDeletion(serverId: string): Promise<DeletedServer | undefined> {
    const underWay = this.#deletions.get(serverId);
    if (underWay) return underWay;
    const deletion = this.#revokeInBatches(serverId).finally(() => this.#deletions.delete(serverId));
    this.#deletions.set(serverId, deletion);
    return deletion;
  }

  /** Sleeps as long as each batch took, so that requests get at least half of the time. */
  async #revokeInBatches(serverId: string): Promise<DeletedServer | undefined> {
    let progress = this.#readProgress(serverId);
    while (progress?.isFinished === false) {
      const startedAt = performance.now();
      progress = this.#revokeBatch(serverId, progress);
      await Bun.sleep(performance.now() - startedAt);
    }
    return progress && { revokedKeys: progress.revokedKeys, failedCommands: progress.failedCommands };
  }

  /** One transaction. */
  #revokeBatch(serverId: string, progress: DeletionProgress): DeletionProgress {
    const { db, keys } = this.#parts;
    if (this.#isClosed) throw new StoreUnavailable("the store is being closed");
    const batch = keys.listUnrevoked(serverId, progress.afterSeq, REVOKED_AT_ONCE);
    const next = {
      ...progress,
      isFinished: batch.length < REVOKED_AT_ONCE,
      afterSeq: batch.at(-1)?.seq ?? progress.afterSeq,
      revokedKeys: progress.revokedKeys + batch.length,
    };
    const keyIds = batch.map(({ key_id }) => key_id);
    keys.revokeAll(keyIds, progress.deletedAt, () => {
      if (next.isFinished)
        db.query("DELETE FROM settings WHERE name = ?").run(UNFINISHED_DELETION + serverId);
      else this.#saveProgress(serverId, next);
    });
    return next;
  }

  #readProgress(serverId: string): DeletionProgress | undefined {
    const { db, transactions } = this.#parts;
    const query = "SELECT value FROM settings WHERE name = ?";
    const row = transactions.read(() =>
      db.query<{ value: string }, [string]>(query).get(UNFINISHED_DELETION + serverId),
    );
    return row ? (JSON.parse(row.value) as DeletionProgress) : undefined;
  }

  /** Inside a transaction of the caller's. */
  #saveProgress(serverId: string, progress: DeletionProgress): void {
    this.#parts.db
      .query("INSERT INTO settings VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = ?2")
      .run(UNFINISHED_DELETION + serverId, JSON.stringify(progress));
  }

  #wasDeleted(serverId: string): boolean {
    const { db, transactions } = this.#parts;
    const query = "SELECT 1 FROM deleted_servers WHERE server_id = ?";
    return transactions.read(() => db.query(query).get(serverId)) !== null;
  }
}
