// The API keys and their tokens.
import { type ApiKey, isExpired, limitExpiry } from "../../core/keys/api-key.ts";
import { isMatchingKey, type KeySearch, type StateFields } from "../../core/keys/key-state.ts";
import type { MaybePromise } from "../../core/maybe-promise.ts";
import { parseCallerId } from "../../core/people/person.ts";
import type { AuditNote } from "../../core/ports/audit.ts";
import {
  type KeyChange,
  type KeyDetails,
  type KeyDraft,
  type KeyFilter,
  type KeyStore,
  TOKENS_IN_GRACE_MAX,
} from "../../core/ports/keys.ts";
import type { Page, PageRequest } from "../../core/ports/pages.ts";
import { type Driver, insertRow, type Sql, updateRow, type Value } from "../sql.ts";
import type { Changes } from "./changes.ts";
import type { Directory, KnownToken } from "./directory.ts";
import { type KeyRow, newId, toCursor, toKeyColumns, toKeyDetails, toPage, toSeq } from "./rows.ts";

const SELECT_DETAILS = "SELECT keys.*, last_used_at FROM keys LEFT JOIN last_uses USING (key_id)";

export type KeyTableDeps = { readonly driver: Driver; readonly changes: Changes; readonly directory: Directory };

export class KeyTable implements KeyStore {
  constructor(private readonly deps: KeyTableDeps) {}

  get version(): number {
    return this.deps.directory.keysVersion;
  }

  find(tokenHash: string, now: number): MaybePromise<ApiKey | undefined> {
    const known = this.deps.directory.findToken(tokenHash);
    return known instanceof Promise
      ? known.then((found) => this.#toValidKey(found, now))
      : this.#toValidKey(known, now);
  }

  async create(draft: KeyDraft, now: number, note?: AuditNote): Promise<KeyDetails | undefined> {
    const keyId = newId("key_");
    const { serverId, tokenHash } = draft;
    const insert = async (sql: Sql) => {
      if (!(await sql.get("SELECT 1 AS found FROM servers WHERE server_id = ?1", serverId))) return undefined;
      const ids = { key_id: keyId, server_id: serverId };
      await insertRow(sql, "keys", { ...ids, ...toKeyColumns(draft), suspended: 0, created_at: now });
      await insertToken(sql, tokenHash, keyId);
      return this.#get(sql, keyId);
    };
    return this.deps.changes.make([keyId], insert, { target: keyId, note });
  }

  listLabels(keyIds: readonly string[]): Promise<Map<string, string>> {
    return this.deps.driver.query(async (sql) => {
      const query = `SELECT key_id, label FROM keys WHERE ${isListed(sql, "?1")}`;
      const rows = await sql.all<Pick<KeyRow, "key_id" | "label">>(query, JSON.stringify(keyIds));
      return new Map([...rows.map(({ key_id, label }) => [key_id, label] as const), ...this.#listNames(keyIds)]);
    });
  }

  findDetails(keyId: string): Promise<KeyDetails | undefined> {
    return this.deps.driver.query((sql) => this.#get(sql, keyId));
  }

  listGraceEnds(keyId: string, now: number): Promise<number[]> {
    return this.deps.driver.query(async (sql) => {
      const query = "SELECT valid_until FROM tokens WHERE key_id = ?1 AND valid_until > ?2 ORDER BY valid_until";
      const rows = await sql.all<{ valid_until: number }>(query, keyId, now);
      return rows.map(({ valid_until }) => valid_until);
    });
  }

  async list({ limit, cursor, search, ...servers }: PageRequest & KeyFilter): Promise<Page<KeyDetails>> {
    if (search) return this.#search(search, { limit, cursor }, servers);
    return this.deps.driver.query(async (sql) => {
      const values: Value[] = [toSeq(cursor), limit + 1];
      const conditions = [...ofServers(sql, servers, values), "seq > ?1"].join(" AND ");
      const rows = await sql.all<KeyRow>(`${SELECT_DETAILS} WHERE ${conditions} ORDER BY seq LIMIT ?2`, ...values);
      return toPage(rows, limit, toKeyDetails);
    });
  }

  async update(keyId: string, change: KeyChange, note?: AuditNote): Promise<KeyDetails | undefined> {
    const update = async (sql: Sql) => {
      const old = await this.#get(sql, keyId);
      if (!old || old.revokedAt !== null) return undefined;
      const key = { ...old, ...change };
      await updateRow(sql, "keys", "key_id", keyId, { ...toKeyColumns(key), suspended: +key.isSuspended });
      return key;
    };
    return this.deps.changes.make([keyId], update, { target: keyId, note });
  }

  async rotate(
    keyId: string,
    tokenHash: string,
    oldValidUntil: number,
    now: number,
    note?: AuditNote,
  ): Promise<boolean> {
    const rotate = async (sql: Sql) => {
      if (!(await isUsable(sql, keyId))) return undefined;
      const replaced = await sql.get<{ token_hash: string }>(
        "UPDATE tokens SET valid_until = ?2 WHERE key_id = ?1 AND valid_until IS NULL RETURNING token_hash",
        keyId,
        oldValidUntil,
      );
      const keptMax = oldValidUntil > now ? TOKENS_IN_GRACE_MAX : 0;
      await sql.run(
        `DELETE FROM tokens WHERE key_id = ?1 AND token_hash NOT IN (
           SELECT token_hash FROM tokens WHERE key_id = ?1 AND valid_until > ?2
           ORDER BY CASE WHEN token_hash = ?3 THEN 0 ELSE 1 END, valid_until DESC LIMIT ?4)`,
        keyId,
        now,
        replaced?.token_hash ?? "",
        keptMax,
      );
      await insertToken(sql, tokenHash, keyId);
      return true;
    };
    return (await this.deps.changes.make([keyId], rotate, { target: keyId, note })) ?? false;
  }

  async revoke(keyId: string, now: number, note?: AuditNote): Promise<boolean> {
    const revoke = async (sql: Sql) => {
      if (!(await isUsable(sql, keyId))) return undefined;
      await revokeKeys(sql, [keyId], now);
      return true;
    };
    const isRevoked = await this.deps.changes.make([keyId], revoke, { target: keyId, note });
    return isRevoked ?? (await this.findDetails(keyId)) !== undefined;
  }

  /** Of the callers that are people. */
  #listNames(callerIds: readonly string[]): (readonly [string, string])[] {
    return callerIds.flatMap((id) => {
      const person = this.deps.directory.people.get(parseCallerId(id)?.personId ?? "");
      return person ? [[id, person.name] as const] : [];
    });
  }

  #toValidKey(known: KnownToken | undefined, now: number): ApiKey | undefined {
    // A server that was deleted a moment ago has no keys.
    if (!known || !this.deps.directory.servers.has(known.key.serverId)) return undefined;
    const key = limitExpiry(known.key, known.validUntil);
    return isExpired(key, now) ? undefined : key;
  }

  async #get(sql: Sql, keyId: string): Promise<KeyDetails | undefined> {
    const row = await sql.get<KeyRow>(`${SELECT_DETAILS} WHERE key_id = ?1`, keyId);
    return row && toKeyDetails(row);
  }

  async #search(search: KeySearch, page: PageRequest, servers: OfServers): Promise<Page<KeyDetails>> {
    const { driver, directory } = this.deps;
    const { state, now } = search;
    const isBlocked = (keyId: string) => (directory.blocks.get(keyId) ?? 0) > now;
    const blockedIds = state === "blocked" ? [...directory.blocks.keys()].filter(isBlocked) : undefined;
    const source = {
      read: (afterSeq: number) => this.#readCandidates(afterSeq, servers, blockedIds),
      findBlocked: async (keyIds: readonly string[]) => new Set(keyIds.filter(isBlocked)),
    };
    const { found, nextSeq } = await searchKeys(source, search, toSeq(page.cursor), page.limit);
    const rows = await driver.query((sql) =>
      sql.all<KeyRow>(
        `${SELECT_DETAILS} WHERE ${isListed(sql, "?1")} ORDER BY seq`,
        JSON.stringify(found.map(({ keyId }) => keyId)),
      ),
    );
    return { items: rows.map(toKeyDetails), next: nextSeq === null ? null : toCursor(nextSeq) };
  }

  /** With `blockedIds` only these keys. */
  #readCandidates(
    afterSeq: number,
    servers: OfServers,
    blockedIds: readonly string[] | undefined,
  ): Promise<Batch<Candidate>> {
    return this.deps.driver.query(async (sql) => {
      const values: Value[] = [afterSeq, READ_AT_ONCE];
      // The plus keeps SQLite from reading all keys in order when only a few are blocked.
      const conditions = [blockedIds ? "+seq > ?1" : "seq > ?1", ...ofServers(sql, servers, values)];
      if (blockedIds) conditions.push(isListed(sql, `?${values.push(JSON.stringify(blockedIds))}`));
      const rows = await sql.all<KeyRow>(
        `SELECT seq, key_id, server_id, label, expires_at, suspended, revoked_at FROM keys
         WHERE ${conditions.join(" AND ")} ORDER BY ${blockedIds ? "+seq" : "seq"} LIMIT ?2`,
        ...values,
      );
      const candidates = rows.map((row) => ({
        seq: row.seq,
        keyId: row.key_id,
        label: row.label,
        expiresAt: row.expires_at,
        isSuspended: row.suspended !== 0,
        revokedAt: row.revoked_at,
      }));
      const last = rows.at(-1);
      return { candidates, nextSeq: last && rows.length === READ_AT_ONCE ? last.seq : null };
    });
  }
}

type OfServers = Pick<KeyFilter, "serverId" | "serverIds">;

/** Only the conditions that are needed, because SQLite would not use the index with optional ones. */
function ofServers(sql: Sql, { serverId, serverIds }: OfServers, values: Value[]): string[] {
  const conditions: string[] = [];
  if (serverId !== undefined) conditions.push(`server_id = ?${values.push(serverId)}`);
  if (serverIds)
    conditions.push(sql.dialect.isAmong("server_id", `?${values.push(JSON.stringify(serverIds))}`, "text"));
  return conditions;
}

/** Within a change. Ends the tokens and blocks of the keys too. */
export async function revokeKeys(sql: Sql, keyIds: readonly string[], now: number): Promise<void> {
  const listed = isListed(sql, "?1");
  const ids = JSON.stringify(keyIds);
  await sql.run(`UPDATE keys SET revoked_at = ?2 WHERE ${listed}`, ids, now);
  for (const table of ["tokens", "blocks"]) await sql.run(`DELETE FROM ${table} WHERE ${listed}`, ids);
}

/** Whether the key exists and is not revoked. */
export async function isUsable(sql: Sql, keyId: string): Promise<boolean> {
  const query = "SELECT 1 AS found FROM keys WHERE key_id = ?1 AND revoked_at IS NULL";
  return (await sql.get(query, keyId)) !== undefined;
}

async function insertToken(sql: Sql, tokenHash: string, keyId: string): Promise<void> {
  await insertRow(sql, "tokens", { token_hash: tokenHash, key_id: keyId });
}

function isListed(sql: Sql, parameter: string): string {
  return sql.dialect.isAmong("key_id", parameter, "text");
}

export const READ_AT_ONCE = 500;
/** A search that has read so many keys ends its page, and the next page goes on from there. */
export const READ_MAX = 20_000;

export type Candidate = StateFields & { readonly seq: number; readonly keyId: string; readonly label: string };

/** `nextSeq` is null when there are no candidates left. */
type Batch<C> = { readonly candidates: readonly C[]; readonly nextSeq: number | null };

type KeySource<C extends Candidate> = {
  /** At most READ_AT_ONCE candidates after that position, in order. */
  readonly read: (afterSeq: number) => MaybePromise<Batch<C>>;
  readonly findBlocked: (keyIds: readonly string[]) => Promise<ReadonlySet<string>>;
};

/** `nextSeq` is the position of the last key that was looked at, null after the last key of all. */
export async function searchKeys<C extends Candidate>(
  source: KeySource<C>,
  search: KeySearch,
  afterSeq: number,
  limit: number,
): Promise<{ found: C[]; nextSeq: number | null }> {
  const found: C[] = [];
  let position = afterSeq;
  for (let read = 0; read < READ_MAX; read += READ_AT_ONCE) {
    const { candidates, nextSeq } = await source.read(position);
    const isBlockAsked = search.state === "blocked" || search.state === "active";
    const blocked = isBlockAsked ? await source.findBlocked(candidates.map(({ keyId }) => keyId)) : undefined;
    for (const candidate of candidates) {
      if (!isMatchingKey(search, candidate, blocked?.has(candidate.keyId) ?? false)) continue;
      // One match more than the page holds shows that there is a next page.
      if (found.length === limit) return { found, nextSeq: found.at(-1)?.seq ?? null };
      found.push(candidate);
    }
    if (nextSeq === null) return { found, nextSeq: null };
    position = nextSeq;
    // Other requests get their turn between two batches.
    await new Promise((resolve) => setImmediate(resolve));
  }
  return { found, nextSeq: position };
}
