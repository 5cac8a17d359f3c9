-- Players who are to be forgotten, and how far that is.
CREATE TABLE forgettings (
  player TEXT PRIMARY KEY,
  phase TEXT NOT NULL,
  ledger INTEGER NOT NULL,
  number INTEGER NOT NULL,
  names TEXT NOT NULL
) STRICT, WITHOUT ROWID;
