// Why a server is not watched, in the sentences that operators read. The dashboard translates them by their names.

export const WATCH_REASONS = {
  watchOff: "GATEHOUSE_WATCH is off.",
  noArchive: "There is no archive: GATEHOUSE_ARCHIVE is off.",
  serverOff: "Watching is switched off for this server.",
  budgetTooSmall: "The game API allows too few calls to watch.",
  parked: "The server was made for another upstream than the one in use.",
  globalKeyRefused: "The game API has refused GATEHOUSE_UPSTREAM_GLOBAL_KEY.",
  keyRefused: "The game API has refused the server's key; set it anew.",
  pause: "The game API has limited our requests for the moment.",
  breaker: "The game API fails for this server; it is probed from time to time.",
} as const;

export type WatchReasonName = keyof typeof WATCH_REASONS;

/** Undefined for a sentence that is not of this table. */
export function findWatchReason(sentence: string): WatchReasonName | undefined {
  const names = Object.keys(WATCH_REASONS) as WatchReasonName[];
  return names.find((name) => WATCH_REASONS[name] === sentence);
}
