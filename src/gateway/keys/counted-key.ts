// A key together with the counts of its use, and the arithmetic on such counts.
import type { ApiKey } from "../../core/keys/api-key.ts";
import type { LimitHandle } from "../../core/ports/limits.ts";

/** The hour of a key that is not listed for writing. */
export const NO_HOUR = -1;

export type Counts = {
  lastUsedAt: number;
  /** Answers without an error. Most are, so they need no map. */
  fine: number;
  /** Refusals by error code. */
  refusals: Map<number, number> | undefined;
};

/** The use of one key in one hour, taken out of its CountedKey. */
export type HourCounts = Counts & { readonly keyId: string; readonly hour: number };

/**
 * A key with its counts since they were last taken for writing. Authenticating a request yields this object, so counting
 * needs no lookup. One key may have several of them: one for each token, and a new one after each change of the key.
 */
export type CountedKey = ApiKey &
  Counts & {
    /** The hour being counted, or NO_HOUR. */
    hour: number;
    readonly limitHandle: LimitHandle | undefined;
  };

/** Copies the key field by field: one flat object needs less memory, and there may be a hundred thousand of them. */
export function toCountedKey(key: ApiKey, limitHandle?: LimitHandle): CountedKey {
  return {
    keyId: key.keyId,
    serverId: key.serverId,
    label: key.label,
    grant: key.grant,
    expiresAt: key.expiresAt,
    person: key.person,
    limitHandle,
    hour: NO_HOUR,
    lastUsedAt: 0,
    fine: 0,
    refusals: undefined,
  };
}

export function hasCounts({ fine, refusals }: Counts): boolean {
  return fine > 0 || refusals !== undefined;
}

/** Resets the counts of the key. The time of the last use stays. */
export function takeCounts(key: CountedKey): HourCounts {
  const { keyId, hour, lastUsedAt, fine, refusals } = key;
  key.fine = 0;
  key.refusals = undefined;
  return { keyId, hour, lastUsedAt, fine, refusals };
}

export function addCounts(counts: Counts, { lastUsedAt, fine, refusals }: Counts): void {
  counts.lastUsedAt = Math.max(counts.lastUsedAt, lastUsedAt);
  counts.fine += fine;
  for (const [code, times] of refusals ?? []) addRefusals(counts, code, times);
}

export function addRefusals(counts: Counts, code: number, times: number): void {
  counts.refusals ??= new Map();
  counts.refusals.set(code, (counts.refusals.get(code) ?? 0) + times);
}
