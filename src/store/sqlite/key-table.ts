// The API keys. `find` runs for requests; the other methods are for operators.
import type { Database } from "bun:sqlite";
import { type ApiKey, isExpired, type KeyRights, limitExpiry } from "../../core/api-key.ts";
import type { GameServer } from "../../core/game-server.ts";
import type { KeySearch } from "../../core/key-state.ts";
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
import { newId } from "../new-id.ts";
import { type Batch, type Candidate, READ_AT_ONCE, searchKeys } from "../search-keys.ts";
import type { AuditLog } from "./audit-log.ts";
import { endDevicesOf, limitDevicesOf } from "./device-rows.ts";
import type { GroupCommit } from "./group-commit.ts";
import type { LimitTable } from "./limit-table.ts";
import { toCursor, toPage, toSeq } from "./pages.ts";
import { type ApiKeyRow, type KeyRow, toApiKey, toKeyDetails } from "./rows.ts";
import { TokenFilter } from "./token-filter.ts";
import type { TransactionRunner } from "./transaction-runner.ts";

const IS_LISTED = "key_id IN (SELECT value FROM json_each(?))";

export type KeyTableParts = {
  readonly db: Database;
  readonly transactions: TransactionRunner;
  readonly groupCommit: GroupCommit;
  readonly audit: AuditLog;
  readonly limits: LimitTable;
  readonly servers: ReadonlyMap<string, GameServer>;
};

export class KeyTable implements KeyStore {
  readonly #parts: KeyTableParts;
  readonly #tokenFilter = new TokenFilter();
  /** Increased before the write, because a commit that reports a failure may still have happened. */
  #version = 0;

  constructor(parts: KeyTableParts) {
    this.#parts = parts;
    const tokens = parts.db.query<{ token_hash: string }, []>("SELECT token_hash FROM tokens");
    for (const { token_hash } of tokens.iterate()) this.#tokenFilter.add(token_hash);
  }

  get version(): number {
    return this.#version;
  }

  find(tokenHash: string, now: number): ApiKey | undefined {
    if (!this.#tokenFilter.mayContain(tokenHash)) return undefined;
    const { db, transactions, servers } = this.#parts;
    const row = transactions.read(() =>
      db
        .query<ApiKeyRow & { valid_until: number | null }, [string]>(
          `SELECT key_id, server_id, versions, sections, commands, ip_allow, expires_at, suspended, valid_until
           FROM tokens JOIN keys USING (key_id) WHERE token_hash = ?`,
        )
        .get(tokenHash),
    );
    if (!row) return undefined;
    // All keys of a server share one string of its id, to save memory.
    const serverId = servers.get(row.server_id)?.serverId;
    // The keys of a deleted server are revoked in batches, and refused from the beginning.
    if (serverId === undefined) return undefined;
    const key = limitExpiry(toApiKey(row, serverId), row.valid_until);
    return isExpired(key, now) ? undefined : key;
  }

  /** The data folder is locked, so no other process creates keys. */
  findNew(): undefined {
    return undefined;
  }

  /** For a change that makes keys invalid; called before it is written. */
  announceChange(): void {
    this.#version++;
  }

  /** Adds a token that is on disk already, after a migration. */
  addToken(tokenHash: string): void {
    this.#tokenFilter.add(tokenHash);
  }

  async create(draft: KeyDraft, now: number, note?: AuditNote): Promise<KeyDetails | undefined> {
    const { db, groupCommit, audit, servers } = this.#parts;
    if (!servers.has(draft.serverId)) return undefined;
    const keyId = newId("key_");
    const row = await groupCommit.run(() => {
      // The server may have been deleted since this was queued.
      if (!servers.has(draft.serverId)) return undefined;
      if (note) audit.add(keyId, note);
      db.query(
        `INSERT INTO keys (key_id, server_id, label, versions, sections, commands, ip_allow, expires_at, suspended, created_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, ?)`,
      ).run(keyId, draft.serverId, ...toColumns(draft), now);
      this.#insertToken(draft.tokenHash, keyId);
      return this.#findRow(keyId);
    });
    return row && toKeyDetails(row);
  }

  findLabel(keyId: string): string | undefined {
    const row = this.#findRow(keyId);
    return row && row.revoked_at === null ? row.label : undefined;
  }

  async listLabels(keyIds: readonly string[]): Promise<Map<string, string>> {
    const { db, transactions } = this.#parts;
    const rows = transactions.read(() =>
      db
        .query<Pick<KeyRow, "key_id" | "label">, [string]>(
          `SELECT key_id, label FROM keys WHERE ${IS_LISTED}`,
        )
        .all(JSON.stringify(keyIds)),
    );
    return new Map(rows.map(({ key_id, label }) => [key_id, label]));
  }

  async findDetails(keyId: string): Promise<KeyDetails | undefined> {
    const row = this.#findRow(keyId);
    return row && toKeyDetails(row);
  }

  async listGraceEnds(keyId: string, now: number): Promise<number[]> {
    const { db, transactions } = this.#parts;
    // The tokens of a deleted server's key are still there until its batch has come.
    const row = this.#findRow(keyId);
    if (!row || row.revoked_at !== null) return [];
    const tokens = transactions.read(() =>
      db
        .query<{ valid_until: number }, [string, number]>(
          "SELECT valid_until FROM tokens WHERE key_id = ? AND valid_until > ? ORDER BY valid_until",
        )
        .all(keyId, now),
    );
    return tokens.map((token) => token.valid_until);
  }

  async list({ limit, cursor, serverId, search }: PageRequest & KeyFilter): Promise<Page<KeyDetails>> {
    if (search) return this.#search(search, { limit, cursor }, serverId);
    const { db, transactions } = this.#parts;
    // Two different queries, because SQLite would not use the index with an optional condition.
    const ofServer = serverId === undefined ? [] : [serverId];
    const condition = serverId === undefined ? "" : "server_id = ? AND";
    const rows = transactions.read(() =>
      db
        .query<KeyRow, (string | number)[]>(
          `SELECT * FROM key_details WHERE ${condition} seq > ? ORDER BY seq LIMIT ?`,
        )
        .all(...ofServer, toSeq(cursor), limit + 1),
    );
    return toPage(rows, limit, (row) => toKeyDetails(this.#withDeletion(row)));
  }

  async #search(search: KeySearch, page: PageRequest, serverId?: string): Promise<Page<KeyDetails>> {
    const { db, transactions, limits } = this.#parts;
    const { state, now } = search;
    const blocks = state === "blocked" ? await limits.listBlocks(now) : undefined;
    const blockedIds = blocks && JSON.stringify(blocks.map(({ keyId }) => keyId));
    const source = {
      read: (afterSeq: number) => this.#readCandidates(afterSeq, serverId, blockedIds),
      findBlocked: (keyIds: readonly string[]) => limits.findBlocked(keyIds, now),
    };
    const { found, nextSeq } = await searchKeys(source, search, toSeq(page.cursor), page.limit);
    const rows = transactions.read(() =>
      db
        .query<KeyRow, [string]>(
          "SELECT * FROM key_details WHERE key_id IN (SELECT value FROM json_each(?)) ORDER BY seq",
        )
        .all(JSON.stringify(found.map(({ keyId }) => keyId))),
    );
    const items = rows.map((row) => toKeyDetails(this.#withDeletion(row)));
    return { items, next: nextSeq === null ? null : toCursor(nextSeq) };
  }

  /** With `blockedIds`, a JSON list, only these keys. */
  #readCandidates(afterSeq: number, serverId?: string, blockedIds?: string): Batch<Candidate> {
    const { db, transactions, servers } = this.#parts;
    const filters = [
      ...(serverId === undefined ? [] : [{ condition: "server_id = ?", value: serverId }]),
      ...(blockedIds === undefined ? [] : [{ condition: IS_LISTED, value: blockedIds }]),
      // The plus keeps SQLite from reading all keys in order when only a few are blocked.
      { condition: blockedIds === undefined ? "seq > ?" : "+seq > ?", value: afterSeq },
    ];
    const conditions = filters.map(({ condition }) => condition).join(" AND ");
    const order = blockedIds === undefined ? "seq" : "+seq";
    const rows = transactions.read(() =>
      db
        .query<KeyRow, (string | number)[]>(
          `SELECT seq, key_id, server_id, label, expires_at, suspended, revoked_at FROM keys
           WHERE ${conditions} ORDER BY ${order} LIMIT ?`,
        )
        .all(...filters.map(({ value }) => value), READ_AT_ONCE),
    );
    const candidates = rows.map((row) => ({
      seq: row.seq,
      keyId: row.key_id,
      label: row.label,
      expiresAt: row.expires_at,
      isSuspended: row.suspended !== 0,
      // The keys of a deleted server are revoked in batches, and count as revoked from the beginning.
      revokedAt: row.revoked_at ?? (servers.has(row.server_id) ? null : 0),
    }));
    const last = rows.at(-1);
    return { candidates, nextSeq: last && rows.length === READ_AT_ONCE ? last.seq : null };
  }

  /** The server's keys after `afterSeq` that are not revoked, oldest first. */
  listUnrevoked(serverId: string, afterSeq: number, limit: number): Pick<KeyRow, "seq" | "key_id">[] {
    const { db, transactions } = this.#parts;
    return transactions.read(() =>
      db
        .query<Pick<KeyRow, "seq" | "key_id">, [string, number, number]>(
          `SELECT seq, key_id FROM keys WHERE server_id = ? AND seq > ? AND revoked_at IS NULL
           ORDER BY seq LIMIT ?`,
        )
        .all(serverId, afterSeq, limit),
    );
  }

  async update(keyId: string, change: KeyChange, note?: AuditNote): Promise<KeyDetails | undefined> {
    const old = this.#findRow(keyId);
    if (!old || old.revoked_at !== null) return undefined;
    const { db, transactions } = this.#parts;
    const key = { ...toKeyDetails(old), ...change };
    this.#version++;
    const row = transactions.writeAudited(keyId, note, () => {
      db.query(
        `UPDATE keys SET label = ?, versions = ?, sections = ?, commands = ?, ip_allow = ?, expires_at = ?, suspended = ?
         WHERE key_id = ?`,
      ).run(...toColumns(key), key.isSuspended ? 1 : 0, keyId);
      return this.#findRow(keyId);
    });
    return row && toKeyDetails(row);
  }

  async rotate(
    keyId: string,
    tokenHash: string,
    oldValidUntil: number,
    now: number,
    note?: AuditNote,
  ): Promise<boolean> {
    const row = this.#findRow(keyId);
    if (!row || row.revoked_at !== null) return false;
    const { db, transactions } = this.#parts;
    this.#version++;
    transactions.writeAudited(keyId, note, () => {
      const replaced = db
        .query<{ token_hash: string }, [number, string]>(
          "UPDATE tokens SET valid_until = ? WHERE key_id = ? AND valid_until IS NULL RETURNING token_hash",
        )
        .get(oldValidUntil, keyId);
      const keptMax = oldValidUntil > now ? TOKENS_IN_GRACE_MAX : 0;
      db.query(
        `DELETE FROM tokens WHERE key_id = ?1 AND token_hash NOT IN (
           SELECT token_hash FROM tokens WHERE key_id = ?1 AND valid_until > ?2
           ORDER BY token_hash = ?3 DESC, valid_until DESC LIMIT ?4)`,
      ).run(keyId, now, replaced?.token_hash ?? "", keptMax);
      this.#insertToken(tokenHash, keyId);
      limitDevicesOf(db, keyId, oldValidUntil, now);
    });
    return true;
  }

  async revoke(keyId: string, now: number, note?: AuditNote): Promise<boolean> {
    const row = this.#findRow(keyId);
    if (!row) return false;
    if (row.revoked_at !== null) return true;
    const { audit } = this.#parts;
    this.announceChange();
    this.revokeAll([keyId], now, () => note && audit.add(keyId, note));
    return true;
  }

  /** Runs `change` in the same transaction. The change must have been announced. */
  revokeAll(keyIds: readonly string[], now: number, change: () => void): void {
    const { db, transactions, limits } = this.#parts;
    transactions.write(() => {
      for (const keyId of keyIds) {
        db.query("UPDATE keys SET revoked_at = ? WHERE key_id = ?").run(now, keyId);
        limits.deleteSaved(keyId);
        db.query("DELETE FROM tokens WHERE key_id = ?").run(keyId);
        endDevicesOf(db, keyId);
      }
      change();
    });
    for (const keyId of keyIds) limits.remove(keyId);
  }

  #insertToken(tokenHash: string, keyId: string): void {
    this.#parts.db.query("INSERT INTO tokens (token_hash, key_id) VALUES (?, ?)").run(tokenHash, keyId);
    this.#tokenFilter.add(tokenHash);
  }

  #findRow(keyId: string): KeyRow | undefined {
    const { db, transactions } = this.#parts;
    const row = transactions.read(() =>
      db.query<KeyRow, [string]>("SELECT * FROM key_details WHERE key_id = ?").get(keyId),
    );
    return row ? this.#withDeletion(row) : undefined;
  }

  /** A key of a deleted server counts as revoked, also before its batch has come. */
  #withDeletion(row: KeyRow): KeyRow {
    const { db, transactions, servers } = this.#parts;
    if (row.revoked_at !== null || servers.has(row.server_id)) return row;
    const query = "SELECT deleted_at FROM deleted_servers WHERE server_id = ?";
    const deleted = transactions.read(() =>
      db.query<{ deleted_at: number }, [string]>(query).get(row.server_id),
    );
    return deleted ? { ...row, revoked_at: deleted.deleted_at } : row;
  }
}

/** The columns from `label` to `expires_at`, in the order of the table. */
function toColumns(key: Pick<KeyDetails, "label" | keyof KeyRights | "expiresAt">) {
  return [
    key.label,
    JSON.stringify(key.versions),
    key.sections,
    JSON.stringify(key.commands),
    JSON.stringify(key.ipAllow),
    key.expiresAt,
  ];
}
