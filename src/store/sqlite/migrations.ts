// The schema migrations. `user_version` of a database is the number of steps it has. Existing steps are never changed.
import type { Database } from "bun:sqlite";
import { StartRefused } from "../../core/errors.ts";

const STEPS: readonly string[] = [
  `
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
  `,
  `
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
  `,
  `
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
  `,
  `
  -- Apart from the keys and in the order of their ids, as usage is: a batch of either touches few pages.
  CREATE TABLE last_uses (key_id TEXT PRIMARY KEY, last_used_at INTEGER NOT NULL) WITHOUT ROWID;
  INSERT INTO last_uses SELECT key_id, last_used_at FROM keys WHERE last_used_at IS NOT NULL;
  ALTER TABLE keys DROP COLUMN last_used_at;
  CREATE VIEW key_details AS SELECT keys.*, last_used_at FROM keys LEFT JOIN last_uses USING (key_id);
  `,
  `
  -- 1 for servers of the built-in simulator. Among older servers only the demo server is one; the start finds it by its key.
  ALTER TABLE servers ADD COLUMN simulated INTEGER NOT NULL DEFAULT 0;
  `,
  "CREATE INDEX commands_of_key ON commands (key_id, seq);",
  `
  -- How many finished commands each server has. Triggers keep the counts exact, whatever finishes or deletes a command.
  CREATE TABLE command_counts (
    server_id TEXT PRIMARY KEY,
    finished INTEGER NOT NULL,
    cancelled INTEGER NOT NULL
  ) WITHOUT ROWID;
  INSERT INTO command_counts SELECT server_id, count(*), sum(status = 'cancelled') FROM commands
    WHERE finished_at IS NOT NULL GROUP BY server_id;
  CREATE TRIGGER command_finished AFTER UPDATE OF finished_at ON commands
    WHEN OLD.finished_at IS NULL AND NEW.finished_at IS NOT NULL
    BEGIN
      INSERT INTO command_counts VALUES (NEW.server_id, 1, NEW.status = 'cancelled')
        ON CONFLICT (server_id) DO UPDATE
        SET finished = finished + 1, cancelled = cancelled + (NEW.status = 'cancelled');
    END;
  CREATE TRIGGER command_deleted AFTER DELETE ON commands WHEN OLD.finished_at IS NOT NULL
    BEGIN
      UPDATE command_counts SET finished = finished - 1, cancelled = cancelled - (OLD.status = 'cancelled')
        WHERE server_id = OLD.server_id;
    END;

  -- The receipts of dropped commands whose idempotency keys are still remembered, and how many each API key has from an hour.
  CREATE TABLE receipts (
    key_id TEXT NOT NULL,
    idempotency_key TEXT NOT NULL,
    command_id TEXT NOT NULL,
    text_hash BLOB NOT NULL,
    accepted_position INTEGER NOT NULL,
    queued_at INTEGER NOT NULL,
    PRIMARY KEY (key_id, idempotency_key)
  ) WITHOUT ROWID;
  CREATE INDEX receipts_by_time ON receipts (queued_at);
  CREATE TABLE receipt_counts (
    key_id TEXT NOT NULL,
    hour INTEGER NOT NULL,
    receipts INTEGER NOT NULL,
    PRIMARY KEY (key_id, hour)
  ) WITHOUT ROWID;
  `,
  "ALTER TABLE servers ADD COLUMN watch INTEGER NOT NULL DEFAULT 1;",
  `
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
  `,
  `
  ALTER TABLE servers ADD COLUMN status_slug TEXT;
  ALTER TABLE servers ADD COLUMN status_join_key INTEGER NOT NULL DEFAULT 0;
  CREATE UNIQUE INDEX servers_by_status_slug ON servers (status_slug) WHERE status_slug IS NOT NULL;
  `,
];

export const SCHEMA_VERSION = STEPS.length;

/** Each step and its version number are committed together, so a crash cannot leave half a step. */
export function migrate(db: Database): void {
  const row = db.query<{ user_version: number }, []>("PRAGMA user_version").get();
  const found = row?.user_version ?? 0;
  if (found > SCHEMA_VERSION) {
    throw new StartRefused(
      `the database has schema ${found}, newer than schema ${SCHEMA_VERSION} of this version — update Gatehouse`,
    );
  }
  for (let version = found; version < SCHEMA_VERSION; version++) {
    db.transaction(() => {
      db.exec(STEPS[version] ?? "");
      db.exec(`PRAGMA user_version = ${version + 1}`);
    }).exclusive();
  }
}
