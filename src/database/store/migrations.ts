// The tables of the store: servers, keys, people, commands, blocks, usage, audit, settings, and which instances live. The
// first steps are those of 0.1 and 0.2, which only had SQLite. A long step is a file in `migrations`.
import { FIRST_ROLES } from "../../core/people/role.ts";
import { type MigrationList, type MigrationStep, tableOf } from "../migrations.ts";
import tables from "./migrations/0001-tables.sqlite.sql" with { type: "text" };
import usageAndAudit from "./migrations/0002-usage-and-audit.sqlite.sql" with { type: "text" };
import commands from "./migrations/0003-commands.sqlite.sql" with { type: "text" };
import lastUses from "./migrations/0004-last-uses.sqlite.sql" with { type: "text" };
import receipts from "./migrations/0007-receipts.sqlite.sql" with { type: "text" };
import devices from "./migrations/0009-devices.sqlite.sql" with { type: "text" };
import publicStatus from "./migrations/0010-public-status.sqlite.sql" with { type: "text" };
import setAside from "./migrations/0011-set-aside.sqlite.sql" with { type: "text" };
import store from "./migrations/0012-store.sql" with { type: "text" };
import takeOver from "./migrations/0013-take-over.sqlite.sql" with { type: "text" };
import appendOnlyPostgres from "./migrations/0014-append-only.postgres.sql" with { type: "text" };
import appendOnlySqlite from "./migrations/0014-append-only.sqlite.sql" with { type: "text" };
import people from "./migrations/0016-people.sql" with { type: "text" };
import noDevices from "./migrations/0017-no-devices.sql" with { type: "text" };
import { INSERT_ROLE, toRoleValues } from "./rows.ts";

const ofOldVersions = [
  tables,
  usageAndAudit,
  commands,
  lastUses,
  // 1 for servers of the built-in simulator. Among older servers only the demo server is one; the start finds it by its key.
  "ALTER TABLE servers ADD COLUMN simulated INTEGER NOT NULL DEFAULT 0;",
  "CREATE INDEX commands_of_key ON commands (key_id, seq);",
  receipts,
  "ALTER TABLE servers ADD COLUMN watch INTEGER NOT NULL DEFAULT 1;",
  devices,
  publicStatus,
  setAside,
].map(forSqlite);

export const STORE_MIGRATIONS: MigrationList = {
  name: "store",
  steps: [
    ...ofOldVersions,
    store,
    forSqlite(takeOver),
    { sqlite: appendOnlySqlite, postgres: appendOnlyPostgres },
    "ALTER TABLE keys ADD COLUMN hide INTEGER NOT NULL DEFAULT 0;",
    people,
    noDevices,
    "ALTER TABLE keys ADD COLUMN may INTEGER NOT NULL DEFAULT 0;",
  ],
  seeds: [
    { text: "INSERT INTO directory (id, version) VALUES (1, 0) ON CONFLICT (id) DO NOTHING" },
    ...FIRST_ROLES.map((role) => ({
      text: `${INSERT_ROLE} DO NOTHING`,
      values: () => toRoleValues(role),
    })),
  ],
};

export const COMMANDS = tableOf(STORE_MIGRATIONS, "commands");
export const RECEIPTS = tableOf(STORE_MIGRATIONS, "receipts");

function forSqlite(sqlite: string): MigrationStep {
  return { sqlite };
}
