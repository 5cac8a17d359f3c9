// What a notice of /readyz can be about. Programs read the codes, so a code never changes its meaning.

export const NOTICE_CODES = {
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
  untrusted_proxy: "a proxy that is not trusted forwards requests",
} as const;

export type NoticeCode = keyof typeof NOTICE_CODES;
