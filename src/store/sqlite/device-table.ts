// Signed-in devices and open links. Their rows end with their key, see device-rows.ts.
import type { Database } from "bun:sqlite";
import { type ApiKey, isExpired } from "../../core/api-key.ts";
import type { GameServer } from "../../core/game-server.ts";
import type { AuditNote } from "../../core/ports/audit.ts";
import {
  DEVICE_USE_STEP_MS,
  DEVICES_PER_KEY_MAX,
  type DeviceDetails,
  type DeviceDraft,
  type DeviceStore,
  LINKS_PER_KEY_MAX,
  type LinkDraft,
  type SignedInDevice,
} from "../../core/ports/devices.ts";
import type { AuditLog } from "./audit-log.ts";
import type { KeyTable } from "./key-table.ts";
import { type ApiKeyRow, toApiKey } from "./rows.ts";
import type { TransactionRunner } from "./transaction-runner.ts";

const KEY_COLUMNS = "key_id, server_id, versions, sections, commands, ip_allow, keys.expires_at, suspended";

type DeviceRow = ApiKeyRow & { device_id: string; ends_at: number };
type LinkRow = ApiKeyRow & { ends_at: number };

export type DeviceTableParts = {
  readonly db: Database;
  readonly transactions: TransactionRunner;
  readonly audit: AuditLog;
  readonly keys: KeyTable;
  readonly servers: ReadonlyMap<string, GameServer>;
};

export class DeviceTable implements DeviceStore {
  readonly #parts: DeviceTableParts;

  constructor(parts: DeviceTableParts) {
    this.#parts = parts;
  }

  find(deviceId: string, now: number): SignedInDevice | undefined {
    return this.#findBy("device_id", deviceId, now);
  }

  /** The data folder is locked, so no other process signs devices in. */
  findNew(): undefined {
    return undefined;
  }

  async findBySecret(secretHash: string, now: number): Promise<SignedInDevice | undefined> {
    return this.#findBy("secret_hash", secretHash, now);
  }

  async list(keyId: string, now: number): Promise<DeviceDetails[]> {
    const { db, transactions, keys } = this.#parts;
    // The rows of a deleted server's key are still there until its batch has come.
    const key = await keys.findDetails(keyId);
    if (!key || key.revokedAt !== null) return [];
    return transactions.read(() =>
      db
        .query<DeviceDetails, [string, number]>(
          `SELECT device_id AS deviceId, description, created_at AS createdAt, last_used_at AS lastUsedAt,
                  expires_at AS expiresAt
           FROM devices WHERE key_id = ? AND expires_at > ? ORDER BY created_at DESC, device_id`,
        )
        .all(keyId, now),
    );
  }

  async add(
    keyId: string,
    tokenHash: string,
    draft: DeviceDraft,
    now: number,
    note?: AuditNote,
  ): Promise<boolean> {
    if (!(await this.#isUsable(keyId))) return false;
    const { db, transactions, audit, keys } = this.#parts;
    keys.announceChange();
    return transactions.write(() => {
      const token = db
        .query<{ valid_until: number | null }, [string, string]>(
          "SELECT valid_until FROM tokens WHERE token_hash = ? AND key_id = ?",
        )
        .get(tokenHash, keyId);
      const validUntil = token ? (token.valid_until ?? Number.POSITIVE_INFINITY) : 0;
      if (validUntil <= now) return false;
      this.#insert(keyId, { ...draft, expiresAt: Math.min(draft.expiresAt, validUntil) }, now);
      if (note) audit.add(keyId, note);
      return true;
    });
  }

  async recordUse(deviceId: string, now: number): Promise<void> {
    const { db, transactions } = this.#parts;
    const query = "SELECT last_used_at FROM devices WHERE device_id = ?";
    const row = transactions.read(() =>
      db.query<{ last_used_at: number | null }, [string]>(query).get(deviceId),
    );
    if (!row || now - (row.last_used_at ?? 0) < DEVICE_USE_STEP_MS) return;
    transactions.write(() =>
      db.query("UPDATE devices SET last_used_at = ? WHERE device_id = ?").run(now, deviceId),
    );
  }

  async end(keyId: string, deviceId: string, now: number, note?: AuditNote): Promise<boolean> {
    const known = await this.list(keyId, now);
    if (!known.some((device) => device.deviceId === deviceId)) return false;
    const { db, transactions, keys } = this.#parts;
    keys.announceChange();
    transactions.writeAudited(keyId, note, () =>
      db.query("DELETE FROM devices WHERE device_id = ?").run(deviceId),
    );
    return true;
  }

  async addLink(keyId: string, draft: LinkDraft, now: number, note?: AuditNote): Promise<boolean> {
    if (!(await this.#isUsable(keyId))) return false;
    const { db, transactions } = this.#parts;
    transactions.writeAudited(keyId, note, () => {
      db.query("DELETE FROM links WHERE key_id = ? AND expires_at <= ?").run(keyId, now);
      db.query("INSERT INTO links (secret_hash, key_id, expires_at) VALUES (?, ?, ?)").run(
        draft.secretHash,
        keyId,
        draft.expiresAt,
      );
      db.query(
        `DELETE FROM links WHERE key_id = ?1 AND seq NOT IN (
           SELECT seq FROM links WHERE key_id = ?1 ORDER BY seq DESC LIMIT ?2)`,
      ).run(keyId, LINKS_PER_KEY_MAX);
    });
    return true;
  }

  async findLink(secretHash: string, now: number): Promise<ApiKey | undefined> {
    return this.#findLinkKey(secretHash, now);
  }

  async redeemLink(secretHash: string, draft: DeviceDraft, now: number, note?: AuditNote): Promise<boolean> {
    const { db, transactions, audit, keys } = this.#parts;
    keys.announceChange();
    return transactions.write(() => {
      const key = this.#findLinkKey(secretHash, now);
      if (!key) return false;
      db.query("DELETE FROM links WHERE secret_hash = ?").run(secretHash);
      this.#insert(key.keyId, draft, now);
      if (note) audit.add(key.keyId, note);
      return true;
    });
  }

  async #isUsable(keyId: string): Promise<boolean> {
    const key = await this.#parts.keys.findDetails(keyId);
    return key !== undefined && key.revokedAt === null;
  }

  #findBy(column: "device_id" | "secret_hash", value: string, now: number): SignedInDevice | undefined {
    const { db, transactions } = this.#parts;
    const row = transactions.read(() =>
      db
        .query<DeviceRow, [string]>(
          `SELECT ${KEY_COLUMNS}, device_id, devices.expires_at AS ends_at
           FROM devices JOIN keys USING (key_id) WHERE ${column} = ?`,
        )
        .get(value),
    );
    if (!row) return undefined;
    const key = this.#toUsableKey(row, now);
    return key && { deviceId: row.device_id, expiresAt: row.ends_at, key };
  }

  #findLinkKey(secretHash: string, now: number): ApiKey | undefined {
    const { db, transactions } = this.#parts;
    const row = transactions.read(() =>
      db
        .query<LinkRow, [string]>(
          `SELECT ${KEY_COLUMNS}, links.expires_at AS ends_at
           FROM links JOIN keys USING (key_id) WHERE secret_hash = ?`,
        )
        .get(secretHash),
    );
    return row ? this.#toUsableKey(row, now) : undefined;
  }

  /** Undefined when the row has ended, by itself or with its key. */
  #toUsableKey(row: LinkRow, now: number): ApiKey | undefined {
    // The keys of a deleted server are revoked in batches, and refused from the beginning.
    const serverId = this.#parts.servers.get(row.server_id)?.serverId;
    if (serverId === undefined || row.ends_at <= now) return undefined;
    const key = toApiKey(row, serverId);
    return isExpired(key, now) ? undefined : key;
  }

  /** Must run inside a transaction. */
  #insert(keyId: string, { deviceId, secretHash, expiresAt, description }: DeviceDraft, now: number): void {
    const { db } = this.#parts;
    db.query("DELETE FROM devices WHERE key_id = ? AND expires_at <= ?").run(keyId, now);
    db.query(
      `DELETE FROM devices WHERE key_id = ?1 AND device_id NOT IN (
         SELECT device_id FROM devices WHERE key_id = ?1
         ORDER BY coalesce(last_used_at, created_at) DESC, device_id LIMIT ?2)`,
    ).run(keyId, DEVICES_PER_KEY_MAX - 1);
    db.query(
      `INSERT INTO devices (device_id, key_id, secret_hash, description, created_at, expires_at)
       VALUES (?, ?, ?, ?, ?, ?)`,
    ).run(deviceId, keyId, secretHash, description, now, expiresAt);
  }
}
