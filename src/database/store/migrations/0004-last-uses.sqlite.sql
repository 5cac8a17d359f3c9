-- Apart from the keys and in the order of their ids, as usage is: a batch of either touches few pages.
CREATE TABLE last_uses (key_id TEXT PRIMARY KEY, last_used_at INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO last_uses SELECT key_id, last_used_at FROM keys WHERE last_used_at IS NOT NULL;
ALTER TABLE keys DROP COLUMN last_used_at;
CREATE VIEW key_details AS SELECT keys.*, last_used_at FROM keys LEFT JOIN last_uses USING (key_id);
