// The schema of the embedded archive. `user_version` is the number of steps that a file has. Existing steps never change.
import type { Database } from "bun:sqlite";
import { StartRefused } from "../../core/errors.ts";
import { HISTORY_STEP } from "./history-step.ts";
import { WEBHOOKS_STEP } from "./webhooks-step.ts";

/** A row of the table of ledgers. */
export type LedgerRow = {
  ledger: number;
  server_id: string;
  version: number;
  last_number: number;
  last_mark: number;
  floor_number: number;
  floor_mark: number;
  last_day: number;
  identity_count: number;
};

const STEPS: readonly string[] = [
  `
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
  `,
  `
  -- Players who are to be forgotten, and how far that is.
  CREATE TABLE forgettings (
    player TEXT PRIMARY KEY,
    phase TEXT NOT NULL,
    ledger INTEGER NOT NULL,
    number INTEGER NOT NULL,
    names TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
  `
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
  `,
  WEBHOOKS_STEP,
  HISTORY_STEP,
];

export const ARCHIVE_SCHEMA_VERSION = STEPS.length;

/** Each step and its number are committed together, so that neither a crash nor a second connection can do half of one. */
export function migrateArchive(db: Database): void {
  const version = versionOf(db);
  if (version > STEPS.length) {
    throw new StartRefused(
      `the archive was made by a newer Gatehouse (schema ${version}, this one knows ${STEPS.length}) — update Gatehouse`,
    );
  }
  for (const [index, step] of STEPS.entries()) {
    if (index < version) continue;
    db.transaction(() => {
      if (index < versionOf(db)) return;
      db.exec(step);
      db.exec(`PRAGMA user_version = ${index + 1}`);
    }).immediate();
  }
}

function versionOf(db: Database): number {
  return db.query<{ user_version: number }, []>("PRAGMA user_version").get()?.user_version ?? 0;
}
