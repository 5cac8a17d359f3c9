// The relay's state of one server, and the part of it that instances share.
import type { Refusal } from "../../core/errors.ts";
import type { GameServer } from "../../core/game-server.ts";
import type { Consultation, SharedStatus } from "../../core/ports/relay-share.ts";
import type { UpstreamFailure } from "../../core/ports/upstream.ts";
import { type Breaker, CLOSED_BREAKER } from "../../core/readings/breaker.ts";
import { Snapshot } from "./snapshot.ts";

/** A server counts as active for this long after its last read. */
export const ACTIVE_MS = 60_000;
export const FOREVER = Number.POSITIVE_INFINITY;
/** How much the clocks of instances may differ. */
const CLOCK_TOLERANCE_MS = 250;

export type Reading = { readonly snapshot: Snapshot; readonly isHit: boolean };

export type ServerStatus = {
  readonly serverId: string;
  readonly keyRevision: number;
  /** The last reading. */
  hit: Reading | undefined;
  /** The read in flight, which concurrent callers share. */
  pending: Promise<Reading | Refusal> | undefined;
  /** Whether the read in flight is the watcher's alone: no caller waits for it. */
  isPendingForWatch: boolean;
  isSendingCommand: boolean;
  /** The version of the shared state that was applied last. */
  sharedVersion: number;
  lastFailure: { readonly failure: UpstreamFailure; readonly at: number } | undefined;
  /** A cached failure: answered without a call for `forMs`. */
  remembered: { readonly failure: UpstreamFailure; readonly at: number; readonly forMs: number } | undefined;
  breaker: Breaker;
  /** The last failure that counted toward the breaker. It is the answer while the breaker is open. */
  breakerFailure: UpstreamFailure | undefined;
  /** The code of the last logged failure; undefined after a success. */
  loggedCode: number | undefined;
  /** 0 before the first call. */
  lastCallAt: number;
  /** When a caller last read the server; 0 when only commands were sent. */
  lastReadAt: number;
  /** The last read, by a caller or the watcher, or command. */
  lastUsedAt: number;
};

export function createStatus(
  { serverId, keyRevision }: Pick<GameServer, "serverId" | "keyRevision">,
  now: number,
): ServerStatus {
  return {
    serverId,
    keyRevision,
    hit: undefined,
    pending: undefined,
    isPendingForWatch: false,
    isSendingCommand: false,
    sharedVersion: 0,
    lastFailure: undefined,
    remembered: undefined,
    breaker: CLOSED_BREAKER,
    breakerFailure: undefined,
    loggedCode: undefined,
    lastCallAt: 0,
    lastReadAt: 0,
    lastUsedAt: now,
  };
}

/** The part of the status that the other instances get. */
export function sharedStatusOf(status: ServerStatus): SharedStatus {
  const { keyRevision, remembered, breaker, breakerFailure, lastFailure, lastCallAt } = status;
  return {
    keyRevision,
    remembered: remembered ? { ...remembered, forMs: remembered.forMs === FOREVER ? null : remembered.forMs } : null,
    breaker,
    breakerFailure: breakerFailure ?? null,
    lastFailure: lastFailure ?? null,
    lastCallAt,
  };
}

export function isKeyRefused({ remembered }: ServerStatus): boolean {
  return remembered?.forMs === FOREVER;
}

export function isActive(status: ServerStatus, now: number): boolean {
  return now - status.lastReadAt < ACTIVE_MS;
}

/** False for a time in the future, because then the clock was set back. Always true with FOREVER. */
export function isYounger(at: number, limitMs: number, now: number): boolean {
  const ageMs = now - at;
  return limitMs === FOREVER || (ageMs >= -CLOCK_TOLERANCE_MS && ageMs < limitMs);
}

/**
 * Applies the state that another instance has published, unless it belongs to another key of the server. A reading that is
 * not fresh is not taken over: somebody may have put an old one back. Returns it all the same if it is newer than ours.
 */
export function applyNews(
  status: ServerStatus,
  news: NonNullable<Consultation["news"]>,
  freshMs: number,
  now: number,
): Snapshot | undefined {
  const { version, status: shared, reading } = news;
  status.sharedVersion = version;
  if (shared?.keyRevision === status.keyRevision) {
    status.breaker = shared.breaker;
    status.breakerFailure = shared.breakerFailure ?? undefined;
    status.lastCallAt = Math.max(status.lastCallAt, shared.lastCallAt);
    // A refused key is a note in the database, which says when it may be used again.
    if (!isKeyRefused(status))
      status.remembered = shared.remembered
        ? { ...shared.remembered, forMs: shared.remembered.forMs ?? FOREVER }
        : undefined;
  }
  const isOurs = reading?.keyRevision === status.keyRevision;
  if (!isOurs || reading.fetchedAt <= (status.hit?.snapshot.fetchedAt ?? 0)) return undefined;
  const snapshot = new Snapshot(reading.parts, reading.fetchedAt);
  if (isYounger(reading.fetchedAt, freshMs, now)) status.hit = { snapshot, isHit: true };
  return snapshot;
}
