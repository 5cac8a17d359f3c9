// Game servers.
import type { GameServer, ServerSettings } from "../game-server.ts";
import type { AuditNote } from "./audit.ts";
import type { Page, PageRequest } from "./pages.ts";

/** What is left out is as in DEFAULT_SERVER; `isSimulated` is false. */
export type ServerDraft = Pick<ServerSettings, "name"> &
  Partial<ServerSettings> & { readonly serverKey: string; readonly isSimulated?: boolean };

/** Thrown by a change that gives a server the slug of another one. Nothing was changed. */
export class SlugTaken extends Error {
  override name = "SlugTaken";
}

export type DeletedServer = { readonly revokedKeys: number; readonly failedCommands: number };

export interface ServerStore {
  /** Synchronous, because every request needs it. */
  find(serverId: string): GameServer | undefined;
  /** Every server, in no particular order. Synchronous, because all servers are in memory. */
  all(): Iterable<GameServer>;
  findByName(name: string): Promise<GameServer | undefined>;
  /** The server whose public status has this slug. Synchronous, because all servers are in memory. */
  findBySlug(slug: string): GameServer | undefined;
  /** Oldest first. */
  list(page: PageRequest): Promise<Page<GameServer>>;
  /**
   * Throws SlugTaken when another server has the slug, also when both come at once from two instances. The note is about the
   * new server.
   */
  create(draft: ServerDraft, now: number, note?: AuditNote): Promise<GameServer>;
  /** Setting the same upstream key again counts as a new key. Throws SlugTaken like `create`. Undefined when there is no such server. */
  update(serverId: string, change: Partial<ServerDraft>, note?: AuditNote): Promise<GameServer | undefined>;
  /**
   * Deletes the server, revokes its keys, takes the roles there from people and fails its waiting commands, atomically. Deleting again changes nothing and
   * returns the same. Undefined when there never was such a server.
   */
  delete(serverId: string, now: number, note?: AuditNote): Promise<DeletedServer | undefined>;
  /** The ids of the servers that were deleted and are still remembered as such: as long as the audit log is kept. */
  listDeleted(): Promise<readonly string[]>;
  /** The decrypted upstream key, for calls to the game API only. Undefined when there is no such server. */
  readServerKey(serverId: string): Promise<string | undefined>;
}
