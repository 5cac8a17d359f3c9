CREATE INDEX servers_by_name ON servers (name);
CREATE TABLE deleted_servers (server_id TEXT PRIMARY KEY, deleted_at INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX tokens_in_grace ON tokens (valid_until) WHERE valid_until IS NOT NULL;

CREATE TABLE usage (
  key_id TEXT NOT NULL,
  hour INTEGER NOT NULL,
  code INTEGER NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (key_id, hour, code)
) WITHOUT ROWID;
CREATE INDEX usage_by_hour ON usage (hour);

CREATE TABLE audit (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL,
  action TEXT NOT NULL,
  actor TEXT NOT NULL,
  target TEXT NOT NULL,
  details TEXT NOT NULL
);
CREATE INDEX audit_by_time ON audit (at);
CREATE TRIGGER audit_is_append_only BEFORE UPDATE ON audit
  BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
