// The game servers. All of them are also in memory, because every request needs one.
import type { Database } from "bun:sqlite";
import type { GameServer } from "../../core/game-server.ts";
import type { AuditNote } from "../../core/ports/audit.ts";
import type { Page, PageRequest } from "../../core/ports/pages.ts";
import type { DeletedServer, ServerDraft, ServerStore } from "../../core/ports/servers.ts";
import { newId } from "../new-id.ts";
import type { Sealer } from "../sealer.ts";
import type { SqliteCommandQueue } from "./command-queue.ts";
import type { KeyTable } from "./key-table.ts";
import { toPage, toSeq } from "./pages.ts";
import { type ServerRow, toGameServer } from "./rows.ts";
import type { TransactionRunner } from "./transaction-runner.ts";

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

  constructor(parts: ServerTableParts) {
    this.#parts = parts;
    for (const row of parts.db.query<ServerRow, []>("SELECT * FROM servers").all())
      this.cacheServer(toGameServer(row));
  }

  /** Adds or replaces a server that is on disk already. */
  cacheServer(server: GameServer): void {
    this.#parts.cache.set(server.serverId, server);
  }

  find(serverId: string): GameServer | undefined {
    return this.#parts.cache.get(serverId);
  }

  async create(draft: ServerDraft, now: number, note?: AuditNote): Promise<GameServer> {
    const { db, transactions, sealer } = this.#parts;
    const { name, community, serverKey } = draft;
    const serverId = newId("srv_");
    transactions.writeAudited(serverId, note, () => {
      db.query(
        "INSERT INTO servers (server_id, name, community, server_key, key_revision, created_at) VALUES (?, ?, ?, ?, 1, ?)",
      ).run(serverId, name, community, sealer.seal(serverKey, serverId), now);
    });
    const server: GameServer = { serverId, name, community, createdAt: now, keyRevision: 1 };
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
    };
    transactions.writeAudited(serverId, note, () => {
      db.query("UPDATE servers SET name = ?, community = ?, key_revision = ? WHERE server_id = ?").run(
        server.name,
        server.community,
        server.keyRevision,
        serverId,
      );
      if (change.serverKey !== undefined) {
        const sealed = sealer.seal(change.serverKey, serverId);
        db.query("UPDATE servers SET server_key = ? WHERE server_id = ?").run(sealed, serverId);
      }
    });
    this.cacheServer(server);
    return server;
  }

  async delete(serverId: string, now: number, note?: AuditNote): Promise<DeletedServer | undefined> {
    const { db, keys, commands, cache } = this.#parts;
    if (!cache.has(serverId))
      return this.#wasDeleted(serverId) ? { revokedKeys: 0, failedCommands: 0 } : undefined;
    const keyIds = keys.listUnrevoked(serverId);
    const failedCommands = keys.revokeAll(keyIds, now, serverId, note, () => {
      db.query("DELETE FROM servers WHERE server_id = ?").run(serverId);
      db.query("INSERT INTO deleted_servers VALUES (?, ?)").run(serverId, now);
      return commands.failWaitingNow(serverId, now);
    });
    cache.delete(serverId);
    return { revokedKeys: keyIds.length, failedCommands };
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
    const row = transactions.read(() =>
      db
        .query<{ server_key: Uint8Array }, [string]>("SELECT server_key FROM servers WHERE server_id = ?")
        .get(serverId),
    );
    return row ? sealer.open(row.server_key, serverId) : undefined;
  }

  #wasDeleted(serverId: string): boolean {
    const { db, transactions } = this.#parts;
    const query = "SELECT 1 FROM deleted_servers WHERE server_id = ?";
    return transactions.read(() => db.query(query).get(serverId)) !== null;
  }
}
