// The game servers. All are in memory; their keys for the game API are sealed.
import { type HistoryLimits, SERVER_DELETED } from "../../core/commands/command.ts";
import { DEFAULT_SERVER, type GameServer, type PublicStatus } from "../../core/game-server.ts";
import type { AuditNote } from "../../core/ports/audit.ts";
import type { Page, PageRequest } from "../../core/ports/pages.ts";
import { type DeletedServer, type ServerDraft, type ServerStore, SlugTaken } from "../../core/ports/servers.ts";
import type { Sealer } from "../sealer.ts";
import { type Driver, insertRow, type Sql, updateRow } from "../sql.ts";
import type { Changes } from "./changes.ts";
import { failWaitingCommands } from "./commands.ts";
import type { Directory } from "./directory.ts";
import { revokeKeys } from "./keys.ts";
import { removeServerFromPeople } from "./people.ts";
import { findSealedKey, newId, type ServerRow, toGameServer, toPage, toSeq, toServerColumns } from "./rows.ts";

export type ServerTableDeps = {
  readonly driver: Driver;
  readonly changes: Changes;
  readonly directory: Directory;
  readonly sealer: Sealer;
  readonly historyLimits: HistoryLimits;
};

export class ServerTable implements ServerStore {
  /** The decrypted keys by server in memory. Every change makes a new server, so the key of an old one is gone with it. */
  readonly #openedKeys = new WeakMap<GameServer, string>();

  constructor(private readonly deps: ServerTableDeps) {}

  find(serverId: string): GameServer | undefined {
    return this.deps.directory.servers.get(serverId);
  }

  all(): Iterable<GameServer> {
    return this.deps.directory.servers.values();
  }

  findBySlug(slug: string): GameServer | undefined {
    return this.deps.directory.findBySlug(slug);
  }

  findByName(name: string): Promise<GameServer | undefined> {
    return this.deps.driver.query(async (sql) => {
      const row = await sql.get<ServerRow>("SELECT * FROM servers WHERE name = ?1 ORDER BY seq LIMIT 1", name);
      return row && toGameServer(row);
    });
  }

  list(page: PageRequest): Promise<Page<GameServer>> {
    return this.deps.driver.query(async (sql) => {
      const query = "SELECT * FROM servers WHERE seq > ?1 ORDER BY seq LIMIT ?2";
      const rows = await sql.all<ServerRow>(query, toSeq(page.cursor), page.limit + 1);
      return toPage(rows, page.limit, toGameServer);
    });
  }

  async create(draft: ServerDraft, now: number, note?: AuditNote): Promise<GameServer> {
    const server = { ...DEFAULT_SERVER, ...draft };
    const serverId = newId("srv_");
    const insert = async (sql: Sql) => {
      await checkSlug(sql, server.publicStatus, serverId);
      await insertRow(sql, "servers", {
        server_id: serverId,
        ...toServerColumns(server),
        sealed_key: this.#seal(draft.serverKey, serverId),
        key_revision: 1,
        created_at: now,
        simulated: +(draft.isSimulated ?? false),
      });
      return true;
    };
    const about = note && { ...note, serverId };
    await this.deps.changes.make([serverId], insert, { target: serverId, note: about });
    const created = this.find(serverId);
    if (!created) throw new Error(`the new server ${serverId} is not there`);
    return created;
  }

  async update(serverId: string, change: Partial<ServerDraft>, note?: AuditNote): Promise<GameServer | undefined> {
    const update = async (sql: Sql) => {
      const old = await sql.get<ServerRow>("SELECT * FROM servers WHERE server_id = ?1", serverId);
      if (!old) return undefined;
      const server = { ...toGameServer(old), ...withoutUndefined(change) };
      await checkSlug(sql, server.publicStatus, serverId);
      const { serverKey } = change;
      await updateRow(sql, "servers", "server_id", serverId, {
        ...toServerColumns(server),
        simulated: +server.isSimulated,
        ...(serverKey !== undefined && {
          sealed_key: this.#seal(serverKey, serverId),
          key_revision: old.key_revision + 1,
        }),
      });
      return true;
    };
    const isChanged = await this.deps.changes.make([serverId], update, { target: serverId, note });
    return isChanged === undefined ? undefined : this.find(serverId);
  }

  async delete(serverId: string, now: number, note?: AuditNote): Promise<DeletedServer | undefined> {
    const ids = [serverId];
    const remove = async (sql: Sql): Promise<DeletedServer | undefined> => {
      if ((await sql.run("DELETE FROM servers WHERE server_id = ?1", serverId)) === 0) return undefined;
      await sql.run("INSERT INTO deleted_servers (server_id, deleted_at) VALUES (?1, ?2)", serverId, now);
      const { historyLimits } = this.deps;
      const failedCommands = await failWaitingCommands(sql, serverId, now, SERVER_DELETED, historyLimits);
      const keys = await sql.all<{ key_id: string }>(
        "SELECT key_id FROM keys WHERE server_id = ?1 AND revoked_at IS NULL",
        serverId,
      );
      const keyIds = keys.map(({ key_id }) => key_id);
      await revokeKeys(sql, keyIds, now);
      ids.push(...keyIds, ...(await removeServerFromPeople(sql, serverId)));
      return { revokedKeys: keyIds.length, failedCommands };
    };
    const deleted = await this.deps.changes.make(ids, remove, { target: serverId, note });
    if (deleted) return deleted;
    return (await this.#wasDeleted(serverId)) ? { revokedKeys: 0, failedCommands: 0 } : undefined;
  }

  listDeleted(): Promise<readonly string[]> {
    return this.deps.driver.query(async (sql) => {
      const rows = await sql.all<{ server_id: string }>("SELECT server_id FROM deleted_servers");
      return rows.map(({ server_id }) => server_id);
    });
  }

  /** From memory, so that servers are read while the database is away. */
  async readServerKey(serverId: string): Promise<string | undefined> {
    const server = this.find(serverId);
    const opened = server && this.#openedKeys.get(server);
    if (opened !== undefined) return opened;
    // Another instance may have just added it: then it is not deleted.
    const sealed = server ? findSealedKey(server) : await this.#readSealedKey(serverId);
    if (sealed === undefined) return undefined;
    const serverKey = this.deps.sealer.open(Buffer.from(sealed, "hex"), serverId);
    if (server) this.#openedKeys.set(server, serverKey);
    return serverKey;
  }

  async #readSealedKey(serverId: string): Promise<string | undefined> {
    const query = "SELECT sealed_key FROM servers WHERE server_id = ?1";
    const read = (sql: Sql) => sql.get<Pick<ServerRow, "sealed_key">>(query, serverId);
    return (await this.deps.driver.query(read))?.sealed_key;
  }

  #seal(serverKey: string, serverId: string): string {
    return Buffer.from(this.deps.sealer.seal(serverKey, serverId)).toString("hex");
  }

  #wasDeleted(serverId: string): Promise<boolean> {
    return this.deps.driver.query(async (sql) => {
      const query = "SELECT 1 AS found FROM deleted_servers WHERE server_id = ?1";
      return (await sql.get(query, serverId)) !== undefined;
    });
  }
}

/** Within a change: changes come one after another, so nobody takes the slug in between. */
async function checkSlug(sql: Sql, publicStatus: PublicStatus | null, serverId: string): Promise<void> {
  if (!publicStatus) return;
  const query = "SELECT 1 AS found FROM servers WHERE status_slug = ?1 AND server_id <> ?2";
  if (await sql.get(query, publicStatus.slug, serverId)) throw new SlugTaken();
}

function withoutUndefined<T extends object>(change: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined)) as never;
}
