// What the latest reading of each server brought, for operators. Kept while the server exists, also after its status was
// dropped because nobody reads it any more.
import { playerIdOf } from "../../core/events/elements.ts";
import type { GameServer } from "../../core/game-server.ts";
import { EXPIRED_AFTER_MS } from "../../core/modcalls/mod-calls.ts";
import type { ServerParts, UpstreamFailure } from "../../core/ports/upstream.ts";
import { OFFLINE } from "../../core/readings/upstream-codes.ts";
import { SECTIONS, type Section } from "../../core/sections.ts";
import type { ModCall, Player } from "../../core/wire/server-info.ts";
import type { ServerStatus } from "./server-status.ts";
import type { Snapshot } from "./snapshot.ts";

const PLAYERS = /"CurrentPlayers":([^,}]+)/;
const PLAYERS_MAX = /"MaxPlayers":([^,}]+)/;

/** Null for what is not known, or cannot be told exactly. */
export type ServerCounts = {
  readonly players: number | null;
  readonly playersMax: number | null;
  readonly queue: number | null;
  /** Calls for a moderator that wait: not answered, not an hour old, and their callers are on the server. */
  readonly openModCalls: number | null;
  readonly openCalls: number | null;
};

export const NO_COUNTS: ServerCounts = {
  players: null,
  playersMax: null,
  queue: null,
  openModCalls: null,
  openCalls: null,
};

export type ServerOutcome = {
  readonly keyRevision: number;
  /** By the last reading that was not refused by a rate limit; undefined when there was none. */
  readonly state: "online" | "offline" | "unreachable" | undefined;
  /** Of the last good reading; all 0 when the server was offline, but for its places. */
  readonly counts: ServerCounts;
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
    let counts: ServerCounts | undefined;
    this.#outcomes.set(serverId, {
      keyRevision,
      state: "online",
      // Most readings are replaced before somebody asks for their counts.
      get counts() {
        counts ??= countParts(parts, fetchedAt);
        return counts;
      },
      lastReadAt: fetchedAt,
      lastError: null,
    });
  }

  learnFailure(status: StatusKey, failure: UpstreamFailure, at: number): void {
    const { serverId, keyRevision } = status;
    const known = this.find(status);
    if (failure.code === OFFLINE) {
      const playersMax = known?.counts.playersMax ?? null;
      const counts = { players: 0, playersMax, queue: 0, openModCalls: 0, openCalls: 0 };
      this.#outcomes.set(serverId, { keyRevision, state: "offline", counts, lastReadAt: at, lastError: null });
      return;
    }
    this.#outcomes.set(serverId, {
      keyRevision,
      // A rate limit says nothing about the server itself.
      state: failure.isRateLimit ? known?.state : "unreachable",
      counts: known?.counts ?? NO_COUNTS,
      lastReadAt: known?.lastReadAt ?? null,
      lastError: { failure, at },
    });
  }

  /** What another instance has learned. */
  learn(serverId: string, outcome: ServerOutcome): void {
    this.#outcomes.set(serverId, outcome);
  }

  forget(serverId: string): void {
    this.#outcomes.delete(serverId);
  }

  forgetDeleted(exists: (serverId: string) => boolean): void {
    for (const serverId of this.#outcomes.keys()) if (!exists(serverId)) this.forget(serverId);
  }
}

/** When the latest reading was made, good or not. */
export function toldAt({ lastReadAt, lastError }: ServerOutcome): number {
  return Math.max(lastReadAt ?? 0, lastError?.at ?? 0);
}

function countParts({ base, sections }: ServerParts, now: number): ServerCounts {
  const list = (name: Section) => parseList(sections[SECTIONS.indexOf(name)]);
  return {
    players: findCount(PLAYERS, base),
    playersMax: findCount(PLAYERS_MAX, base),
    queue: list("Queue").length,
    openModCalls: countWaiting(list("ModCalls") as readonly ModCall[], () => list("Players") as readonly Player[], now),
    openCalls: list("EmergencyCalls").length,
  };
}

/** Null when the number is too large to be exact. The required fields come first, so the first match is the right one. */
function findCount(field: RegExp, base: string): number | null {
  const count = Number(field.exec(base)?.[1] ?? Number.NaN);
  return Number.isSafeInteger(count) ? count : null;
}

function parseList(text = "[]"): readonly unknown[] {
  const list: unknown = text === "[]" ? [] : JSON.parse(text);
  return Array.isArray(list) ? list : [];
}

/** The players are parsed only when somebody may wait. */
function countWaiting(modCalls: readonly ModCall[], listPlayers: () => readonly Player[], now: number): number {
  const open = modCalls.filter(
    ({ Moderator, Timestamp }) => !Moderator && now - (Timestamp ?? Number.POSITIVE_INFINITY) * 1000 < EXPIRED_AFTER_MS,
  );
  if (open.length === 0) return 0;
  const here = new Set(listPlayers().map(({ Player }) => playerIdOf(Player)));
  return open.filter(({ Caller }) => here.has(playerIdOf(Caller))).length;
}
