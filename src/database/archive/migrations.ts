// The tables of the archive: ledgers, what is remembered of each server, history, maps and webhooks.
import { randomBytes } from "node:crypto";
import { type MigrationList, tableOf } from "../migrations.ts";
import ledgers from "./migrations/0001-ledgers.sql" with { type: "text" };
import forgettings from "./migrations/0002-forgettings.sql" with { type: "text" };
import maps from "./migrations/0003-maps.sql" with { type: "text" };
import webhooks from "./migrations/0004-webhooks.sql" with { type: "text" };
import history from "./migrations/0005-history.sql" with { type: "text" };
import players from "./migrations/0006-players.sql" with { type: "text" };
import commandKinds from "./migrations/0007-command-kinds.sql" with { type: "text" };

export const ARCHIVE_MIGRATIONS: MigrationList = {
  name: "archive",
  steps: [ledgers, forgettings, maps, webhooks, history, players, commandKinds],
  // The id tells an archive apart from another one, so that a cursor of the other is noticed.
  seeds: [
    {
      text: "INSERT INTO archive (id, archive_id) VALUES (1, ?1) ON CONFLICT (id) DO NOTHING",
      values: () => [randomBytes(16).toString("hex")],
    },
  ],
};

export const EVENTS = tableOf(ARCHIVE_MIGRATIONS, "events");
export const EVENT_PLAYERS = tableOf(ARCHIVE_MIGRATIONS, "event_players");
export const IDENTITIES = tableOf(ARCHIVE_MIGRATIONS, "identities");
export const MEMORY = tableOf(ARCHIVE_MIGRATIONS, "memory");
export const PLACES = tableOf(ARCHIVE_MIGRATIONS, "places");
export const MAP_IMAGES = tableOf(ARCHIVE_MIGRATIONS, "map_images");
export const COUNTS = tableOf(ARCHIVE_MIGRATIONS, "counts");
export const KNOWN_PLAYERS = tableOf(ARCHIVE_MIGRATIONS, "known_players");
export const COMMAND_TARGETS = tableOf(ARCHIVE_MIGRATIONS, "command_targets");
export const PLAYER_DAYS = tableOf(ARCHIVE_MIGRATIONS, "player_days");
