-- What 0.1 and 0.2 have stored. Bytes become hexadecimal texts. Deletions that were interrupted are finished.
INSERT INTO settings (name, value) SELECT name, value FROM old_settings WHERE name NOT GLOB 'unfinished-deletion *';
INSERT INTO servers (seq, server_id, name, community, sealed_key, key_revision, created_at, simulated, watch, status_slug,
                     status_join_key)
  SELECT seq, server_id, name, community, lower(hex(server_key)), key_revision, created_at, simulated, watch, status_slug,
         status_join_key FROM old_servers;
INSERT INTO deleted_servers (server_id, deleted_at) SELECT server_id, deleted_at FROM old_deleted_servers;
INSERT INTO keys (seq, key_id, server_id, label, versions, sections, commands, ip_allow, expires_at, suspended, created_at,
                  revoked_at)
  SELECT seq, key_id, server_id, label, versions, sections, commands, ip_allow, expires_at, suspended, created_at,
         coalesce(revoked_at, (SELECT deleted_at FROM old_deleted_servers d WHERE d.server_id = old_keys.server_id))
  FROM old_keys;
INSERT INTO tokens (token_hash, key_id, valid_until) SELECT token_hash, key_id, valid_until FROM old_tokens
  WHERE key_id IN (SELECT key_id FROM keys WHERE revoked_at IS NULL);
INSERT INTO blocks (key_id, blocked_until) SELECT key_id, blocked_until FROM old_blocks
  WHERE key_id IN (SELECT key_id FROM keys WHERE revoked_at IS NULL);
INSERT INTO usage (key_id, hour, code, count) SELECT key_id, hour, code, count FROM old_usage;
INSERT INTO last_uses (key_id, last_used_at) SELECT key_id, last_used_at FROM old_last_uses;
INSERT INTO audit (seq, at, action, actor, target, details) SELECT seq, at, action, actor, target, details FROM old_audit;
-- Tables are strict now: times that came from outside may have had fractions. A command that was being sent when the process
-- died gets a sender that does not live, so that it is found like those of any other.
INSERT INTO commands (seq, command_id, server_id, key_id, command, status, idempotency_key, accepted_position, queued_at,
                      claimed_by, sent_at, finished_at, confirmed_at, logged_at, upstream_code, upstream_message)
  SELECT seq, command_id, server_id, key_id, command, status, idempotency_key, accepted_position, queued_at,
         iif(status = 'sending', 'an older version', NULL), sent_at, finished_at, confirmed_at,
         CAST(logged_at AS INTEGER), CAST(upstream_code AS INTEGER), upstream_message FROM old_commands;
INSERT INTO queues (server_id, until, hold_ms, finished, cancelled)
  SELECT server_id, 0, 0, sum(finished_at IS NOT NULL), sum(finished_at IS NOT NULL AND status = 'cancelled')
  FROM old_commands GROUP BY server_id;
INSERT INTO queues (server_id, until, hold_ms, finished, cancelled)
  SELECT server_id, CAST(until AS INTEGER), CAST(hold_ms AS INTEGER), 0, 0 FROM old_command_pace WHERE true
  ON CONFLICT (server_id) DO UPDATE SET until = excluded.until, hold_ms = excluded.hold_ms;
INSERT INTO receipts (key_id, idempotency_key, command_id, text_hash, accepted_position, queued_at)
  SELECT key_id, idempotency_key, command_id, lower(hex(text_hash)), accepted_position, queued_at FROM old_receipts;
INSERT INTO receipt_counts (key_id, hour, receipts) SELECT key_id, hour, receipts FROM old_receipt_counts;
INSERT INTO devices (device_id, key_id, secret_hash, description, created_at, last_used_at, expires_at)
  SELECT device_id, key_id, secret_hash, description, created_at, last_used_at, expires_at FROM old_devices
  WHERE key_id IN (SELECT key_id FROM keys WHERE revoked_at IS NULL);
INSERT INTO links (seq, secret_hash, key_id, expires_at) SELECT seq, secret_hash, key_id, expires_at FROM old_links
  WHERE key_id IN (SELECT key_id FROM keys WHERE revoked_at IS NULL);
-- Numbers are not given again, also those of rows that were deleted.
DELETE FROM sqlite_sequence WHERE name IN ('servers', 'keys', 'audit', 'commands', 'links');
UPDATE sqlite_sequence SET name = substr(name, length('old_') + 1)
  WHERE name IN ('old_servers', 'old_keys', 'old_audit', 'old_commands', 'old_links');
DROP TABLE old_settings;
DROP TABLE old_servers;
DROP TABLE old_deleted_servers;
DROP TABLE old_keys;
DROP TABLE old_tokens;
DROP TABLE old_blocks;
DROP TABLE old_usage;
DROP TABLE old_last_uses;
DROP TABLE old_audit;
DROP TABLE old_commands;
DROP TABLE old_command_pace;
DROP TABLE old_command_counts;
DROP TABLE old_receipts;
DROP TABLE old_receipt_counts;
DROP TABLE old_devices;
DROP TABLE old_links;
