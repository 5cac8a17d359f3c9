// What the relay knows about one server, and what of it the instances tell each other.
import { type Breaker, CLOSED_BREAKER } from "../core/breaker.ts";
import type { Refusal } from "../core/errors.ts";
import type { GameServer } from "../core/game-server.ts";
import type { Consultation, SharedStanding, UpstreamFailure } from "../core/ports.ts";
import { Snapshot } from "./snapshot.ts";

/** A server counts as being asked about this long after it last was. */
export const ACTIVE_MS = 60_000;
export const FOREVER = Number.POSITIVE_INFINITY;
/** Instances agree on the time to this much. */
const CLOCK_SLACK_MS = 250;

export type Reading = { readonly snapshot: Snapshot; readonly isHit: boolean };

/** Everything the relay knows about one server. `remembered` is answered without a call for its time. */
export type Watch = {
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

export function createWatch(
  { serverId, keyRevision }: Pick<GameServer, "serverId" | "keyRevision">,
  now: number,
): Watch {
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
export function standingOf(watch: Watch): SharedStanding {
  const { keyRevision, remembered, breaker, breakerFailure, lastFailure, lastCallAt } = watch;
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

export function isKeyRefused({ remembered }: Watch): boolean {
  return remembered?.forMs === FOREVER;
}

export function isActive(watch: Watch, now: number): boolean {
  return now - watch.lastAskedAt < ACTIVE_MS;
}

/** What lies in the future was noted before the clock was set back, and is not believed; what is for ever stays. */
export function isYounger(at: number, limitMs: number, now: number): boolean {
  const ageMs = now - at;
  return limitMs === FOREVER || (ageMs >= -CLOCK_SLACK_MS && ageMs < limitMs);
}

/** Takes over what another instance knows, unless it is about another key of the server. */
export function adopt(watch: Watch, { version, standing, reading }: NonNullable<Consultation["news"]>): void {
  watch.sharedVersion = version;
  if (!standing || standing.keyRevision !== watch.keyRevision) return;
  watch.breaker = standing.breaker;
  watch.breakerFailure = standing.breakerFailure ?? undefined;
  watch.lastCallAt = Math.max(watch.lastCallAt, standing.lastCallAt);
  watch.remembered = standing.remembered
    ? { ...standing.remembered, forMs: standing.remembered.forMs ?? FOREVER }
    : undefined;
  const isOurs = reading?.keyRevision === watch.keyRevision;
  const isNewer = isOurs && reading.fetchedAt > (watch.hit?.snapshot.fetchedAt ?? 0);
  if (isNewer) watch.hit = { snapshot: new Snapshot(reading.parts, reading.fetchedAt), isHit: true };
}
