// The state of a key in one word, and the search for keys by it.

/** From the hardest to undo to none; a key to which several apply has the first of them. */
export const KEY_STATES = ["revoked", "expired", "suspended", "blocked", "active"] as const;
export type KeyState = (typeof KEY_STATES)[number];

/** What the state of a key depends on, beside its block. */
export type StateFields = {
  readonly revokedAt: number | null;
  readonly expiresAt: number | null;
  readonly isSuspended: boolean;
};

export function judgeKeyState(key: StateFields, isBlocked: boolean, now: number): KeyState {
  if (key.revokedAt !== null) return "revoked";
  if (key.expiresAt !== null && key.expiresAt <= now) return "expired";
  if (key.isSuspended) return "suspended";
  return isBlocked ? "blocked" : "active";
}

export type KeySearch = {
  /** A part of the label; upper and lower case are the same. */
  readonly label?: string | undefined;
  readonly state?: KeyState | undefined;
  /** Decides which keys have expired and which are blocked. */
  readonly now: number;
};

export function isMatchingKey(
  { label, state, now }: KeySearch,
  key: StateFields & { readonly label: string },
  isBlocked: boolean,
): boolean {
  if (label !== undefined && !key.label.toLowerCase().includes(label.toLowerCase())) return false;
  return state === undefined || judgeKeyState(key, isBlocked, now) === state;
}
