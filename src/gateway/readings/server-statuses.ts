// The statuses of all servers: decides which readings are fresh and which failures still apply, and drops statuses that are
// not used any more.
import type { GameServer } from "../../core/game-server.ts";
import type { SharedNews } from "../../core/ports/relay-share.ts";
import type { UpstreamFailure } from "../../core/ports/upstream.ts";
import { CLOSED_BREAKER, isCallDue, isOpen, recordFailure } from "../../core/readings/breaker.ts";
import { BAD_KEY_CODES, BREAKER_CODES, GLOBAL_KEY_REFUSED, OFFLINE } from "../../core/readings/upstream-codes.ts";
import type { GlobalKeyFailure, RefusedKey } from "../../core/readings/upstream-notes.ts";
import { NO_COUNTS, type ServerOutcome, ServerOutcomes, toldAt } from "./server-outcomes.ts";
import {
  ACTIVE_MS,
  applyNews,
  createStatus,
  FOREVER,
  isActive,
  isKeyRefused,
  isYounger,
  type ServerStatus,
} from "./server-status.ts";
import type { Snapshot } from "./snapshot.ts";
import type { KnownState } from "./state-board.ts";
import type { UpstreamNotes } from "./upstream-notes.ts";

/** The status of a server without reads and commands is dropped after this time. */
const FORGET_AFTER_MS = 10 * 60_000;

/** What an operator is told about reading a server. */
export type ServerSummary = Pick<ServerOutcome, "counts" | "lastReadAt" | "lastError"> & {
  readonly state: "online" | "offline" | "unreachable" | "key_refused" | "not_asked";
};

/** `since`: when the first of them was; undefined when that is not known. */
export type AffectedServers = { readonly serverIds: readonly string[]; readonly since: number | undefined };

const NO_OUTCOME: Omit<ServerOutcome, "keyRevision"> = {
  state: undefined,
  counts: NO_COUNTS,
  lastReadAt: null,
  lastError: null,
};

type KeyNotes = Pick<UpstreamNotes, "saved" | "saveRefusedKeys">;

export class ServerStatuses {
  readonly #freshMs: number;
  readonly #globalKey: GlobalKey;
  readonly #notes: KeyNotes | undefined;
  readonly #statuses = new Map<string, ServerStatus>();
  readonly #outcomes = new ServerOutcomes();
  readonly #startedAt: number;
  #forgotAt = 0;

  constructor(freshMs: number, globalKey: GlobalKey, notes: KeyNotes | undefined, now: number) {
    this.#freshMs = freshMs;
    this.#globalKey = globalKey;
    this.#notes = notes;
    this.#startedAt = now;
    this.learnRefusedKeys(notes?.saved.refusedKeys ?? [], now);
  }

  /** Those that are saved, by any instance. */
  learnRefusedKeys(keys: readonly RefusedKey[], now: number): void {
    const saved = new Set<string>();
    for (const { serverId, keyRevision, failure, at = now } of keys) {
      const known = this.#statuses.get(serverId);
      saved.add(serverId);
      if (known && known.keyRevision > keyRevision) continue;
      const status = known?.keyRevision === keyRevision ? known : createStatus({ serverId, keyRevision }, now);
      // Every instance tells the time that is saved.
      if (!isKeyRefused(status)) status.remembered = { failure, at, forMs: FOREVER };
      else if (status.remembered && at !== now) status.remembered = { ...status.remembered, at };
      this.#statuses.set(serverId, status);
    }
    for (const status of this.#statuses.values())
      if (isKeyRefused(status) && !saved.has(status.serverId)) status.remembered = undefined;
  }

  /** The status of the server; a new one when there is none, or when the server's key was replaced. */
  of(server: Pick<GameServer, "serverId" | "keyRevision">, now: number): ServerStatus {
    const known = this.#statuses.get(server.serverId);
    // A request that began before the key was replaced has an older revision.
    if (known && known.keyRevision >= server.keyRevision) return known;
    this.#dropUnused(now);
    const status = createStatus(server, now);
    this.#statuses.set(server.serverId, status);
    if (known && isKeyRefused(known)) this.#saveRefusedKeys();
    return status;
  }

  find(serverId: string): ServerStatus | undefined {
    return this.#statuses.get(serverId);
  }

  isFresh(status: ServerStatus, now: number): boolean {
    return status.hit !== undefined && isYounger(status.hit.snapshot.fetchedAt, this.#freshMs, now);
  }

  /** The failure to answer without a call. `isOwnRead`: the call comes from the pending read itself. */
  findKnownFailure(status: ServerStatus, now: number, isOwnRead = false): UpstreamFailure | undefined {
    if (this.#globalKey.failure) return this.#globalKey.failure;
    const { remembered } = status;
    if (remembered && isYounger(remembered.at, remembered.forMs, now)) return remembered.failure;
    // While the breaker is open, and while its probe is under way, the last failure is the answer.
    const isProbing = status.pending !== undefined && !isOwnRead;
    const isWaiting = isOpen(status.breaker) && (isProbing || !isCallDue(status.breaker, now));
    return isWaiting ? status.breakerFailure : undefined;
  }

  /** The failure with which the game API refused the key of this server, or the global key. */
  findRefusedKey(server: GameServer, now: number): UpstreamFailure | undefined {
    const { remembered } = this.of(server, now);
    return this.#globalKey.failure ?? (remembered?.forMs === FOREVER ? remembered.failure : undefined);
  }

  /** How many active servers need a call, may be called for, and have waited longer than this one. */
  countAhead(status: ServerStatus, now: number): number {
    let ahead = 0;
    for (const other of this.#statuses.values()) {
      const isOlder = other !== status && other.lastCallAt < status.lastCallAt && isActive(other, now);
      if (isOlder && !this.isFresh(other, now) && !this.findKnownFailure(other, now)) ahead++;
    }
    return ahead;
  }

  /** Saves the reading and clears every failure of the server. */
  learnReading(status: ServerStatus, snapshot: Snapshot): void {
    const wasRefused = isKeyRefused(status);
    status.breaker = CLOSED_BREAKER;
    status.lastFailure = undefined;
    status.remembered = undefined;
    if (wasRefused) this.#saveRefusedKeys();
    status.loggedCode = undefined;
    status.hit = { snapshot, isHit: true };
    this.#outcomes.learnReading(status, snapshot);
  }

  /** Records the failure of a read. What follows from it is up to `learnFailure`. */
  learnReadFailure(status: ServerStatus, failure: UpstreamFailure, now: number): void {
    status.lastFailure = { failure, at: now };
    this.#outcomes.learnFailure(status, failure, now);
  }

  /** Applies the state that another instance has published. */
  learnNews(status: ServerStatus, news: SharedNews, now: number): void {
    const newer = applyNews(status, news, this.#freshMs, now);
    const knownAt = this.#outcomes.find(status)?.lastReadAt ?? 0;
    if (newer && newer.fetchedAt > knownAt) this.#outcomes.learnReading(status, newer);
    const { status: shared } = news;
    if (shared?.keyRevision !== status.keyRevision || !shared.lastFailure) return;
    const { failure, at } = shared.lastFailure;
    const readAt = newer?.fetchedAt ?? status.hit?.snapshot.fetchedAt ?? 0;
    if (at > readAt) this.#outcomes.learnFailure(status, failure, at);
  }

  /** For the other instances, while readings cannot be shared. */
  findState(server: GameServer): KnownState | undefined {
    const outcome = this.#outcomes.find(server);
    if (!outcome) return undefined;
    const { breaker = CLOSED_BREAKER, breakerFailure } = this.#statuses.get(server.serverId) ?? {};
    return { serverId: server.serverId, outcome, breaker, breakerFailure: breakerFailure ?? null };
  }

  /** What another instance knows, unless this one knows something newer. */
  learnState({ serverId, outcome, breaker, breakerFailure }: KnownState, now: number): void {
    const { keyRevision } = outcome;
    const known = this.#outcomes.find({ serverId, keyRevision });
    if (known && toldAt(known) >= toldAt(outcome)) return;
    const status = this.of({ serverId, keyRevision }, now);
    if (status.keyRevision !== keyRevision) return;
    this.#outcomes.learn(serverId, outcome);
    status.breaker = breaker;
    status.breakerFailure = breakerFailure ?? undefined;
  }

  /**
   * Applies a failed read or command: failures in a row open the breaker, a refused key is not used again, and an offline server
   * is not asked again for one freshness period.
   */
  learnFailure(status: ServerStatus, failure: UpstreamFailure, now: number): void {
    const isBreakerFailure = BREAKER_CODES.has(failure.code);
    status.breaker = isBreakerFailure ? recordFailure(status.breaker, now) : CLOSED_BREAKER;
    status.breakerFailure = isBreakerFailure ? failure : undefined;
    const isGlobal = failure.code === GLOBAL_KEY_REFUSED && this.#globalKey.isUsed;
    if (isGlobal) {
      this.#globalKey.learnFailure(failure, now);
    } else if (BAD_KEY_CODES.has(failure.code)) {
      status.remembered = { failure, at: now, forMs: FOREVER };
      this.#saveRefusedKeys();
    } else if (failure.code === OFFLINE && !isKeyRefused(status)) {
      status.remembered = { failure, at: now, forMs: this.#freshMs };
    }
  }

  forget(serverId: string): void {
    const status = this.#statuses.get(serverId);
    this.#statuses.delete(serverId);
    this.#outcomes.forget(serverId);
    if (status && isKeyRefused(status)) this.#saveRefusedKeys();
  }

  forgetDeleted(exists: (serverId: string) => boolean): void {
    for (const serverId of this.#statuses.keys()) if (!exists(serverId)) this.forget(serverId);
    this.#outcomes.forgetDeleted(exists);
  }

  /** What is known about the server, without asking anybody. */
  summarize(server: GameServer, status = this.#statuses.get(server.serverId)): ServerSummary {
    const outcome = this.#outcomes.find(server) ?? NO_OUTCOME;
    const { state = "not_asked", lastReadAt, lastError } = outcome;
    const isCurrent = status?.keyRevision === server.keyRevision;
    const refused = isCurrent && status.remembered?.forMs === FOREVER ? status.remembered : undefined;
    const { failure: globalFailure, refusedAt = this.#startedAt } = this.#globalKey;
    if (globalFailure) {
      const refusal = { failure: globalFailure, at: refusedAt };
      return { state: "key_refused", counts: outcome.counts, lastReadAt, lastError: refusal };
    }
    if (refused) return { state: "key_refused", counts: outcome.counts, lastReadAt, lastError: refused };
    return {
      state,
      // The watcher asks several times a second for all servers, and needs no counts.
      get counts() {
        return outcome.counts;
      },
      lastReadAt,
      lastError,
    };
  }

  listOpenBreakers(): AffectedServers {
    return this.#listAffected(
      ({ breaker }) => isOpen(breaker),
      ({ breaker }) => breaker.openedAt,
    );
  }

  listRefusedKeys(): AffectedServers {
    return this.#listAffected(isKeyRefused, ({ remembered }) => remembered?.at);
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

  #listAffected(
    isAffected: (status: ServerStatus) => boolean,
    findBegin: (status: ServerStatus) => number | undefined,
  ): AffectedServers {
    const affected = this.#statuses.values().filter(isAffected).toArray();
    const begins = affected.map(findBegin).filter((at) => at !== undefined);
    const isKnown = begins.length > 0 && begins.length === affected.length;
    return { serverIds: affected.map(({ serverId }) => serverId), since: isKnown ? Math.min(...begins) : undefined };
  }

  #saveRefusedKeys(): void {
    const refused = [...this.#statuses.values()].flatMap(({ serverId, keyRevision, remembered }) => {
      const { failure, at } = remembered ?? {};
      return failure && remembered?.forMs === FOREVER ? [{ serverId, keyRevision, failure, at }] : [];
    });
    this.#notes?.saveRefusedKeys(refused);
  }

  /** Keeps the statuses of refused keys, because without them the keys would be tried again. */
  #dropUnused(now: number): void {
    if (Math.abs(now - this.#forgotAt) < ACTIVE_MS) return;
    this.#forgotAt = now;
    for (const status of this.#statuses.values()) {
      if (status.pending || status.isSendingCommand || now - status.lastUsedAt < FORGET_AFTER_MS) continue;
      if (isKeyRefused(status)) status.hit = undefined;
      else this.#statuses.delete(status.serverId);
    }
  }
}

type GlobalKeyDeps = {
  /** False when Gatehouse has no global key. */
  readonly isUsed: boolean;
  readonly notes?: Pick<UpstreamNotes, "saved" | "saveGlobalKeyFailure"> | undefined;
};

export class GlobalKey {
  readonly isUsed: boolean;
  readonly #notes: GlobalKeyDeps["notes"];
  #failure: UpstreamFailure | null = null;
  #refusedAt: number | undefined;

  constructor({ isUsed, notes }: GlobalKeyDeps) {
    this.isUsed = isUsed;
    this.#notes = notes;
    this.learnNote(notes?.saved.globalKeyFailure ?? null);
  }

  /** Undefined while the key may be used. */
  get failure(): UpstreamFailure | undefined {
    return this.#failure ?? undefined;
  }

  /** When the key was refused; undefined when an older version has noted it. */
  get refusedAt(): number | undefined {
    return this.#refusedAt;
  }

  learnFailure(failure: UpstreamFailure, at: number): void {
    this.learnNote({ ...failure, at });
    this.#notes?.saveGlobalKeyFailure({ ...failure, at });
  }

  /** What another instance has learned; null when the key may be tried again. */
  learnNote(note: GlobalKeyFailure | null): void {
    if (!this.isUsed) return;
    const { at, ...failure } = note ?? {};
    this.#failure = note && (failure as UpstreamFailure);
    this.#refusedAt = at;
  }

  /** The key may be tried again, by every instance. */
  retry(): void {
    if (!this.isUsed) return;
    this.learnNote(null);
    this.#notes?.saveGlobalKeyFailure(null);
  }
}
