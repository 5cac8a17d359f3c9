// What the relay knows about one server, and what of it the instances tell each other.
import { type Breaker, CLOSED_BREAKER } from "../../core/breaker.ts";
import type { Refusal } from "../../core/errors.ts";
import type { GameServer } from "../../core/game-server.ts";
import type { Consultation, SharedStatus } from "../../core/ports/relay-share.ts";
import type { UpstreamFailure } from "../../core/ports/upstream.ts";
import { Snapshot } from "./snapshot.ts";

/** A server counts as being asked about this long after it last was. */
export const ACTIVE_MS = 60_000;
export const FOREVER = Number.POSITIVE_INFINITY;
/** Instances agree on the time to this much. */
const CLOCK_SLACK_MS = 250;

export type Reading = { readonly snapshot: Snapshot; readonly isHit: boolean };

/** Everything the relay knows about one server. `remembered` is answered without a call for its time. */
export type ServerStatus = {
  readonly serverId: string;
  readonly keyRevision: number;
  hit: Reading | undefined;
  pending: Promise<Reading | Refusal> | undefined;
  isSendingCommand: boolean;
  /** How much of what the instances share is known here. */
  sharedVersion: number;
  lastFailure: { readonly failure: UpstreamFailure; readonly at: number } | undefined;
  remembered: { readonly failure: UpstreamFailure; readonly at: number; readonly forMs: number } | undefined;
  breaker: Breaker;
  /** The last failure that counted toward the breaker: what is answered while it is open. */
  breakerFailure: UpstreamFailure | undefined;
  /** The code of the failure that was logged last; undefined after a success. */
  loggedCode: number | undefined;
  /** 0 before the first call. */
  lastCallAt: number;
  /** When somebody last wanted to read; 0 for a server that only commands are sent to. */
  lastAskedAt: number;
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
    isSendingCommand: false,
    sharedVersion: 0,
    lastFailure: undefined,
    remembered: undefined,
    breaker: CLOSED_BREAKER,
    breakerFailure: undefined,
    loggedCode: undefined,
    lastCallAt: 0,
    lastAskedAt: 0,
    lastUsedAt: now,
  };
}

/** What the other instances should know. */
export function sharedStatusOf(status: ServerStatus): SharedStatus {
  const { keyRevision, remembered, breaker, breakerFailure, lastFailure, lastCallAt } = status;
  return {
    keyRevision,
    remembered: remembered
      ? { ...remembered, forMs: remembered.forMs === FOREVER ? null : remembered.forMs }
      : null,
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
  return now - status.lastAskedAt < ACTIVE_MS;
}

/** What lies in the future was noted before the clock was set back, and is not believed; what is for ever stays. */
export function isYounger(at: number, limitMs: number, now: number): boolean {
  const ageMs = now - at;
  return limitMs === FOREVER || (ageMs >= -CLOCK_SLACK_MS && ageMs < limitMs);
}

/** Takes over what another instance knows, unless it is about another key of the server. */
export function adopt(status: ServerStatus, news: NonNullable<Consultation["news"]>): void {
  const { version, status: shared, reading } = news;
  status.sharedVersion = version;
  if (!shared || shared.keyRevision !== status.keyRevision) return;
  status.breaker = shared.breaker;
  status.breakerFailure = shared.breakerFailure ?? undefined;
  status.lastCallAt = Math.max(status.lastCallAt, shared.lastCallAt);
  status.remembered = shared.remembered
    ? { ...shared.remembered, forMs: shared.remembered.forMs ?? FOREVER }
    : undefined;
  const isOurs = reading?.keyRevision === status.keyRevision;
  const isNewer = isOurs && reading.fetchedAt > (status.hit?.snapshot.fetchedAt ?? 0);
  if (isNewer) status.hit = { snapshot: new Snapshot(reading.parts, reading.fetchedAt), isHit: true };
}
