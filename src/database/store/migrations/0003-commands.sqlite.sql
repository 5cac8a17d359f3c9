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
  sent_at INTEGER,
  finished_at INTEGER,
  confirmed_at INTEGER,
  logged_at INTEGER,
  upstream_code INTEGER,
  upstream_message TEXT
);
CREATE INDEX commands_of_server ON commands (server_id, seq);
CREATE INDEX commands_waiting ON commands (server_id, seq) WHERE status = 'queued';
CREATE INDEX commands_by_status ON commands (server_id, status, seq);
CREATE INDEX commands_sent ON commands (server_id, sent_at) WHERE status IN ('sent', 'unknown');
CREATE INDEX commands_sending ON commands (server_id) WHERE status = 'sending';
CREATE INDEX commands_finished ON commands (finished_at) WHERE finished_at IS NOT NULL;
CREATE UNIQUE INDEX commands_by_idempotency_key ON commands (key_id, idempotency_key)
  WHERE idempotency_key IS NOT NULL;

CREATE TABLE command_pace (
  server_id TEXT PRIMARY KEY,
  until INTEGER NOT NULL,
  hold_ms INTEGER NOT NULL
) WITHOUT ROWID;
