// What is known of all servers, and of the key they share: which reading is fresh, which failure still holds, and when a
// server is forgotten.
import { CLOSED_BREAKER, isCallDue, isOpen, recordFailure } from "../../core/breaker.ts";
import type { GameServer } from "../../core/game-server.ts";
import type { UpstreamFailure } from "../../core/ports/upstream.ts";
import { BAD_KEY_CODES, BREAKER_CODES, GLOBAL_KEY_REFUSED } from "../../core/upstream-codes.ts";
import type { GlobalKey } from "./global-key.ts";
import {
  ACTIVE_MS,
  createStatus,
  FOREVER,
  isActive,
  isKeyRefused,
  isYounger,
  type ServerStatus,
} from "./server-status.ts";
import type { Snapshot } from "./snapshot.ts";
import type { UpstreamNotes } from "./upstream-notes.ts";

/** What is known about a server that nobody asks about is forgotten after this time. */
const FORGET_AFTER_MS = 10 * 60_000;

type KeyNotes = Pick<UpstreamNotes, "refusedKeys" | "saveRefusedKeys">;

export class ServerStatuses {
  readonly #freshMs: number;
  readonly #globalKey: GlobalKey;
  readonly #notes: KeyNotes | undefined;
  readonly #statuses = new Map<string, ServerStatus>();
  #forgotAt = 0;

  constructor(freshMs: number, globalKey: GlobalKey, notes: KeyNotes | undefined, now: number) {
    this.#freshMs = freshMs;
    this.#globalKey = globalKey;
    this.#notes = notes;
    for (const { serverId, keyRevision, failure } of notes?.refusedKeys ?? []) {
      const status = createStatus({ serverId, keyRevision }, now);
      status.remembered = { failure, at: now, forMs: FOREVER };
      this.#statuses.set(serverId, status);
    }
  }

  /** The status of the server; a new one when there is none, or when the server's key was set anew. */
  of(server: GameServer, now: number): ServerStatus {
    const known = this.#statuses.get(server.serverId);
    // Whoever comes with an older key has been on the way since before it was set anew.
    if (known && known.keyRevision >= server.keyRevision) return known;
    this.#forgetSilent(now);
    const status = createStatus(server, now);
    this.#statuses.set(server.serverId, status);
    if (known && isKeyRefused(known)) this.#noteRefusedKeys();
    return status;
  }

  find(serverId: string): ServerStatus | undefined {
    return this.#statuses.get(serverId);
  }

  isFresh(status: ServerStatus, now: number): boolean {
    return status.hit !== undefined && isYounger(status.hit.snapshot.fetchedAt, this.#freshMs, now);
  }

  /** The failure to answer without a call. `isAsking` is for those whose own call is the one that is pending. */
  findKnownFailure(status: ServerStatus, now: number, isAsking = false): UpstreamFailure | undefined {
    if (this.#globalKey.failure) return this.#globalKey.failure;
    const { remembered } = status;
    if (remembered && isYounger(remembered.at, remembered.forMs, now)) return remembered.failure;
    // While open, and while its one probe is under way, the last failure is the answer.
    const isProbing = (status.pending !== undefined && !isAsking) || status.isSendingCommand;
    const isWaiting = isOpen(status.breaker) && (isProbing || !isCallDue(status.breaker, now));
    return isWaiting ? status.breakerFailure : undefined;
  }

  /** Why the key of this server, or the global one, is not used again. */
  findRefusedKey(server: GameServer, now: number): UpstreamFailure | undefined {
    const { remembered } = this.of(server, now);
    return this.#globalKey.failure ?? (remembered?.forMs === FOREVER ? remembered.failure : undefined);
  }

  /** Those that are being asked about, could be called for now, and have waited longer. */
  countAhead(status: ServerStatus, now: number): number {
    let ahead = 0;
    for (const other of this.#statuses.values()) {
      const isOlder = other !== status && other.lastCallAt < status.lastCallAt && isActive(other, now);
      if (isOlder && !this.isFresh(other, now) && !this.findKnownFailure(other, now)) ahead++;
    }
    return ahead;
  }

  /** A reading ends every failure of its server. */
  learnReading(status: ServerStatus, snapshot: Snapshot): void {
    const wasRefused = isKeyRefused(status);
    status.breaker = CLOSED_BREAKER;
    status.lastFailure = undefined;
    status.remembered = undefined;
    if (wasRefused) this.#noteRefusedKeys();
    status.loggedCode = undefined;
    status.hit = { snapshot, isHit: true };
  }

  /** What holds for reads and commands alike: failures in a row open the breaker, a refused key is not used again. */
  learnFailure(status: ServerStatus, failure: UpstreamFailure, now: number): void {
    const isBreakerFailure = BREAKER_CODES.has(failure.code);
    status.breaker = isBreakerFailure ? recordFailure(status.breaker, now) : CLOSED_BREAKER;
    status.breakerFailure = isBreakerFailure ? failure : undefined;
    const isGlobal = failure.code === GLOBAL_KEY_REFUSED && this.#globalKey.isUsed;
    if (isGlobal) this.#globalKey.learnFailure(failure);
    else if (BAD_KEY_CODES.has(failure.code)) {
      status.remembered = { failure, at: now, forMs: FOREVER };
      this.#noteRefusedKeys();
    }
  }

  forget(serverId: string): void {
    const status = this.#statuses.get(serverId);
    this.#statuses.delete(serverId);
    if (status && isKeyRefused(status)) this.#noteRefusedKeys();
  }

  forgetGone(isThere: (serverId: string) => boolean): void {
    for (const serverId of this.#statuses.keys()) if (!isThere(serverId)) this.forget(serverId);
  }

  describe(now: number) {
    const statuses = [...this.#statuses.values()];
    return {
      isGlobalKeyRefused: this.#globalKey.failure !== undefined,
      activeServers: statuses.filter((status) => isActive(status, now)).length,
      openBreakers: statuses.filter((status) => isOpen(status.breaker)).length,
      refusedKeys: statuses.filter(isKeyRefused).length,
      oldestSnapshotMs: statuses.reduce((oldest, { hit }) => {
        return hit ? Math.max(oldest, now - hit.snapshot.fetchedAt) : oldest;
      }, 0),
    };
  }

  #noteRefusedKeys(): void {
    const refused = [...this.#statuses.values()].flatMap(({ serverId, keyRevision, remembered }) => {
      return remembered?.forMs === FOREVER ? [{ serverId, keyRevision, failure: remembered.failure }] : [];
    });
    this.#notes?.saveRefusedKeys(refused);
  }

  /** A refused key is kept in mind: forgetting it would mean asking with it again. */
  #forgetSilent(now: number): void {
    if (Math.abs(now - this.#forgotAt) < ACTIVE_MS) return;
    this.#forgotAt = now;
    for (const status of this.#statuses.values()) {
      if (status.pending || status.isSendingCommand || now - status.lastUsedAt < FORGET_AFTER_MS) continue;
      if (isKeyRefused(status)) status.hit = undefined;
      else this.#statuses.delete(status.serverId);
    }
  }
}
