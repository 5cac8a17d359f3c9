CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

-- One row. Every change of a server, key or block takes the next version first, so that changes are one after another.
CREATE TABLE directory (id INTEGER PRIMARY KEY CHECK (id = 1), version INTEGER NOT NULL) STRICT;

-- The ids of what each version has changed, for instances that know an older one.
CREATE TABLE changes (
  version INTEGER NOT NULL,
  id TEXT NOT NULL,
  PRIMARY KEY (version, id)
) STRICT, WITHOUT ROWID;

-- Which instances live. The id is the fencing token of what an instance does: its row is deleted when it counts as dead.
CREATE TABLE instances (
  instance_id TEXT PRIMARY KEY,
  started_at INTEGER NOT NULL,
  seen_at INTEGER NOT NULL,
  redis TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- What one instance does for all. The epoch grows with every new holder.
CREATE TABLE leases (
  name TEXT PRIMARY KEY,
  holder TEXT NOT NULL,
  epoch INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE servers (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  server_id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  community TEXT,
  sealed_key TEXT NOT NULL,
  key_revision INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  simulated INTEGER NOT NULL,
  watch INTEGER NOT NULL,
  status_slug TEXT,
  status_join_key INTEGER NOT NULL
) STRICT;
CREATE INDEX servers_by_name ON servers (name);
CREATE UNIQUE INDEX servers_by_status_slug ON servers (status_slug) WHERE status_slug IS NOT NULL;

CREATE TABLE deleted_servers (server_id TEXT PRIMARY KEY, deleted_at INTEGER NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE keys (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  key_id TEXT NOT NULL UNIQUE,
  server_id TEXT NOT NULL,
  label TEXT NOT NULL,
  versions TEXT NOT NULL,
  sections INTEGER NOT NULL,
  commands TEXT NOT NULL,
  ip_allow TEXT NOT NULL,
  expires_at INTEGER,
  suspended INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  revoked_at INTEGER
) STRICT;
CREATE INDEX keys_of_server ON keys (server_id, seq);

CREATE TABLE tokens (
  token_hash TEXT PRIMARY KEY,
  key_id TEXT NOT NULL,
  valid_until INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX tokens_of_key ON tokens (key_id);
CREATE INDEX tokens_in_grace ON tokens (valid_until) WHERE valid_until IS NOT NULL;

CREATE TABLE blocks (key_id TEXT PRIMARY KEY, blocked_until INTEGER NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE usage (
  key_id TEXT NOT NULL,
  hour INTEGER NOT NULL,
  code INTEGER NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (key_id, hour, code)
) STRICT, WITHOUT ROWID;
CREATE INDEX usage_by_hour ON usage (hour);

-- Apart from the keys and in the order of their ids, as usage is: a batch of either touches few pages.
CREATE TABLE last_uses (key_id TEXT PRIMARY KEY, last_used_at INTEGER NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE audit (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL,
  action TEXT NOT NULL,
  actor TEXT NOT NULL,
  target TEXT NOT NULL,
  details TEXT NOT NULL
) STRICT;
CREATE INDEX audit_by_time ON audit (at);

-- One row for each server that ever had a command; locked while its queue is changed. No command is claimed before `until`.
CREATE TABLE queues (
  server_id TEXT PRIMARY KEY,
  until INTEGER NOT NULL,
  hold_ms INTEGER NOT NULL,
  finished INTEGER NOT NULL,
  cancelled INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- `claimed_by`: the instance that sends or has sent the command.
CREATE TABLE commands (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  command_id TEXT NOT NULL UNIQUE,
  server_id TEXT NOT NULL,
  key_id TEXT NOT NULL,
  command TEXT NOT NULL,
  status TEXT NOT NULL,
  idempotency_key TEXT,
  accepted_position INTEGER NOT NULL,
  queued_at INTEGER NOT NULL,
  claimed_by TEXT,
  sent_at INTEGER,
  finished_at INTEGER,
  confirmed_at INTEGER,
  logged_at INTEGER,
  upstream_code INTEGER,
  upstream_message TEXT
) STRICT;
CREATE INDEX commands_of_server ON commands (server_id, seq);
CREATE INDEX commands_of_key ON commands (key_id, seq);
CREATE INDEX commands_waiting ON commands (server_id, seq) WHERE status = 'queued';
CREATE INDEX commands_by_status ON commands (server_id, status, seq);
CREATE INDEX commands_sent ON commands (server_id, sent_at) WHERE status IN ('sent', 'unknown');
CREATE INDEX commands_sending ON commands (server_id) WHERE status = 'sending';
CREATE INDEX commands_finished ON commands (finished_at) WHERE finished_at IS NOT NULL;
CREATE UNIQUE INDEX commands_by_idempotency_key ON commands (key_id, idempotency_key)
  WHERE idempotency_key IS NOT NULL;

-- The receipts of dropped commands whose idempotency keys are still remembered, and how many each API key has from an hour.
CREATE TABLE receipts (
  key_id TEXT NOT NULL,
  idempotency_key TEXT NOT NULL,
  command_id TEXT NOT NULL,
  text_hash TEXT NOT NULL,
  accepted_position INTEGER NOT NULL,
  queued_at INTEGER NOT NULL,
  PRIMARY KEY (key_id, idempotency_key)
) STRICT, WITHOUT ROWID;
CREATE INDEX receipts_by_time ON receipts (queued_at);
CREATE TABLE receipt_counts (
  key_id TEXT NOT NULL,
  hour INTEGER NOT NULL,
  receipts INTEGER NOT NULL,
  PRIMARY KEY (key_id, hour)
) STRICT, WITHOUT ROWID;

CREATE TABLE devices (
  device_id TEXT PRIMARY KEY,
  key_id TEXT NOT NULL,
  secret_hash TEXT NOT NULL UNIQUE,
  description TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  last_used_at INTEGER,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX devices_of_key ON devices (key_id);

CREATE TABLE links (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  secret_hash TEXT NOT NULL UNIQUE,
  key_id TEXT NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX links_of_key ON links (key_id);
