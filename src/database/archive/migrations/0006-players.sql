-- Everybody who was ever seen on a server. `search` has the names without case, each on a line of its own.
CREATE TABLE known_players (
  ledger INTEGER NOT NULL,
  player TEXT NOT NULL,
  search TEXT NOT NULL,
  names TEXT NOT NULL,
  first_seen_at INTEGER NOT NULL,
  last_seen_at INTEGER NOT NULL,
  ms INTEGER NOT NULL,
  sessions INTEGER NOT NULL,
  kills INTEGER NOT NULL,
  deaths INTEGER NOT NULL,
  teams TEXT NOT NULL,
  PRIMARY KEY (ledger, player)
) STRICT, WITHOUT ROWID;
-- Searched from the latest on. It has the names, so that the table itself need not be read.
CREATE INDEX known_players_by_time ON known_players (ledger, last_seen_at, player, search);

-- How many there are, and the last player that was added from the history of before; null when that is done.
ALTER TABLE ledgers ADD COLUMN known_count INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ledgers ADD COLUMN known_from TEXT;
UPDATE ledgers SET known_from = '';

-- The commands that were aimed at a player.
CREATE TABLE command_targets (
  ledger INTEGER NOT NULL,
  player TEXT NOT NULL,
  number INTEGER NOT NULL,
  PRIMARY KEY (ledger, player, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX command_targets_by_number ON command_targets (ledger, number);

CREATE TABLE notes (
  ledger INTEGER NOT NULL,
  player TEXT NOT NULL,
  note_id TEXT NOT NULL,
  at INTEGER NOT NULL,
  kind TEXT NOT NULL,
  text TEXT NOT NULL,
  by_kind TEXT NOT NULL,
  by_id TEXT NOT NULL,
  by_name TEXT NOT NULL,
  PRIMARY KEY (ledger, player, note_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX notes_by_time ON notes (ledger, at);

-- Calls for a moderator, by the identity of their entry. `claimed_by` is JSON.
CREATE TABLE mod_calls (
  ledger INTEGER NOT NULL,
  call_id TEXT NOT NULL,
  player TEXT NOT NULL,
  opened_at INTEGER NOT NULL,
  data TEXT NOT NULL,
  answered_by TEXT,
  answered_at INTEGER,
  claimed_by TEXT,
  claimed_at INTEGER,
  PRIMARY KEY (ledger, call_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX mod_calls_by_time ON mod_calls (ledger, opened_at);
CREATE INDEX mod_calls_by_player ON mod_calls (ledger, player, opened_at);
