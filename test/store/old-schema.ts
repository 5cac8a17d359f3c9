// Takes a database back to the schema of older versions, for tests of the migration.
import type { Database } from "bun:sqlite";
import { STORE_MIGRATIONS } from "../../src/database/store/migrations.ts";

/** Columns that schema 4 had in the same form. */
const COPIED: Readonly<Record<string, string>> = {
  settings: "name, value",
  keys: `seq, key_id, server_id, label, versions, sections, commands, ip_allow, expires_at, suspended, created_at,
         revoked_at`,
  tokens: "token_hash, key_id, valid_until",
  blocks: "key_id, blocked_until",
  deleted_servers: "server_id, deleted_at",
  usage: "key_id, hour, code, count",
  last_uses: "key_id, last_used_at",
  audit: "seq, at, action, actor, target, details",
  commands: `seq, command_id, server_id, key_id, command, status, idempotency_key, accepted_position, queued_at, sent_at,
             finished_at, confirmed_at, logged_at, upstream_code, upstream_message`,
};
const SCHEMA = 4;

/** Schema 4 did not mark the servers of the simulator and those that are watched or public, and had no limits for the history of commands. */
export function makeSchema4(db: Database): void {
  const tables = db
    .query<{ name: string }, []>("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT GLOB 'sqlite_*'")
    .all();
  const indexes = db
    .query<{ name: string }, []>("SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL")
    .all();
  for (const { name } of indexes) db.exec(`DROP INDEX ${name}`);
  db.exec("DROP TRIGGER audit_is_append_only");
  for (const { name } of tables) db.exec(`ALTER TABLE ${name} RENAME TO new_${name}`);
  for (const step of STORE_MIGRATIONS.steps.slice(0, SCHEMA)) {
    if (typeof step === "string") throw new Error("the first steps are for SQLite only");
    db.exec(step.sqlite);
  }
  db.exec(`INSERT INTO servers SELECT seq, server_id, name, community, unhex(sealed_key), key_revision, created_at
           FROM new_servers`);
  for (const [name, columns] of Object.entries(COPIED))
    db.exec(`INSERT INTO ${name} (${columns}) SELECT ${columns} FROM new_${name}`);
  for (const { name } of tables) db.exec(`DROP TABLE new_${name}`);
  db.exec(`PRAGMA user_version = ${SCHEMA}`);
}
