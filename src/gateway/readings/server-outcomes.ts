// What the latest reading of each server brought, for operators. Kept while the server exists, also after its status was
// dropped because nobody reads it any more.
import type { GameServer } from "../../core/game-server.ts";
import type { UpstreamFailure } from "../../core/ports/upstream.ts";
import { OFFLINE } from "../../core/upstream-codes.ts";
import type { ServerStatus } from "./server-status.ts";
import type { Snapshot } from "./snapshot.ts";

const PLAYERS = /"CurrentPlayers":([^,}]+)/;

export type ServerOutcome = {
  readonly keyRevision: number;
  /** By the last reading that was not refused by a rate limit; undefined when there was none. */
  readonly state: "online" | "offline" | "unreachable" | undefined;
  /** Of the last good reading; 0 when the server was offline. */
  readonly players: number | null;
  /** When the last good reading was made. "Offline" is a good reading. */
  readonly lastReadAt: number | null;
  /** Null after a good reading. */
  readonly lastError: { readonly failure: UpstreamFailure; readonly at: number } | null;
};

type StatusKey = Pick<ServerStatus, "serverId" | "keyRevision">;

export class ServerOutcomes {
  readonly #outcomes = new Map<string, ServerOutcome>();

  /** Undefined when the server was not read with its present key. */
  find({ serverId, keyRevision }: Pick<GameServer, "serverId" | "keyRevision">): ServerOutcome | undefined {
    const outcome = this.#outcomes.get(serverId);
    return outcome?.keyRevision === keyRevision ? outcome : undefined;
  }

  learnReading({ serverId, keyRevision }: StatusKey, { parts, fetchedAt }: Snapshot): void {
    const players = countPlayers(parts.base);
    this.#outcomes.set(serverId, {
      ...{ keyRevision, state: "online", players },
      ...{ lastReadAt: fetchedAt, lastError: null },
    });
  }

  learnFailure(status: StatusKey, failure: UpstreamFailure, at: number): void {
    const { serverId, keyRevision } = status;
    const known = this.find(status);
    if (failure.code === OFFLINE) {
      const offline = { state: "offline", players: 0, lastReadAt: at, lastError: null } as const;
      this.#outcomes.set(serverId, { keyRevision, ...offline });
      return;
    }
    this.#outcomes.set(serverId, {
      keyRevision,
      // A rate limit says nothing about the server itself.
      state: failure.isRateLimit ? known?.state : "unreachable",
      players: known?.players ?? null,
      lastReadAt: known?.lastReadAt ?? null,
      lastError: { failure, at },
    });
  }

  forget(serverId: string): void {
    this.#outcomes.delete(serverId);
  }

  forgetDeleted(exists: (serverId: string) => boolean): void {
    for (const serverId of this.#outcomes.keys()) if (!exists(serverId)) this.forget(serverId);
  }
}

/** Null when the number is too large to be exact. The required fields come first, so the first match is the right one. */
function countPlayers(base: string): number | null {
  const players = Number(PLAYERS.exec(base)?.[1] ?? Number.NaN);
  return Number.isSafeInteger(players) ? players : null;
}
