CREATE TABLE devices (
  device_id TEXT PRIMARY KEY,
  key_id TEXT NOT NULL,
  secret_hash TEXT NOT NULL UNIQUE,
  description TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  last_used_at INTEGER,
  expires_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX devices_of_key ON devices (key_id);

CREATE TABLE links (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  secret_hash TEXT NOT NULL UNIQUE,
  key_id TEXT NOT NULL,
  expires_at INTEGER NOT NULL
);
CREATE INDEX links_of_key ON links (key_id);
