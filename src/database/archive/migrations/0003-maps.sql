-- Where a street name or postal code was seen: counts of positions in a cell of a grid, without players or times.
CREATE TABLE places (
  ledger INTEGER NOT NULL,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  cell_x INTEGER NOT NULL,
  cell_z INTEGER NOT NULL,
  count INTEGER NOT NULL,
  sum_x INTEGER NOT NULL,
  sum_z INTEGER NOT NULL,
  PRIMARY KEY (ledger, kind, name, cell_x, cell_z)
) STRICT, WITHOUT ROWID;

-- The picture behind the map, in base64, and the places of the game that its corners show.
CREATE TABLE map_images (
  ledger INTEGER PRIMARY KEY,
  type TEXT NOT NULL,
  width INTEGER NOT NULL,
  height INTEGER NOT NULL,
  min_x INTEGER NOT NULL,
  min_z INTEGER NOT NULL,
  max_x INTEGER NOT NULL,
  max_z INTEGER NOT NULL,
  hash TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  set_at INTEGER NOT NULL,
  content TEXT NOT NULL
) STRICT;
