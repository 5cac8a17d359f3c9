// The store that several instances share: Redis or Valkey. Servers and keys are known by heart in every instance, limits
// are counted by Redis, and the clock is Redis's, so that all instances agree on the time.
import { randomBytes } from "node:crypto";
import type { ApiKey, KeyIdentity } from "../../core/api-key.ts";
import { NotReadyToStart, StartRefused, StoreUnavailable } from "../../core/errors.ts";
import type { GameServer } from "../../core/game-server.ts";
import {
  type AuditEntry,
  type AuditNote,
  type Block,
  type Clock,
  type DeletedServer,
  type KeptToken,
  type KeyChange,
  type KeyDetails,
  type KeyDraft,
  type Log,
  type Page,
  type PageRequest,
  type PortableItem,
  type PortableStore,
  type ServerDraft,
  type TidyTimes,
  TOKENS_IN_GRACE_MAX,
  type UsageCell,
  type UsageCount,
} from "../../core/ports.ts";
import type { Verdict } from "../../core/rate-limit.ts";
import { createSampler } from "../../core/sampler.ts";
import { randomBase62 } from "../../core/token.ts";
import type { Sealer } from "../sealer.ts";
import { isRightSecret, SECRET_CHECK, sealSecretCheck } from "../secret-check.ts";
import { AuditLog } from "./audit-log.ts";
import { listDurabilityProblems } from "./check-durability.ts";
import { RedisCommandQueue } from "./command-queue.ts";
import { type Change, Directory, VERSIONS_KEPT } from "./directory.ts";
import { NAMES } from "./names.ts";
import { type KeyRecord, type ServerRecord, toGameServer, toKeyDetails } from "./records.ts";
import { type RedisAddress, RedisLink } from "./redis-link.ts";
import { RedisRelayShare } from "./relay-share.ts";
import { createScript } from "./script.ts";
import heartbeatText from "./scripts/heartbeat.lua" with { type: "text" };
import { SharedLimits } from "./shared-limits.ts";
import { UsageTable } from "./usage-table.ts";

const HEARTBEAT = createScript(heartbeatText);
const HEARTBEAT_EVERY_MS = 250;
/** An instance that gave no sign for so long does not count any more. */
const INSTANCE_LIVES_MS = 5_000;
/** A script that arrives later than this acts no more: its sender has given up by then. */
const WRITE_WITHIN_MS = 450;
const FAULT_LOG_MS = 60_000;
const ID_LENGTH = 20;
const READ_AT_ONCE = 500;
/** A wrong password, user or database, or a certificate that is not trusted. */
const WAITING_IS_VAIN = /^(WRONGPASS|NOAUTH|NOPERM|ERR) |certificate/;

export type RedisStoreSettings = {
  readonly address: RedisAddress;
  readonly sealer: Sealer;
  readonly log: Log;
  /** How long a command that an instance is sending belongs to it. */
  readonly commandLeaseMs: number;
  /** How long each answer of Redis is waited for, when it is not for a request. */
  readonly answerWithinMs?: number;
  /** In tests, instead of Redis's own clock. */
  readonly clock?: Clock;
};

/** Refuses to start on a server that does not answer, or whose contents were sealed with another secret. */
export async function openRedisStore(settings: RedisStoreSettings): Promise<RedisStore> {
  let link: RedisLink | undefined;
  try {
    link = await RedisLink.open(settings.address, settings.log, settings.answerWithinMs);
    const store = new RedisStore(link, settings);
    await store.start();
    return store;
  } catch (error) {
    link?.close();
    if (error instanceof StartRefused) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    const Failure = WAITING_IS_VAIN.test(reason) ? StartRefused : NotReadyToStart;
    throw new Failure(`GATEHOUSE_STORE cannot be used: ${reason} — check that Redis runs, and its address`);
  }
}

export class RedisStore implements PortableStore {
  readonly commands: RedisCommandQueue;
  /** For the relay: what the instances tell each other. */
  readonly relayShare: RedisRelayShare;
  readonly #link: RedisLink;
  readonly #log: Log;
  readonly #sealer: Sealer;
  readonly #ownClock: Clock | undefined;
  readonly #directory: Directory;
  readonly #limits: SharedLimits;
  readonly #usage: UsageTable;
  readonly #audit: AuditLog;
  readonly #instance = randomBase62(ID_LENGTH, randomBytes);
  #heart: ReturnType<typeof setInterval> | undefined;
  #beat: Promise<void> | undefined;
  #instances = 1;
  /** How far Redis's clock is ahead of this machine's. */
  #aheadMs = 0;
  /** The same, if the answer had taken no time at all. */
  #aheadLeastMs = 0;
  readonly #noteFault = createSampler(FAULT_LOG_MS);

  constructor(link: RedisLink, settings: RedisStoreSettings) {
    this.#link = link;
    this.#log = settings.log;
    this.#sealer = settings.sealer;
    this.#ownClock = settings.clock;
    const times = (now = this.clock()) => this.#timesOf(now);
    this.#directory = new Directory(link, times, settings.log);
    this.#limits = new SharedLimits({
      link,
      times,
      countInstances: () => this.#instances,
      log: settings.log,
    });
    this.#usage = new UsageTable(link, times);
    this.#audit = new AuditLog(link, times);
    this.relayShare = new RedisRelayShare(link, times, () => randomBase62(ID_LENGTH, randomBytes));
    this.commands = new RedisCommandQueue({
      link,
      leaseMs: settings.commandLeaseMs,
      listServerIds: () => [...this.#directory.serverIds(), ...this.#directory.deletedServerIds()],
      time: times,
    });
  }

  /** Redis's clock, as well as it is known here. */
  readonly clock: Clock = () => this.#ownClock?.() ?? Math.round(Date.now() + this.#aheadMs);

  /** What endangers the store's promise, in sentences. */
  listDurabilityProblems(): Promise<string[]> {
    return listDurabilityProblems(this.#link);
  }

  get isReachable(): boolean {
    return this.#link.isUp;
  }

  /** How many share this store, as far as is known. */
  get instances(): number {
    return this.#instances;
  }

  async start(): Promise<void> {
    await this.#checkSecret();
    await this.#directory.load();
    await this.#limits.load(this.clock());
    await this.#sendHeartbeat();
    this.#heart = setInterval(() => this.#keepBeating(), HEARTBEAT_EVERY_MS);
    this.#heart.unref();
  }

  findKey(tokenHash: string, now: number): ApiKey | undefined {
    // It may be one that another instance has made since Redis went.
    if (!this.#link.isUp && !this.#directory.hasToken(tokenHash))
      throw new StoreUnavailable("Redis does not answer, and the key is not known here");
    return this.#directory.findKey(tokenHash, now);
  }

  get keysVersion(): number {
    return this.#directory.keysVersion;
  }

  findServer(serverId: string): GameServer | undefined {
    return this.#directory.findServer(serverId);
  }

  judge(key: KeyIdentity, now: number, isCounted: boolean): Verdict | Promise<Verdict> {
    return this.#limits.judge(key, now, isCounted);
  }

  async createServer(draft: ServerDraft, now: number, note?: AuditNote): Promise<GameServer> {
    const serverId = newId("srv_");
    const seq = await this.#nextSeq();
    const record: ServerRecord = {
      serverId,
      name: draft.name,
      community: draft.community,
      createdAt: now,
      keyRevision: 1,
      seq,
      sealedKey: this.#seal(draft.serverKey, serverId),
    };
    await this.#directory.change(async () => ({
      result: true,
      change: {
        checks: [],
        steps: [
          ["HSET", NAMES.servers, serverId, JSON.stringify(record)],
          ["ZADD", NAMES.serverOrder, seq, serverId],
        ],
        changed: [serverId],
        audit: note && { target: serverId, note },
      },
    }));
    return toGameServer(record);
  }

  async findServerByName(name: string): Promise<GameServer | undefined> {
    return this.#directory.findServerByName(name);
  }

  async updateServer(
    serverId: string,
    change: Partial<ServerDraft>,
    note?: AuditNote,
  ): Promise<GameServer | undefined> {
    return this.#directory.change(async () => {
      const found = await this.#directory.readServer(serverId);
      if (!found) return undefined;
      const { record: old, text } = found;
      const record: ServerRecord = {
        ...old,
        name: change.name ?? old.name,
        community: change.community === undefined ? old.community : change.community,
        keyRevision: old.keyRevision + (change.serverKey === undefined ? 0 : 1),
        sealedKey: change.serverKey === undefined ? old.sealedKey : this.#seal(change.serverKey, serverId),
      };
      return {
        result: toGameServer(record),
        change: {
          checks: [[NAMES.servers, serverId, text]],
          steps: [["HSET", NAMES.servers, serverId, JSON.stringify(record)]],
          changed: [serverId],
          audit: note && { target: serverId, note },
        },
      };
    });
  }

  async deleteServer(serverId: string, now: number, note?: AuditNote): Promise<DeletedServer | undefined> {
    let keyIds: string[] = [];
    const isDeleted = await this.#directory.change(async () => {
      const found = await this.#directory.readServer(serverId);
      if (!found) return undefined;
      const keys = await this.#directory.readKeys(await this.#listUsableKeys(serverId));
      keyIds = keys.map(({ record }) => record.keyId);
      return {
        result: true,
        change: {
          checks: [[NAMES.servers, serverId, found.text]],
          steps: [
            ["HDEL", NAMES.servers, serverId],
            ["ZREM", NAMES.serverOrder, serverId],
            ["ZADD", NAMES.deletedServers, now, serverId],
            ...keys.map(({ record }) => stepToRevoke(record, now)),
          ],
          changed: [serverId, ...keyIds],
          audit: note && { target: serverId, note },
        },
      };
    });
    const wasThere = isDeleted ?? (await this.#wasDeleted(serverId));
    if (!wasThere) return undefined;
    // Another instance may have made a key in the very moment.
    for (const keyId of isDeleted ? await this.#listUsableKeys(serverId) : []) {
      if (await this.revokeKey(keyId, now)) keyIds.push(keyId);
    }
    // Also when it was deleted before: the one who did it may not have come this far.
    const failedCommands = await this.commands.failWaiting(serverId, now);
    for (const keyId of keyIds) await this.#limits.forget(keyId, serverId);
    await this.#link.send(NAMES.shared(serverId), "DEL", NAMES.shared(serverId));
    return { revokedKeys: keyIds.length, failedCommands };
  }

  async listServers({ limit, cursor }: PageRequest): Promise<Page<GameServer>> {
    const { ids, next } = await this.#listIds(NAMES.serverOrder, limit, cursor);
    const found = await this.#directory.readServers(ids);
    return { items: found.map(({ record }) => toGameServer(record)), next };
  }

  async readServerKey(serverId: string): Promise<string | undefined> {
    const sealed = await this.#directory.readSealedKey(serverId);
    return sealed === undefined ? undefined : this.#sealer.open(Buffer.from(sealed, "base64"), serverId);
  }

  async createKey(draft: KeyDraft, now: number, note?: AuditNote): Promise<KeyDetails | undefined> {
    const keyId = newId("key_");
    const seq = await this.#nextSeq();
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
    return this.#directory.change(async () => {
      const server = await this.#directory.readServer(draft.serverId);
      if (!server) return undefined;
      return {
        result: toKeyDetails(record, null),
        change: {
          checks: [[NAMES.servers, draft.serverId, server.text]],
          steps: [
            ["HSET", NAMES.keys, keyId, JSON.stringify(record)],
            ["ZADD", NAMES.keyOrder, seq, keyId],
            ["ZADD", NAMES.keysOf(draft.serverId), seq, keyId],
          ],
          changed: [keyId],
          audit: note && { target: keyId, note },
        },
      };
    });
  }

  async findKeyDetails(keyId: string): Promise<KeyDetails | undefined> {
    const found = await this.#directory.readKey(keyId);
    return found && toKeyDetails(found.record, await this.#usage.findLastUsed(keyId));
  }

  async listKeys({
    limit,
    cursor,
    serverId,
  }: PageRequest & { serverId?: string }): Promise<Page<KeyDetails>> {
    const order = serverId === undefined ? NAMES.keyOrder : NAMES.keysOf(serverId);
    const { ids, next } = await this.#listIds(order, limit, cursor);
    const found = await this.#directory.readKeys(ids);
    const times = await this.#usage.listLastUsed(found.map(({ record }) => record.keyId));
    return { items: found.map(({ record }, index) => toKeyDetails(record, times[index] ?? null)), next };
  }

  async updateKey(keyId: string, change: KeyChange, note?: AuditNote): Promise<KeyDetails | undefined> {
    const record = await this.#changeKey(keyId, note, (old) => ({ ...old, ...change }));
    return record && toKeyDetails(record, await this.#usage.findLastUsed(keyId));
  }

  async rotateKey(
    keyId: string,
    tokenHash: string,
    oldValidUntil: number,
    now: number,
    note?: AuditNote,
  ): Promise<boolean> {
    const record = await this.#changeKey(keyId, note, (old) => {
      const replaced = old.tokens.filter(({ validUntil }) => validUntil === null);
      const earlier = old.tokens
        .filter(({ validUntil }) => validUntil !== null && validUntil > now)
        .sort((a, b) => (b.validUntil ?? 0) - (a.validUntil ?? 0));
      const inGrace = [...replaced.map((token) => ({ ...token, validUntil: oldValidUntil })), ...earlier];
      const kept: KeptToken[] = oldValidUntil > now ? inGrace.slice(0, TOKENS_IN_GRACE_MAX) : earlier;
      return { ...old, tokens: [...kept, { tokenHash, validUntil: null }] };
    });
    return record !== undefined;
  }

  async revokeKey(keyId: string, now: number, note?: AuditNote): Promise<boolean> {
    const revoked = await this.#changeKey(keyId, note, (old) => ({ ...old, tokens: [], revokedAt: now }));
    if (!revoked) return (await this.#directory.readKey(keyId)) !== undefined;
    await this.#limits.forget(keyId, revoked.serverId);
    return true;
  }

  listBlocks(now: number): Promise<readonly Block[]> {
    return this.#limits.listBlocks(now);
  }

  async liftBlock(keyId: string, now: number, note?: AuditNote): Promise<void> {
    const serverId = this.#directory.serverOf(keyId);
    if (!(await this.#limits.isBlocked(keyId, serverId, now))) return;
    // The list and the note in one step; then the block itself, which holds until it is gone too.
    const change: Change = {
      checks: [],
      steps: [["HDEL", NAMES.blocks, keyId]],
      changed: [],
      audit: note && { target: keyId, note },
    };
    await this.#directory.change(async () => ({ change, result: true }));
    await this.#limits.forget(keyId, serverId);
  }

  addUsage(cells: readonly UsageCell[]): Promise<readonly UsageCell[]> {
    return this.#usage.add(cells, (keyId) => this.#directory.serverOf(keyId));
  }

  async readUsage(keyId: string, since: number): Promise<readonly UsageCount[]> {
    const found = await this.#directory.readKey(keyId);
    return found ? this.#usage.read(found.record.serverId, keyId, since) : [];
  }

  async noteChange(target: string, note: AuditNote): Promise<void> {
    const change: Change = { checks: [], steps: [], changed: [], audit: { target, note } };
    await this.#directory.change(async () => ({ change, result: true }));
  }

  listAudit(page: PageRequest): Promise<Page<AuditEntry>> {
    return this.#audit.list(page);
  }

  async tidy({ now, usage, audit, commands }: TidyTimes): Promise<void> {
    await this.#limits.tidy(now);
    await this.#usage.forgetBefore(usage, async (keyId) => {
      return (await this.#directory.readKey(keyId))?.record.serverId;
    });
    await this.commands.forgetBefore(commands, now);
    // What was still under way when the server was deleted may have told of it once more.
    for (const serverId of this.#directory.deletedServerIds())
      await this.#link.send(NAMES.shared(serverId), "DEL", NAMES.shared(serverId));
    await this.#link.send(
      NAMES.deletedServers,
      "ZREMRANGEBYSCORE",
      NAMES.deletedServers,
      "-inf",
      `(${audit}`,
    );
    await this.#audit.forgetBefore(audit, now);
  }

  async findSetting(name: string): Promise<string | undefined> {
    return (
      ((await this.#link.send(NAMES.settings, "HGET", NAMES.settings, name)) as string | null) ?? undefined
    );
  }

  async saveSetting(name: string, value: string): Promise<void> {
    await this.#link.send(NAMES.settings, "HSET", NAMES.settings, name, value);
  }

  async keepSetting(name: string, value: string): Promise<string> {
    await this.#link.send(NAMES.settings, "HSETNX", NAMES.settings, name, value);
    return (await this.findSetting(name)) ?? value;
  }

  async checkHealth(): Promise<void> {
    await this.saveSetting("last-health-check", this.#instance);
  }

  async *readItems(): AsyncGenerator<PortableItem> {
    for await (const { record } of this.#readAll(NAMES.serverOrder, (ids) =>
      this.#directory.readServers(ids),
    )) {
      const serverKey = this.#sealer.open(Buffer.from(record.sealedKey, "base64"), record.serverId);
      yield { kind: "server", server: toGameServer(record), serverKey };
    }
    for await (const { record } of this.#readAll(NAMES.keyOrder, (ids) => this.#directory.readKeys(ids))) {
      const key = toKeyDetails(record, await this.#usage.findLastUsed(record.keyId));
      const tokens = record.tokens.toSorted((a, b) => (a.tokenHash < b.tokenHash ? -1 : 1));
      yield { kind: "key", key, tokens };
    }
    const blocks = await this.listBlocks(this.clock());
    for (const block of blocks.toSorted((a, b) => (a.keyId < b.keyId ? -1 : 1)))
      yield { kind: "block", block };
    for (const serverId of this.#directory.serverIds().sort()) {
      for (const command of await this.commands.listWaiting(serverId)) yield { kind: "command", command };
    }
  }

  async writeItems(items: readonly PortableItem[]): Promise<void> {
    for (const item of items) {
      if (item.kind === "server") await this.#writeServer(item);
      else if (item.kind === "key") await this.#writeKey(item);
      else if (item.kind === "command") await this.commands.adopt(item.command);
      else await this.#limits.adopt(item.block, this.#directory.serverOf(item.block.keyId));
    }
  }

  async countOtherInstances(): Promise<number> {
    await this.#sendHeartbeat();
    return this.#instances - 1;
  }

  async close(): Promise<void> {
    clearInterval(this.#heart);
    this.relayShare.close();
    await this.#beat;
    await this.commands.withdrawUndecided();
    const sign = this.#link.send(NAMES.instances, "ZREM", NAMES.instances, this.#instance);
    await sign.catch(() => {});
    this.#link.close();
  }

  #keepBeating(): void {
    if (this.#beat) return;
    this.#beat = this.#sendHeartbeat()
      .catch((error) => {
        // That Redis does not answer at all is told once, by the link.
        if (!this.#link.isUp) return;
        this.#noteFault(performance.now(), (unlogged) => {
          this.#log.error({ err: error, unlogged }, "the heartbeat failed");
        });
      })
      .finally(() => {
        this.#beat = undefined;
      });
  }

  async #sendHeartbeat(): Promise<void> {
    const sentAt = Date.now();
    const keys = [NAMES.instances, NAMES.version, NAMES.changes];
    // Without a deadline: this is how the time is learned.
    const args = [this.#ownClock?.() ?? "", "", this.#instance, INSTANCE_LIVES_MS];
    const { version: known, changeId } = this.#directory;
    const reply = await this.#link.run(HEARTBEAT, keys, [...args, known, VERSIONS_KEPT, changeId]);
    const [now, instances, version, newest, changed] = reply as [
      ...[number, number, number, string],
      string[] | null,
    ];
    const receivedAt = Date.now();
    this.#aheadMs = now - (sentAt + receivedAt) / 2;
    this.#aheadLeastMs = now - receivedAt;
    this.#instances = instances;
    if (changed === null) await this.#directory.load();
    else await this.#directory.catchUp(changed, version, newest);
    await this.#limits.tellBlocks(now);
    void this.commands.withdrawUndecided();
  }

  async *#readAll<T>(order: string, read: (ids: readonly string[]) => Promise<T[]>): AsyncGenerator<T> {
    let cursor: string | undefined;
    do {
      const { ids, next } = await this.#listIds(order, READ_AT_ONCE, cursor);
      yield* await read(ids);
      cursor = next ?? undefined;
    } while (cursor !== undefined);
  }

  async #writeServer({ server, serverKey }: PortableItem & { kind: "server" }): Promise<void> {
    const { serverId } = server;
    const seq = await this.#nextSeq();
    const record: ServerRecord = { ...server, seq, sealedKey: this.#seal(serverKey, serverId) };
    await this.#write(serverId, [
      ["HSET", NAMES.servers, serverId, JSON.stringify(record)],
      ["ZADD", NAMES.serverOrder, seq, serverId],
    ]);
  }

  async #writeKey({ key, tokens }: PortableItem & { kind: "key" }): Promise<void> {
    const seq = await this.#nextSeq();
    const { lastUsedAt, ...rest } = key;
    const { keyId } = key;
    const record: KeyRecord = { ...rest, seq, tokens };
    await this.#write(keyId, [
      ["HSET", NAMES.keys, keyId, JSON.stringify(record)],
      ["ZADD", NAMES.keyOrder, seq, keyId],
      ["ZADD", NAMES.keysOf(key.serverId), seq, keyId],
      ...(lastUsedAt === null ? [] : [["HSET", NAMES.lastUsed, keyId, lastUsedAt] as const]),
    ]);
  }

  async #write(id: string, steps: Change["steps"]): Promise<void> {
    const change: Change = { checks: [], steps, changed: [id] };
    await this.#directory.change(async () => ({ change, result: true }));
  }

  /** A revoked key is not changed any more. */
  async #changeKey(
    keyId: string,
    note: AuditNote | undefined,
    change: (old: KeyRecord) => KeyRecord,
  ): Promise<KeyRecord | undefined> {
    return this.#directory.change(async () => {
      const found = await this.#directory.readKey(keyId);
      if (!found || found.record.revokedAt !== null) return undefined;
      const record = change(found.record);
      return {
        result: record,
        change: {
          checks: [[NAMES.keys, keyId, found.text]],
          steps: [["HSET", NAMES.keys, keyId, JSON.stringify(record)]],
          changed: [keyId],
          audit: note && { target: keyId, note },
        },
      };
    });
  }

  async #listIds(order: string, limit: number, cursor: string | undefined) {
    const after = cursor === undefined ? "-inf" : `(${Number.parseInt(cursor, 36) || 0}`;
    const range = ["ZRANGE", order, after, "+inf", "BYSCORE", "LIMIT", 0, limit + 1, "WITHSCORES"];
    const flat = (await this.#link.send(order, ...range)) as string[];
    const ids = flat.filter((_, index) => index % 2 === 0);
    const lastSeq = flat[limit * 2 - 1];
    const next = ids.length > limit && lastSeq !== undefined ? Number(lastSeq).toString(36) : null;
    return { ids: ids.slice(0, limit), next };
  }

  async #listUsableKeys(serverId: string): Promise<string[]> {
    const name = NAMES.keysOf(serverId);
    const all = (await this.#link.send(name, "ZRANGE", name, 0, -1)) as string[];
    const keys = await this.#directory.readKeys(all);
    return keys.filter(({ record }) => record.revokedAt === null).map(({ record }) => record.keyId);
  }

  async #wasDeleted(serverId: string): Promise<boolean> {
    return (await this.#link.send(NAMES.deletedServers, "ZSCORE", NAMES.deletedServers, serverId)) !== null;
  }

  async #nextSeq(): Promise<number> {
    return Number(await this.#link.send(NAMES.counter, "INCR", NAMES.counter));
  }

  /** Fails early, not at the first read of a server, when another instance has another secret. */
  async #checkSecret(): Promise<void> {
    const kept = await this.keepSetting(SECRET_CHECK, sealSecretCheck(this.#sealer));
    if (isRightSecret(kept, this.#sealer)) return;
    throw new StartRefused(
      "GATEHOUSE_SECRET is not the one that this Redis was first used with; all instances need the same — " +
        "set it on each of them",
    );
  }

  #seal(serverKey: string, serverId: string): string {
    return Buffer.from(this.#sealer.seal(serverKey, serverId)).toString("base64");
  }

  #timesOf(now: number): readonly [string, string] {
    if (this.#ownClock) return [String(now), ""];
    // By the least that Redis's clock can be ahead: too early does no harm, too late would.
    return ["", String(Math.floor(Date.now() + this.#aheadLeastMs + WRITE_WITHIN_MS))];
  }
}

function stepToRevoke(record: KeyRecord, now: number): ["HSET", string, string, string] {
  const revoked: KeyRecord = { ...record, tokens: [], revokedAt: now };
  return ["HSET", NAMES.keys, record.keyId, JSON.stringify(revoked)];
}

function newId(prefix: string): string {
  return prefix + randomBase62(ID_LENGTH, randomBytes);
}
