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
