// Game servers.
import type { GameServer, PublicStatus } from "../game-server.ts";
import type { AuditNote } from "./audit.ts";
import type { Page, PageRequest } from "./pages.ts";

export type ServerDraft = {
  readonly name: string;
  readonly community: string | null;
  readonly serverKey: string;
  /** False when left out. */
  readonly isSimulated?: boolean;
  /** True when left out. */
  readonly isWatched?: boolean;
  /** Null when left out. */
  readonly publicStatus?: PublicStatus | null;
};

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
  /** Throws SlugTaken when another server has the slug, also when both come at once from two instances. */
  create(draft: ServerDraft, now: number, note?: AuditNote): Promise<GameServer>;
  /** Setting the same upstream key again counts as a new key. Throws SlugTaken like `create`. Undefined when there is no such server. */
  update(serverId: string, change: Partial<ServerDraft>, note?: AuditNote): Promise<GameServer | undefined>;
  /**
   * Deletes the server, revokes its keys and fails its waiting commands. Deleting again changes nothing. Undefined when
   * there never was such a server.
   *
   * The first step is atomic: the server is gone, the note is written, and its keys are refused and read as revoked.
   * After it the keys are revoked in batches. When a batch fails this throws StoreUnavailable, and the deletion is
   * finished by calling this again, which counts the batches before too, or by `tidy`.
   */
  delete(serverId: string, now: number, note?: AuditNote): Promise<DeletedServer | undefined>;
  /** The ids of the servers that were deleted and are still remembered as such: as long as the audit log is kept. */
  listDeleted(): Promise<readonly string[]>;
  /** The decrypted upstream key, for calls to the game API only. Undefined when there is no such server. */
  readServerKey(serverId: string): Promise<string | undefined>;
}
