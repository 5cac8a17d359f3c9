// The game servers. Lookups are answered from the cached directory; changes go to Redis.
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
import type { RedisCommandQueue } from "./command-queue.ts";
import type { Check, Directory, Step } from "./directory.ts";
import { NAMES } from "./names.ts";
import { listIds, nextSeq, readAll } from "./pages.ts";
import { type ServerRecord, toGameServer } from "./records.ts";
import type { ScriptTimes } from "./redis-clock.ts";
import type { RedisLink } from "./redis-link.ts";
import { createScript } from "./script.ts";
import revokeKeysText from "./scripts/revoke-keys.lua" with { type: "text" };
import type { SharedLimits } from "./shared-limits.ts";

const REVOKE_KEYS = createScript(revokeKeysText);
/** A larger batch would keep Redis busy for more than a few milliseconds. */
const REVOKED_AT_ONCE = 100;
const NOTHING_DELETED: DeletedServer = { revokedKeys: 0, failedCommands: 0 };

export type ServerTableParts = {
  readonly link: RedisLink;
  readonly times: ScriptTimes;
  readonly directory: Directory;
  readonly sealer: Sealer;
  /** Deleting a server revokes its keys and fails its commands. */
  readonly limits: SharedLimits;
  readonly commands: RedisCommandQueue;
};

export class ServerTable implements ServerStore {
  readonly #parts: ServerTableParts;
  /** The decrypted keys by cached server. The directory replaces the server with every change, and drops a deleted one. */
  readonly #openedKeys = new WeakMap<GameServer, string>();

  constructor(parts: ServerTableParts) {
    this.#parts = parts;
  }

  find(serverId: string): GameServer | undefined {
    return this.#parts.directory.cache.findServer(serverId);
  }

  all(): Iterable<GameServer> {
    return this.#parts.directory.cache.servers();
  }

  async findByName(name: string): Promise<GameServer | undefined> {
    return this.#parts.directory.cache.findServerByName(name);
  }

  findBySlug(slug: string): GameServer | undefined {
    return this.#parts.directory.cache.findServerBySlug(slug);
  }

  async create(draft: ServerDraft, now: number, note?: AuditNote): Promise<GameServer> {
    const { name, community, serverKey, isSimulated = false, isWatched = true, publicStatus = null } = draft;
    const serverId = newId("srv_");
    const marks = { isSimulated, isWatched, publicStatus };
    const server: GameServer = { serverId, name, community, createdAt: now, keyRevision: 1, ...marks };
    await this.#add(server, serverKey, note);
    return server;
  }

  /** Adds a server of another store with its id. */
  async adopt(server: GameServer, serverKey: string): Promise<void> {
    await this.#add(server, serverKey);
  }

  async update(
    serverId: string,
    change: Partial<ServerDraft>,
    note?: AuditNote,
  ): Promise<GameServer | undefined> {
    const { directory } = this.#parts;
    return directory.change(async () => {
      const found = await directory.readServer(serverId);
      if (!found) return undefined;
      const { record: old, text } = found;
      const record: ServerRecord = {
        ...old,
        name: change.name ?? old.name,
        community: change.community === undefined ? old.community : change.community,
        keyRevision: old.keyRevision + (change.serverKey === undefined ? 0 : 1),
        isSimulated: change.isSimulated ?? old.isSimulated ?? false,
        isWatched: change.isWatched ?? old.isWatched ?? true,
        publicStatus: change.publicStatus === undefined ? (old.publicStatus ?? null) : change.publicStatus,
        sealedKey: change.serverKey === undefined ? old.sealedKey : this.#seal(change.serverKey, serverId),
      };
      const slug = await this.#moveSlug(serverId, old.publicStatus ?? null, record.publicStatus ?? null);
      return {
        result: toGameServer(record),
        change: {
          checks: [[NAMES.servers, serverId, text], ...slug.checks],
          steps: [directory.stepToStore(NAMES.servers, serverId, record), ...slug.steps],
          changed: [serverId],
          audit: note && { target: serverId, note },
        },
      };
    });
  }

  async delete(serverId: string, now: number, note?: AuditNote): Promise<DeletedServer | undefined> {
    await this.#beginDeletion(serverId, now, note);
    const deleted = await this.#finishDeletion(serverId, now);
    return deleted ?? ((await this.#wasDeleted(serverId)) ? NOTHING_DELETED : undefined);
  }

  /** Finishes the deletions that any instance has begun and not finished. */
  async finishDeletions(now: number): Promise<void> {
    const name = NAMES.deletions;
    const serverIds = (await this.#parts.link.send(name, "ZRANGE", name, 0, -1)) as string[];
    for (const serverId of serverIds) await this.#finishDeletion(serverId, now);
  }

  async listDeleted(): Promise<readonly string[]> {
    const name = NAMES.deletedServers;
    return (await this.#parts.link.send(name, "ZRANGE", name, 0, -1)) as string[];
  }

  async list({ limit, cursor }: PageRequest): Promise<Page<GameServer>> {
    const { link, directory } = this.#parts;
    const { ids, next } = await listIds(link, NAMES.serverOrder, limit, cursor);
    const found = await directory.readServers(ids);
    return { items: found.map(({ record }) => toGameServer(record)), next };
  }

  /** All servers, each with its decrypted upstream key. */
  async *readAll(): AsyncGenerator<{ server: GameServer; serverKey: string }> {
    const { link, directory } = this.#parts;
    const found = readAll(link, NAMES.serverOrder, (ids) => directory.readServers(ids));
    for await (const { record } of found) {
      yield { server: toGameServer(record), serverKey: this.#open(record.sealedKey, record.serverId) };
    }
  }

  async readServerKey(serverId: string): Promise<string | undefined> {
    const server = this.find(serverId);
    const opened = server && this.#openedKeys.get(server);
    if (opened !== undefined) return opened;
    // The directory changes a cached server and its sealed key together, so this is the key of `server`.
    const sealed = await this.#parts.directory.readSealedKey(serverId);
    if (sealed === undefined) return undefined;
    const serverKey = this.#open(sealed, serverId);
    if (server) this.#openedKeys.set(server, serverKey);
    return serverKey;
  }

  /** Deletes the memory of servers that were deleted before that time. */
  async forgetDeletedBefore(time: number): Promise<void> {
    const { link, directory } = this.#parts;
    const known = directory.cache.deletedServerIds();
    // A call that was under way when the server was deleted may have published its result afterwards.
    for (const serverId of known) await link.send(NAMES.shared(serverId), "DEL", NAMES.shared(serverId));
    const name = NAMES.deletedServers;
    await link.send(name, "ZREMRANGEBYSCORE", name, "-inf", `(${time}`);
    // Read back, because another instance may have tidied first.
    const kept = new Set((await link.send(name, "ZRANGE", name, 0, -1)) as string[]);
    directory.cache.forgetDeleted(known.filter((serverId) => !kept.has(serverId)));
  }

  async #add(server: GameServer, serverKey: string, note?: AuditNote): Promise<void> {
    const { link, directory } = this.#parts;
    const { serverId } = server;
    const seq = await nextSeq(link);
    const record: ServerRecord = { ...server, seq, sealedKey: this.#seal(serverKey, serverId) };
    await directory.change(async () => {
      const slug = await this.#moveSlug(serverId, null, server.publicStatus);
      return {
        result: true,
        change: {
          checks: slug.checks,
          steps: [
            directory.stepToStore(NAMES.servers, serverId, record),
            ["ZADD", NAMES.serverOrder, seq, serverId],
            ...slug.steps,
          ],
          changed: [serverId],
          audit: note && { target: serverId, note },
        },
      };
    });
  }

  /** What gives a server another slug. Throws SlugTaken when a server that exists has it. */
  async #moveSlug(
    serverId: string,
    from: PublicStatus | null,
    to: PublicStatus | null,
  ): Promise<{ readonly checks: readonly Check[]; readonly steps: readonly Step[] }> {
    if (from?.slug === to?.slug) return { checks: [], steps: [] };
    const { link, directory } = this.#parts;
    const name = NAMES.statusSlugs;
    const left: Step[] = from ? [["HDEL", name, from.slug]] : [];
    if (!to) return { checks: [], steps: left };
    const [holder] = (await link.send(name, "HMGET", name, to.slug)) as (string | null)[];
    // An older version deletes a server without giving its slug back.
    const found = holder && holder !== serverId ? await directory.readServer(holder) : undefined;
    if (found?.record.publicStatus?.slug === to.slug) throw new SlugTaken();
    return {
      checks: [[name, to.slug, holder ?? false]],
      steps: [...left, ["HSET", name, to.slug, serverId]],
    };
  }

  /** One atomic step. From then on the server's keys are refused, because their server is gone. */
  async #beginDeletion(serverId: string, now: number, note: AuditNote | undefined): Promise<void> {
    const { directory } = this.#parts;
    await directory.change(async () => {
      const found = await directory.readServer(serverId);
      if (!found) return undefined;
      const slug = found.record.publicStatus?.slug;
      return {
        result: true,
        change: {
          checks: [[NAMES.servers, serverId, found.text]],
          steps: [
            ["HDEL", NAMES.servers, serverId],
            ["ZREM", NAMES.serverOrder, serverId],
            ...(slug === undefined ? [] : [["HDEL", NAMES.statusSlugs, slug] as const]),
            ["ZADD", NAMES.deletedServers, now, serverId],
            ["ZADD", NAMES.deletions, now, serverId],
            ["HSET", NAMES.deletion(serverId), "deleted_at", now],
          ],
          // Without the keys: an instance that learns of the deletion drops them by itself.
          changed: [serverId],
          audit: note && { target: serverId, note },
        },
      };
    });
  }

  /** Can be interrupted and repeated at any point. Undefined when there is nothing to finish. */
  async #finishDeletion(serverId: string, now: number): Promise<DeletedServer | undefined> {
    const { link, commands } = this.#parts;
    const deletion = NAMES.deletion(serverId);
    if (await link.send(deletion, "HEXISTS", deletion, "deleted_at")) {
      const failedAtFirst = await commands.failWaiting(serverId, now);
      const { revokedKeys, failedCommands } = await this.#revokeKeys(serverId, failedAtFirst);
      // Again: an instance that did not know of the deletion yet may have accepted a command.
      const failedAtLast = await commands.failWaiting(serverId, now);
      await link.send(NAMES.shared(serverId), "DEL", NAMES.shared(serverId));
      await link.send(deletion, "DEL", deletion);
      await link.send(NAMES.deletions, "ZREM", NAMES.deletions, serverId);
      return { revokedKeys, failedCommands: failedCommands + failedAtLast };
    }
    await link.send(NAMES.deletions, "ZREM", NAMES.deletions, serverId);
    return undefined;
  }

  /** In batches. Also counts what an interrupted deletion has done before. */
  async #revokeKeys(serverId: string, failedCommands: number): Promise<DeletedServer> {
    const { link, limits, times } = this.#parts;
    const names = [NAMES.keys, NAMES.keysOf(serverId), NAMES.deletion(serverId), NAMES.blocks];
    let deleted: DeletedServer = { revokedKeys: 0, failedCommands };
    let uncounted = failedCommands;
    for (;;) {
      const reply = await link.run(REVOKE_KEYS, names, [...times(), REVOKED_AT_ONCE, uncounted]);
      // Another instance has finished the deletion meanwhile.
      if (reply === null) return deleted;
      const [isLast, revokedKeys, failed, keyIds] = reply as [number, number, number, string[]];
      uncounted = 0;
      deleted = { revokedKeys, failedCommands: failed };
      await limits.forgetAll(keyIds, serverId);
      if (isLast === 1) return deleted;
    }
  }

  async #wasDeleted(serverId: string): Promise<boolean> {
    const name = NAMES.deletedServers;
    return (await this.#parts.link.send(name, "ZSCORE", name, serverId)) !== null;
  }

  #seal(serverKey: string, serverId: string): string {
    return Buffer.from(this.#parts.sealer.seal(serverKey, serverId)).toString("base64");
  }

  #open(sealedKey: string, serverId: string): string {
    return this.#parts.sealer.open(Buffer.from(sealedKey, "base64"), serverId);
  }
}
