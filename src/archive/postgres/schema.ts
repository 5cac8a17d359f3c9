// The schema of the shared archive. The table of steps says which of them a database has. Existing steps never change.
import type { TransactionSQL } from "bun";
import { HISTORY_STEP } from "./history-step.ts";
import { WEBHOOKS_STEP } from "./webhooks-step.ts";

/** Instances that start together must not migrate at the same time. The number is ours alone. */
const MIGRATION_LOCK = 0x47544841;

const STEPS: readonly string[] = [
  `
  CREATE TABLE gatehouse_archive (archive_id text NOT NULL);
  INSERT INTO gatehouse_archive VALUES (gen_random_uuid()::text);

  -- One row for each server. Numbers of events run from 1 without holes; floor is the newest deleted event.
  CREATE TABLE gatehouse_ledgers (
    ledger bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    server_id text NOT NULL UNIQUE,
    version bigint NOT NULL,
    last_number bigint NOT NULL,
    last_mark bigint NOT NULL,
    floor_number bigint NOT NULL,
    floor_mark bigint NOT NULL,
    last_day bigint NOT NULL,
    identity_count bigint NOT NULL
  );

  CREATE TABLE gatehouse_events (
    ledger bigint NOT NULL,
    number bigint NOT NULL,
    mark bigint NOT NULL,
    kind integer NOT NULL,
    at bigint NOT NULL,
    seen_at bigint NOT NULL,
    source text NOT NULL,
    is_backfill boolean NOT NULL,
    data text NOT NULL,
    meta text,
    PRIMARY KEY (ledger, number)
  );

  CREATE TABLE gatehouse_event_players (
    ledger bigint NOT NULL,
    player text NOT NULL,
    number bigint NOT NULL,
    PRIMARY KEY (ledger, player, number)
  );
  CREATE INDEX gatehouse_event_players_by_number ON gatehouse_event_players (ledger, number);

  -- Entries that were recorded, apart from the events, so that deleting an event does not make its entry new.
  CREATE TABLE gatehouse_identities (
    ledger bigint NOT NULL,
    identity text NOT NULL,
    shown_day bigint NOT NULL,
    PRIMARY KEY (ledger, identity)
  );
  CREATE INDEX gatehouse_identities_by_day ON gatehouse_identities (ledger, shown_day);

  CREATE TABLE gatehouse_memory (
    ledger bigint NOT NULL,
    part text NOT NULL,
    text text NOT NULL,
    PRIMARY KEY (ledger, part)
  );
  `,
  `
  -- Players who are to be forgotten, and how far that is.
  CREATE TABLE gatehouse_forgettings (
    player text PRIMARY KEY,
    phase text NOT NULL,
    ledger bigint NOT NULL,
    number bigint NOT NULL,
    names text NOT NULL
  );
  `,
  `
  -- Where a street name or postal code was seen: counts of positions in a cell of a grid, without players or times.
  CREATE TABLE gatehouse_places (
    ledger bigint NOT NULL,
    kind text NOT NULL,
    name text NOT NULL,
    cell_x bigint NOT NULL,
    cell_z bigint NOT NULL,
    count bigint NOT NULL,
    sum_x bigint NOT NULL,
    sum_z bigint NOT NULL,
    PRIMARY KEY (ledger, kind, name, cell_x, cell_z)
  );

  -- The picture behind the map, in base64, and the places of the game that its corners show.
  CREATE TABLE gatehouse_map_images (
    ledger bigint PRIMARY KEY,
    type text NOT NULL,
    width bigint NOT NULL,
    height bigint NOT NULL,
    min_x bigint NOT NULL,
    min_z bigint NOT NULL,
    max_x bigint NOT NULL,
    max_z bigint NOT NULL,
    hash text NOT NULL,
    bytes bigint NOT NULL,
    set_at bigint NOT NULL,
    content text NOT NULL
  );
  `,
  WEBHOOKS_STEP,
  HISTORY_STEP,
];

export const ARCHIVE_STEPS = STEPS.length;

/** Returns the id of the archive. `onMigration` is called before tables that hold events are changed. */
export async function migratePostgres(tx: TransactionSQL, onMigration = () => {}): Promise<string> {
  await tx`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`;
  await tx.unsafe("CREATE TABLE IF NOT EXISTS gatehouse_schema (step integer PRIMARY KEY)");
  const [found] = await tx<{ steps: string }[]>`SELECT count(*) AS steps FROM gatehouse_schema`;
  const done = Number(found?.steps ?? 0);
  if (done > STEPS.length) throw new NewerSchema(done, STEPS.length);
  if (done > 0 && done < STEPS.length) onMigration();
  for (const [index, step] of STEPS.entries()) {
    if (index < done) continue;
    await tx.unsafe(step).simple();
    await tx`INSERT INTO gatehouse_schema VALUES (${index + 1})`;
  }
  const [row] = await tx<{ archive_id: string }[]>`SELECT archive_id FROM gatehouse_archive`;
  if (!row) throw new Error("the archive has no id");
  return row.archive_id;
}

/** Another version of Gatehouse has changed the tables. */
export class NewerSchema extends Error {
  override name = "NewerSchema";
  constructor(found: number, known: number) {
    super(
      `the PostgreSQL archive was made by a newer Gatehouse (schema ${found}, this one knows ${known}) — update Gatehouse`,
    );
  }
}
