-- How many players there were. All sums are over the time that is known.
CREATE TABLE counts (
  ledger INTEGER NOT NULL,
  resolution TEXT NOT NULL,
  at INTEGER NOT NULL,
  known_ms INTEGER NOT NULL,
  player_ms INTEGER NOT NULL,
  min INTEGER NOT NULL,
  max INTEGER NOT NULL,
  queue_max INTEGER,
  staff_max INTEGER,
  teams TEXT NOT NULL,
  PRIMARY KEY (ledger, resolution, at)
) STRICT, WITHOUT ROWID;

-- Sessions that have ended, by player. The number tells apart those of a server that began at the same moment.
CREATE TABLE sessions (
  ledger INTEGER NOT NULL,
  joined_at INTEGER NOT NULL,
  number INTEGER NOT NULL,
  player TEXT NOT NULL,
  left_at INTEGER NOT NULL,
  ended TEXT NOT NULL,
  was_staff INTEGER NOT NULL,
  stays TEXT NOT NULL,
  PRIMARY KEY (ledger, player, joined_at, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_by_time ON sessions (ledger, joined_at, number, left_at, player);
CREATE INDEX sessions_of_staff ON sessions (ledger, joined_at, left_at, player) WHERE was_staff = 1;

-- How long each player was there on each day (UTC, days since 1970), so that a year need not be added up from sessions.
CREATE TABLE player_days (
  ledger INTEGER NOT NULL,
  day INTEGER NOT NULL,
  player TEXT NOT NULL,
  ms INTEGER NOT NULL,
  begun INTEGER NOT NULL,
  PRIMARY KEY (ledger, player, day)
) STRICT, WITHOUT ROWID;

-- Commands, and calls for a moderator that were answered; those have the bounds of how long the caller waited.
CREATE TABLE staff_acts (
  ledger INTEGER NOT NULL,
  at INTEGER NOT NULL,
  number INTEGER NOT NULL,
  player TEXT NOT NULL,
  low INTEGER,
  high INTEGER,
  PRIMARY KEY (ledger, at, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX staff_acts_by_player ON staff_acts (ledger, player, at);
CREATE INDEX staff_answers ON staff_acts (ledger, at, player, low, high) WHERE low IS NOT NULL;

-- The newest name of everybody who is in the history.
CREATE TABLE player_names (
  ledger INTEGER NOT NULL,
  player TEXT NOT NULL,
  name TEXT NOT NULL,
  PRIMARY KEY (ledger, player)
) STRICT, WITHOUT ROWID;
