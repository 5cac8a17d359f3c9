// Files of the store as older versions have left them, with every kind of row.
import { Database } from "bun:sqlite";
import { Sealer, sealSecretCheck } from "../../src/database/sealer.ts";
import { STORE_MIGRATIONS } from "../../src/database/store/migrations.ts";

/** The newest schema of 0.2. */
export const OLD_SCHEMA = 10;
const APPLICATION_ID = 0x47544853;
export const OLD_SECRET = "a secret for the tests of old files";
export const oldSealer = new Sealer(OLD_SECRET);

/** What every version could have stored, in the columns that the schema has. */
export const OLD_ROWS: Readonly<Record<string, readonly Record<string, string | number | Uint8Array | null>[]>> = {
  settings: [
    { name: "secret-check", value: sealSecretCheck(oldSealer) },
    { name: "master-key-hash", value: "m" },
    { name: "unfinished-deletion srv_gone", value: '{"revoked":1}' },
  ],
  servers: ["srv_a", "srv_b"].map((server_id, index) => ({
    ...{ seq: index + 3, server_id, name: `Server ${index}`, community: index === 0 ? "one" : null },
    ...{ server_key: oldSealer.seal(`key-of-${server_id}`, server_id), key_revision: 2, created_at: 5 },
    ...{ simulated: index, watch: 0, status_slug: index === 0 ? "slug" : null, status_join_key: 1 },
  })),
  deleted_servers: [{ server_id: "srv_gone", deleted_at: 900 }],
  keys: [
    key("key_used", { ip_allow: '["10.0.0.1"]', last_used_at: 77 }),
    key("key_ended", { revoked_at: 800 }),
    key("key_left", { server_id: "srv_gone" }),
  ],
  tokens: [
    { token_hash: "t1", key_id: "key_used", valid_until: null },
    { token_hash: "t2", key_id: "key_used", valid_until: 5_000 },
    { token_hash: "t3", key_id: "key_left", valid_until: null },
  ],
  blocks: ["key_used", "key_left"].map((key_id) => ({ key_id, blocked_until: 9_000 })),
  usage: [{ key_id: "key_used", hour: 3, code: 0, count: 12 }],
  last_uses: [{ key_id: "key_used", last_used_at: 77 }],
  audit: [{ seq: 8, at: 4, action: "key.create", actor: "{}", target: "key_used", details: '{"n":1}' }],
  commands: [
    command(1, "queued", { idempotency_key: "idem" }),
    command(2, "sending", { sent_at: 60 }),
    command(3, "sent", { finished_at: 70, sent_at: 60, confirmed_at: 80, logged_at: 65.5 }),
    command(4, "cancelled", { finished_at: 70 }),
    command(6, "failed", { finished_at: 70, upstream_code: 4001, upstream_message: "«нет»" }),
  ],
  command_pace: [
    { server_id: "srv_a", until: 1_000.25, hold_ms: 250.5 },
    { server_id: "srv_b", until: 2_000, hold_ms: 500 },
  ],
  receipts: [
    {
      ...{
        key_id: "key_used",
        idempotency_key: "old",
        command_id: "cmd_0",
        text_hash: new Uint8Array([1, 171]),
      },
      ...{ accepted_position: 4, queued_at: 40 },
    },
  ],
  receipt_counts: [{ key_id: "key_used", hour: 1, receipts: 1 }],
  devices: ["key_used", "key_left"].map((key_id) => ({
    ...{ device_id: `dev_${key_id}`, key_id, secret_hash: `s ${key_id}`, description: "Firefox" },
    ...{ created_at: 1, last_used_at: null, expires_at: 99_999 },
  })),
  links: [{ seq: 5, secret_hash: "l1", key_id: "key_used", expires_at: 50_000 }],
};

function key(key_id: string, other: Record<string, string | number>) {
  return {
    ...{ key_id, server_id: "srv_a", label: `Key «${key_id}»`, versions: '["v2"]', sections: 511 },
    ...{ commands: '["*"]', ip_allow: "[]", expires_at: null, suspended: 0, created_at: 6, revoked_at: null },
    ...other,
  };
}

function command(seq: number, status: string, other: Record<string, string | number>) {
  return {
    ...{
      seq,
      command_id: `cmd_${seq}`,
      server_id: "srv_a",
      key_id: "key_used",
      command: `:h ${seq}`,
      status,
    },
    ...{ accepted_position: 1, queued_at: 50, ...other },
  };
}

/** A file as the version with this schema has left it. */
export function makeOldFile(path: string, schema: number): void {
  const db = new Database(path, { create: true });
  db.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA journal_mode = WAL`);
  for (const step of STORE_MIGRATIONS.steps.slice(0, schema)) db.exec(typeof step === "string" ? step : step.sqlite);
  db.exec(`PRAGMA user_version = ${schema}`);
  for (const [table, rows] of Object.entries(OLD_ROWS)) {
    const columns = db
      .query<{ name: string }, [string]>("SELECT name FROM pragma_table_info(?)")
      .all(table)
      .map(({ name }) => name);
    for (const row of columns.length > 0 ? rows : []) {
      const given = Object.entries(row).filter(([column]) => columns.includes(column));
      db.query(`INSERT INTO ${table} (${given.map(([column]) => column)}) VALUES (${given.map(() => "?")})`).run(
        ...given.map(([, value]) => value),
      );
    }
  }
  // The numbers of rows that were deleted: the last of a table, and all of another one.
  if (schema >= 3) db.exec("UPDATE sqlite_sequence SET seq = 41 WHERE name = 'commands'");
  if (schema >= 9) db.exec("UPDATE sqlite_sequence SET seq = 17 WHERE name = 'links'");
  db.close();
}
