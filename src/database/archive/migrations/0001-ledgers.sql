CREATE TABLE archive (id INTEGER PRIMARY KEY CHECK (id = 1), archive_id TEXT NOT NULL) STRICT;

-- One row for each server. Numbers of events run from 1 without holes; floor is the newest deleted event.
CREATE TABLE ledgers (
  ledger INTEGER PRIMARY KEY,
  server_id TEXT NOT NULL UNIQUE,
  version INTEGER NOT NULL,
  last_number INTEGER NOT NULL,
  last_mark INTEGER NOT NULL,
  floor_number INTEGER NOT NULL,
  floor_mark INTEGER NOT NULL,
  last_day INTEGER NOT NULL,
  identity_count INTEGER NOT NULL
) STRICT;

CREATE TABLE events (
  ledger INTEGER NOT NULL,
  number INTEGER NOT NULL,
  mark INTEGER NOT NULL,
  kind INTEGER NOT NULL,
  at INTEGER NOT NULL,
  seen_at INTEGER NOT NULL,
  source TEXT NOT NULL,
  is_backfill INTEGER NOT NULL,
  data TEXT NOT NULL,
  meta TEXT,
  PRIMARY KEY (ledger, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE event_players (
  ledger INTEGER NOT NULL,
  player TEXT NOT NULL,
  number INTEGER NOT NULL,
  PRIMARY KEY (ledger, player, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX event_players_by_number ON event_players (ledger, number);

-- Entries that were recorded, apart from the events, so that deleting an event does not make its entry new.
CREATE TABLE identities (
  ledger INTEGER NOT NULL,
  identity TEXT NOT NULL,
  shown_day INTEGER NOT NULL,
  PRIMARY KEY (ledger, identity)
) STRICT, WITHOUT ROWID;
CREATE INDEX identities_by_day ON identities (ledger, shown_day);

CREATE TABLE memory (
  ledger INTEGER NOT NULL,
  part TEXT NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY (ledger, part)
) STRICT, WITHOUT ROWID;
