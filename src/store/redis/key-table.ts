// The API keys. Lookups are answered from the cached directory; changes go to Redis.
import type { ApiKey } from "../../core/api-key.ts";
import { StoreUnavailable } from "../../core/errors.ts";
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
import type { KeptDevice, KeptToken, PortableItem } from "../../core/ports/portable-store.ts";
import { newId } from "../new-id.ts";
import { type Batch, type KeySource, READ_AT_ONCE, searchKeys } from "../search-keys.ts";
import { withDeviceUses } from "./device-uses.ts";
import type { Change, Directory } from "./directory.ts";
import { NAMES } from "./names.ts";
import { findPlaces, listIds, nextSeq, readAll, toCursor, toSeq } from "./pages.ts";
import { type KeyRecord, toKeyDetails, toRevoked } from "./records.ts";
import type { RedisLink } from "./redis-link.ts";
import type { SharedLimits } from "./shared-limits.ts";
import type { UsageTable } from "./usage-table.ts";

export type KeyTableParts = {
  readonly link: RedisLink;
  readonly directory: Directory;
  readonly limits: SharedLimits;
  readonly usage: UsageTable;
  /** Resolves when every change that was made before the call is known. */
  readonly catchUp: () => Promise<void>;
};

export class KeyTable implements KeyStore {
  readonly #parts: KeyTableParts;

  constructor(parts: KeyTableParts) {
    this.#parts = parts;
  }

  find(tokenHash: string, now: number): ApiKey | undefined {
    const { link, directory } = this.#parts;
    // Another instance may have created the key since the last heartbeat.
    if (!link.isUp && !directory.cache.hasToken(tokenHash))
      throw new StoreUnavailable("Redis does not answer, and the token is not known here");
    return directory.cache.findKey(tokenHash, now);
  }

  async findNew(tokenHash: string, now: number): Promise<ApiKey | undefined> {
    const { directory, catchUp } = this.#parts;
    try {
      await catchUp();
    } catch (error) {
      // A known token that has expired is refused without Redis, as every known token is judged.
      if (!(error instanceof StoreUnavailable) || !directory.cache.hasToken(tokenHash)) throw error;
    }
    return directory.cache.findKey(tokenHash, now);
  }

  get version(): number {
    return this.#parts.directory.cache.keysVersion;
  }

  async create(draft: KeyDraft, now: number, note?: AuditNote): Promise<KeyDetails | undefined> {
    const { link, directory } = this.#parts;
    const keyId = newId("key_");
    const seq = await nextSeq(link);
    const { tokenHash, ...rest } = draft;
    const record: KeyRecord = {
      ...rest,
      keyId,
      isSuspended: false,
      createdAt: now,
      revokedAt: null,
      seq,
      tokens: [{ tokenHash, validUntil: null }],
    };
    return directory.change(async () => {
      const server = await directory.readServer(draft.serverId);
      if (!server) return undefined;
      return {
        result: toKeyDetails(record, null),
        change: {
          checks: [[NAMES.servers, draft.serverId, server.text]],
          steps: this.#listStepsToAdd(record),
          changed: [keyId],
          audit: note && { target: keyId, note },
        },
      };
    });
  }

  /** Adds a key of another store with its id and its tokens. */
  async adopt(key: KeyDetails, tokens: readonly KeptToken[], devices: readonly KeptDevice[]): Promise<void> {
    const { link, directory } = this.#parts;
    const { lastUsedAt, ...rest } = key;
    const { keyId } = key;
    const seq = await nextSeq(link);
    const kept = devices.map(({ lastUsedAt: _, ...device }) => device);
    const record: KeyRecord = { ...rest, seq, tokens, ...(kept.length > 0 && { devices: kept }) };
    const lastUse = lastUsedAt === null ? [] : [["HSET", NAMES.lastUsed, keyId, lastUsedAt] as const];
    const deviceUses = devices
      .filter((device) => device.lastUsedAt !== null)
      .map((device) => ["HSET", NAMES.deviceUses, device.deviceId, device.lastUsedAt ?? 0] as const);
    const steps = [...this.#listStepsToAdd(record), ...lastUse, ...deviceUses];
    await directory.write({ steps, changed: [keyId] });
  }

  findLabel(keyId: string): string | undefined {
    return this.#parts.directory.cache.labelOf(keyId);
  }

  /** Only revoked keys are read from Redis; the others are in memory. */
  async listLabels(keyIds: readonly string[]): Promise<Map<string, string>> {
    const { directory } = this.#parts;
    const labels = new Map<string, string>();
    const unknown: string[] = [];
    for (const keyId of keyIds) {
      const label = directory.cache.labelOf(keyId);
      if (label === undefined) unknown.push(keyId);
      else labels.set(keyId, label);
    }
    if (unknown.length === 0) return labels;
    for (const { record } of await directory.readKeys(unknown)) labels.set(record.keyId, record.label);
    return labels;
  }

  async findDetails(keyId: string): Promise<KeyDetails | undefined> {
    const { directory, usage } = this.#parts;
    const found = await directory.readKey(keyId);
    return found && toKeyDetails(found.record, await usage.findLastUsed(keyId));
  }

  async listGraceEnds(keyId: string, now: number): Promise<number[]> {
    const found = await this.#parts.directory.readKey(keyId);
    const ends = found?.record.tokens.map(({ validUntil }) => validUntil ?? 0) ?? [];
    return ends.filter((end) => end > now).sort((a, b) => a - b);
  }

  async list({ limit, cursor, serverId, search }: PageRequest & KeyFilter): Promise<Page<KeyDetails>> {
    const { link, directory } = this.#parts;
    const order = serverId === undefined ? NAMES.keyOrder : NAMES.keysOf(serverId);
    if (search) return this.#search(search, { limit, cursor }, order);
    const { ids, next } = await listIds(link, order, limit, cursor);
    const found = await directory.readKeys(ids);
    return { items: await this.#withLastUses(found.map(({ record }) => record)), next };
  }

  async #search(search: KeySearch, page: PageRequest, order: string): Promise<Page<KeyDetails>> {
    const { limits } = this.#parts;
    const source: KeySource<KeyRecord> = {
      read:
        search.state === "blocked"
          ? await this.#openBlocked(order, search.now)
          : (afterSeq) => this.#readCandidates(order, afterSeq),
      findBlocked: (keyIds) => limits.findBlocked(keyIds, search.now),
    };
    const { found, nextSeq } = await searchKeys(source, search, toSeq(page.cursor), page.limit);
    return { items: await this.#withLastUses(found), next: nextSeq === null ? null : toCursor(nextSeq) };
  }

  async #readCandidates(order: string, afterSeq: number): Promise<Batch<KeyRecord>> {
    const { link, directory } = this.#parts;
    const { ids, next } = await listIds(link, order, READ_AT_ONCE, toCursor(afterSeq));
    const found = await directory.readKeys(ids);
    return { candidates: found.map(({ record }) => record), nextSeq: next === null ? null : toSeq(next) };
  }

  /** Reads only the blocked keys, which are few among all. */
  async #openBlocked(order: string, now: number): Promise<KeySource<KeyRecord>["read"]> {
    const { link, directory, limits } = this.#parts;
    const keyIds = (await limits.listBlocks(now)).map(({ keyId }) => keyId);
    const places = (await findPlaces(link, order, keyIds)).sort((a, b) => a.seq - b.seq);
    return async (afterSeq) => {
      const rest = places.filter(({ seq }) => seq > afterSeq);
      const batch = rest.slice(0, READ_AT_ONCE);
      const found = await directory.readKeys(batch.map(({ id }) => id));
      const nextSeq = rest.length > batch.length ? (batch.at(-1)?.seq ?? null) : null;
      return { candidates: found.map(({ record }) => record), nextSeq };
    };
  }

  async #withLastUses(records: readonly KeyRecord[]): Promise<KeyDetails[]> {
    const times = await this.#parts.usage.listLastUsed(records.map(({ keyId }) => keyId));
    return records.map((record, index) => toKeyDetails(record, times[index] ?? null));
  }

  /** All keys, each with its tokens sorted by hash, and its devices. */
  async *readAll(now: number): AsyncGenerator<Omit<PortableItem & { kind: "key" }, "kind">> {
    const { link, directory, usage } = this.#parts;
    for await (const { record } of readAll(link, NAMES.keyOrder, (ids) => directory.readKeys(ids))) {
      const key = toKeyDetails(record, await usage.findLastUsed(record.keyId));
      const tokens = record.tokens.toSorted((a, b) => (a.tokenHash < b.tokenHash ? -1 : 1));
      const devices = (record.devices ?? []).filter(({ expiresAt }) => expiresAt > now);
      const used = await withDeviceUses(link, devices);
      yield { key, tokens, devices: used.toSorted((a, b) => (a.deviceId < b.deviceId ? -1 : 1)) };
    }
  }

  async update(keyId: string, change: KeyChange, note?: AuditNote): Promise<KeyDetails | undefined> {
    const record = await this.#change(keyId, note, (old) => ({ ...old, ...change }));
    return record && toKeyDetails(record, await this.#parts.usage.findLastUsed(keyId));
  }

  async rotate(
    keyId: string,
    tokenHash: string,
    oldValidUntil: number,
    now: number,
    note?: AuditNote,
  ): Promise<boolean> {
    const record = await this.#change(keyId, note, (old) => {
      const replaced = old.tokens.filter(({ validUntil }) => validUntil === null);
      const earlier = old.tokens
        .filter(({ validUntil }) => validUntil !== null && validUntil > now)
        .sort((a, b) => (b.validUntil ?? 0) - (a.validUntil ?? 0));
      const inGrace = [...replaced.map((token) => ({ ...token, validUntil: oldValidUntil })), ...earlier];
      const kept: KeptToken[] = oldValidUntil > now ? inGrace.slice(0, TOKENS_IN_GRACE_MAX) : [];
      const { links: _, devices = [], ...rest } = old;
      const lasting = devices
        .map((device) => ({ ...device, expiresAt: Math.min(device.expiresAt, oldValidUntil) }))
        .filter(({ expiresAt }) => expiresAt > now);
      return { ...rest, tokens: [...kept, { tokenHash, validUntil: null }], devices: lasting };
    });
    return record !== undefined;
  }

  async revoke(keyId: string, now: number, note?: AuditNote): Promise<boolean> {
    const { directory, limits } = this.#parts;
    const revoked = await this.#change(keyId, note, (old) => toRevoked(old, now));
    if (!revoked) return (await directory.readKey(keyId)) !== undefined;
    await limits.forget(keyId, revoked.serverId);
    return true;
  }

  /** Undefined when there is no such key or it is revoked. */
  async #change(
    keyId: string,
    note: AuditNote | undefined,
    change: (old: KeyRecord) => KeyRecord,
  ): Promise<KeyRecord | undefined> {
    const { directory } = this.#parts;
    return directory.change(async () => {
      const found = await directory.readKey(keyId);
      if (!found || found.record.revokedAt !== null) return undefined;
      const record = change(found.record);
      return {
        result: record,
        change: {
          checks: [[NAMES.keys, keyId, found.text]],
          steps: [directory.stepToStore(NAMES.keys, keyId, record)],
          changed: [keyId],
          audit: note && { target: keyId, note },
        },
      };
    });
  }

  #listStepsToAdd(record: KeyRecord): Change["steps"] {
    const { keyId, serverId, seq } = record;
    return [
      this.#parts.directory.stepToStore(NAMES.keys, keyId, record),
      ["ZADD", NAMES.keyOrder, seq, keyId],
      ["ZADD", NAMES.keysOf(serverId), seq, keyId],
    ];
  }
}
