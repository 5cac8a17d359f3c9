// What a notice of /readyz can be about. Programs read the codes, so a code never changes its meaning.

export const NOTICE_CODES = {
  store_unusable: "the database cannot be read or written",
  disk_full: "the disk of the data folder is full",
  disk_low: "the disk of the data folder is nearly full",
  database_away: "PostgreSQL is away",
  redis_away: "Redis is away",
  upstream_paused: "the game API has limited us",
  upstream_failing: "the game API fails for some servers",
  server_keys_refused: "the game API has refused keys of servers",
  global_key_refused: "the game API has refused the global key",
  parked_servers: "servers were made for another upstream than the one in use",
  archive_away: "the archive cannot be used",
  webhooks_disabled: "webhooks were disabled because of their receivers",
  discord_paused: "Discord has limited this instance",
  keys_blocked: "keys are blocked for spam",
  alerts_raised: "alerts of servers are raised",
  clock_wrong: "the clock of this machine and that of the game API differ",
  database_clock_wrong: "the clock of this machine and that of PostgreSQL differ",
  certificate_expiring: "the TLS certificate expires soon, or has expired",
  key_file_gone: "the file with the operator's key is gone",
  untrusted_proxy: "a proxy that is not trusted forwards requests",
} as const;

export type NoticeCode = keyof typeof NOTICE_CODES;

/** What one instance sees of itself and its machine. Every instance says the same about everything else. */
export const OWN_NOTICES: ReadonlySet<NoticeCode> = new Set<NoticeCode>([
  "store_unusable",
  "disk_full",
  "disk_low",
  "database_away",
  "redis_away",
  "archive_away",
  "discord_paused",
  "clock_wrong",
  "database_clock_wrong",
  "certificate_expiring",
  "key_file_gone",
  "untrusted_proxy",
]);
