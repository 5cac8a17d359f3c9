// Who owns a game server, by its newest reading: owners may sign in without an invitation where the server allows it.
import { StoreUnavailable } from "../../core/errors.ts";
import { isJsonNumber, parseExactJson } from "../../core/exact-json.ts";
import type { GameServer } from "../../core/game-server.ts";
import type { ServerStore } from "../../core/ports/servers.ts";
import type { Relay } from "../readings/relay.ts";
import type { Snapshot } from "../readings/snapshot.ts";

/** A reading that is older is made anew before somebody gets a token by it. A server is not asked more often, either. */
const FRESH_MS = 60_000;
/** How long a sign-in waits for that. */
const ASK_WITHIN_MS = 2_000;
/** So many servers are read for one person; the watcher reads the others. */
const ASKED_MAX = 20;
const ASKED_KEPT_MAX = 10_000;

export type OwnersDeps = {
  readonly servers: Pick<ServerStore, "all">;
  readonly relay: Pick<Relay, "findSnapshot" | "read">;
  readonly sleep: (ms: number) => Promise<void>;
};

export class Owners {
  readonly #known = new WeakMap<Snapshot, ReadonlySet<string>>();
  /** When each server was last asked for this, so that one that does not answer delays nobody twice. */
  readonly #askedAt = new Map<string, number>();

  constructor(private readonly deps: OwnersDeps) {}

  /** Whether this is the chat id of an owner who may sign in without an invitation. */
  async isOwner(server: GameServer, chatId: string, now: number, isRenewal: boolean): Promise<boolean> {
    if (!server.ownersSignIn) return false;
    await this.#readAnew([server], now, isRenewal);
    return this.#isKnownOwner(server, chatId);
  }

  /** The servers of this owner. */
  async listOwned(chatId: string, now: number, isRenewal: boolean): Promise<readonly GameServer[]> {
    const open = [...this.deps.servers.all()].filter(({ ownersSignIn }) => ownersSignIn);
    await this.#readAnew(open, now, isRenewal);
    return open.filter((server) => this.#isKnownOwner(server, chatId));
  }

  /** When a reading fails or takes too long, the one before it counts. Except for a renewal, any reading is good enough. */
  async #readAnew(servers: readonly GameServer[], now: number, isRenewal: boolean): Promise<void> {
    const { relay, sleep } = this.deps;
    const isOld = (at: number | undefined) => at === undefined || Math.abs(now - at) > FRESH_MS;
    const old = servers.filter((server) => {
      const snapshot = relay.findSnapshot(server);
      const isWanted = !snapshot || (isRenewal && isOld(snapshot.fetchedAt));
      return isWanted && isOld(this.#askedAt.get(server.serverId));
    });
    if (old.length === 0) return;
    if (this.#askedAt.size > ASKED_KEPT_MAX) this.#askedAt.clear();
    for (const { serverId } of old.slice(0, ASKED_MAX)) this.#askedAt.set(serverId, now);
    const read = async (server: GameServer) => {
      try {
        await relay.read(server, now);
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
      }
    };
    await Promise.race([Promise.all(old.slice(0, ASKED_MAX).map(read)), sleep(ASK_WITHIN_MS)]);
  }

  #isKnownOwner(server: GameServer, chatId: string): boolean {
    const snapshot = this.deps.relay.findSnapshot(server);
    if (!snapshot) return false;
    const known = this.#known.get(snapshot) ?? listOwners(snapshot);
    this.#known.set(snapshot, known);
    return known.has(chatId);
  }
}

/** Ids of the chat platform have more digits than a double: they are compared as they were written. */
function listOwners({ parts }: Snapshot): ReadonlySet<string> {
  const { OwnerId, CoOwnerIds } = parseExactJson(`${parts.base}}`) as { OwnerId?: unknown; CoOwnerIds?: unknown };
  const ids = [OwnerId, ...(Array.isArray(CoOwnerIds) ? CoOwnerIds : [])].filter(isJsonNumber);
  return new Set(ids.map((id) => (typeof id === "number" ? String(id) : id.rawJSON)));
}
