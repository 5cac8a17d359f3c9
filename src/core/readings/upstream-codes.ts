// The error codes of the game API that Gatehouse handles.

export const NO_CODE = 0;
export const GLOBAL_KEY_REFUSED = 2003;
export const OFFLINE = 3002;
export const RATE_LIMITED = 4001;

/** The key is refused. Calling again with the same key would fail again, and may get us banned. */
export const BAD_KEY_CODES: ReadonlySet<number> = new Set([2000, 2001, 2002, GLOBAL_KEY_REFUSED, 2004]);

/** What the game API says about the server itself, so that no older reading of it holds, and no command to it can run. */
export const ABOUT_SERVER_CODES: ReadonlySet<number> = new Set([...BAD_KEY_CODES, OFFLINE]);

/** No usable answer, no way to the game, or an error inside the game API. These failures open the circuit breaker. */
export const BREAKER_CODES: ReadonlySet<number> = new Set([NO_CODE, 1001, 1002]);

export const KNOWN_CODES: ReadonlySet<number> = new Set([
  ...BREAKER_CODES,
  ...BAD_KEY_CODES,
  ...[3001, OFFLINE, 4000, RATE_LIMITED, 4002, 4003, 9998, 9999],
]);
