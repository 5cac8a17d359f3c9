// The tables of the history in PostgreSQL: one step of its schema.

/** Players sort as in SQLite, so that rows that were moved can be compared in their order. */
export const HISTORY_STEP = `
  -- How many players there were. All sums are over the time that is known.
  CREATE TABLE gatehouse_counts (
    ledger bigint NOT NULL,
    resolution text COLLATE "C" NOT NULL,
    at bigint NOT NULL,
    known_ms bigint NOT NULL,
    player_ms bigint NOT NULL,
    min bigint NOT NULL,
    max bigint NOT NULL,
    queue_max bigint,
    staff_max bigint,
    teams text NOT NULL,
    PRIMARY KEY (ledger, resolution, at)
  );

  -- Sessions that have ended, by player. The number tells apart those of a server that began at the same moment.
  CREATE TABLE gatehouse_sessions (
    ledger bigint NOT NULL,
    joined_at bigint NOT NULL,
    number bigint NOT NULL,
    player text COLLATE "C" NOT NULL,
    left_at bigint NOT NULL,
    ended text NOT NULL,
    was_staff boolean NOT NULL,
    stays text NOT NULL,
    PRIMARY KEY (ledger, player, joined_at, number)
  );
  CREATE INDEX gatehouse_sessions_by_time ON gatehouse_sessions (ledger, joined_at, number, left_at, player);
  CREATE INDEX gatehouse_sessions_of_staff ON gatehouse_sessions (ledger, joined_at, left_at, player) WHERE was_staff;

  -- How long each player was there on each day (UTC, days since 1970), so that a year need not be added up from sessions.
  CREATE TABLE gatehouse_player_days (
    ledger bigint NOT NULL,
    day bigint NOT NULL,
    player text COLLATE "C" NOT NULL,
    ms bigint NOT NULL,
    begun bigint NOT NULL,
    PRIMARY KEY (ledger, player, day)
  );

  -- Commands, and calls for a moderator that were answered; those have the bounds of how long the caller waited.
  CREATE TABLE gatehouse_staff_acts (
    ledger bigint NOT NULL,
    at bigint NOT NULL,
    number bigint NOT NULL,
    player text COLLATE "C" NOT NULL,
    low bigint,
    high bigint,
    PRIMARY KEY (ledger, at, number)
  );
  CREATE INDEX gatehouse_staff_acts_by_player ON gatehouse_staff_acts (ledger, player, at);
  CREATE INDEX gatehouse_staff_answers ON gatehouse_staff_acts (ledger, at, player, low, high) WHERE low IS NOT NULL;

  -- The newest name of everybody who is in the history.
  CREATE TABLE gatehouse_player_names (
    ledger bigint NOT NULL,
    player text COLLATE "C" NOT NULL,
    name text NOT NULL,
    PRIMARY KEY (ledger, player)
  );
`;
