CREATE TABLE webhooks (
  webhook_id TEXT PRIMARY KEY,
  ledger INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  label TEXT NOT NULL,
  format TEXT NOT NULL,
  types TEXT,
  language TEXT NOT NULL,
  show_join_key INTEGER NOT NULL,
  is_enabled INTEGER NOT NULL,
  sealed_url TEXT NOT NULL,
  shown_url TEXT NOT NULL,
  place_number INTEGER NOT NULL,
  place_mark INTEGER NOT NULL,
  last_success_at INTEGER,
  last_failure_at INTEGER,
  first_failure_at INTEGER,
  failures INTEGER NOT NULL,
  refusals INTEGER NOT NULL,
  next_attempt_at INTEGER,
  disabled_reason TEXT,
  message TEXT,
  sealed_secret TEXT NOT NULL,
  sealed_old_secret TEXT,
  old_secret_until INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX webhooks_by_ledger ON webhooks (ledger);

-- The last attempts of each webhook.
CREATE TABLE deliveries (
  ledger INTEGER NOT NULL,
  webhook_id TEXT NOT NULL,
  number INTEGER NOT NULL,
  at INTEGER NOT NULL,
  event_ids TEXT NOT NULL,
  status INTEGER,
  duration_ms INTEGER NOT NULL,
  error TEXT,
  sealed_answer TEXT,
  PRIMARY KEY (ledger, webhook_id, number)
) STRICT, WITHOUT ROWID;

-- Counts the events of some types after a place without reading the others.
CREATE INDEX events_by_kind ON events (ledger, kind, number) WHERE is_backfill = 0;
