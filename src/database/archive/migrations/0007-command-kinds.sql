-- Of which kind a command was, as far as reports tell kinds apart; empty for the others, and for answers to calls.
ALTER TABLE staff_acts ADD COLUMN kind TEXT NOT NULL DEFAULT '';
DROP INDEX staff_acts_by_player;
CREATE INDEX staff_acts_by_player ON staff_acts (ledger, player, kind, at);
