// The use of keys, and of people on a server: one row for each of them, hour and error code, and the time of a key's last use.
import { parseCallerId } from "../../core/people/person.ts";
import type { HourlyUsage, UsageCount, UsageStore } from "../../core/ports/keys.ts";
import type { Driver, Sql } from "../sql.ts";

export class UsageTable implements UsageStore {
  constructor(private readonly driver: Driver) {}

  add(entries: readonly HourlyUsage[]): Promise<void> {
    // In one order on every instance, so that two of them never wait for each other.
    const sorted = entries.toSorted((a, b) => (a.keyId < b.keyId ? -1 : 1));
    return this.driver.transact((sql) => addAll(sql, sorted));
  }

  read(keyId: string, since: number): Promise<UsageCount[]> {
    return this.driver.query((sql) =>
      sql.all<UsageCount>(
        "SELECT hour, code, count FROM usage WHERE key_id = ?1 AND hour >= ?2 ORDER BY hour, code",
        ...[keyId, since],
      ),
    );
  }
}

async function addAll(sql: Sql, entries: readonly HourlyUsage[]): Promise<void> {
  const callers = entries.flatMap(({ keyId }) => parseCallerId(keyId) ?? []);
  const keys = await findKnown(
    sql,
    "keys",
    "key_id",
    entries.map(({ keyId }) => keyId),
  );
  const people = await findKnown(
    sql,
    "people",
    "person_id",
    callers.map(({ personId }) => personId),
  );
  const servers = await findKnown(
    sql,
    "servers",
    "server_id",
    callers.map(({ serverId }) => serverId),
  );
  const kept = entries.filter(({ keyId }) => {
    const caller = parseCallerId(keyId);
    return caller ? people.has(caller.personId) && servers.has(caller.serverId) : keys.has(keyId);
  });
  await sql.runEach(
    `INSERT INTO last_uses (key_id, last_used_at) VALUES (?1, ?2) ON CONFLICT (key_id) DO UPDATE
     SET last_used_at = excluded.last_used_at WHERE last_uses.last_used_at < excluded.last_used_at`,
    kept.filter(({ keyId }) => keys.has(keyId)).map(({ keyId, lastUsedAt }) => [keyId, lastUsedAt]),
  );
  await sql.runEach(
    `INSERT INTO usage (key_id, hour, code, count) VALUES (?1, ?2, ?3, ?4)
     ON CONFLICT (key_id, hour, code) DO UPDATE SET count = usage.count + excluded.count`,
    kept.flatMap(({ keyId, hour, counts }) => [...counts].map(([code, times]) => [keyId, hour, code, times])),
  );
}

async function findKnown(
  sql: Sql,
  table: string,
  column: string,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const query = `SELECT ${column} AS id FROM ${table} WHERE ${sql.dialect.isAmong(column, "?1", "text")}`;
  return new Set((await sql.all<{ id: string }>(query, JSON.stringify(ids))).map(({ id }) => id));
}
