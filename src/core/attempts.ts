// Wrong master keys from one address: ten in a minute are answered, the next ones are sent away.

export const ATTEMPTS_PER_WINDOW = 10;
export const ATTEMPTS_WINDOW_MS = 60_000;

/** A minute that begins with the first wrong try. */
export type Attempts = { readonly count: number; readonly resetAt: number };

/** The state after one more wrong try. A minute that ends further away than a minute was begun by another clock. */
export function countAttempt(state: Attempts | undefined, now: number): Attempts {
  const isOver = !state || now >= state.resetAt || state.resetAt - now > ATTEMPTS_WINDOW_MS;
  if (isOver) return { count: 1, resetAt: now + ATTEMPTS_WINDOW_MS };
  return { count: state.count + 1, resetAt: state.resetAt };
}

export function isTooMany(state: Attempts): boolean {
  return state.count > ATTEMPTS_PER_WINDOW;
}
