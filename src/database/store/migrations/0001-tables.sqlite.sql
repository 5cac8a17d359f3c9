CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE servers (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  server_id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  community TEXT,
  server_key BLOB NOT NULL,
  key_revision INTEGER NOT NULL,
  created_at INTEGER NOT NULL
);

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
  last_used_at INTEGER,
  revoked_at INTEGER
);
CREATE INDEX keys_of_server ON keys (server_id, seq);

CREATE TABLE tokens (
  token_hash TEXT PRIMARY KEY,
  key_id TEXT NOT NULL,
  valid_until INTEGER
) WITHOUT ROWID;
CREATE INDEX tokens_of_key ON tokens (key_id);

CREATE TABLE blocks (key_id TEXT PRIMARY KEY, blocked_until INTEGER NOT NULL) WITHOUT ROWID;
