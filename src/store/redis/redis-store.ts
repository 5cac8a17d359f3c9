// The store that several instances share: Redis or Valkey. Servers and keys are known by heart in every instance, limits
// are counted by Redis, and the clock is Redis's, so that all instances agree on the time.
import { randomBytes } from "node:crypto";
import type { ApiKey, KeyIdentity } from "../../core/api-key.ts";
import { NotReadyToStart, StartRefused, StoreUnavailable } from "../../core/errors.ts";
import type { GameServer } from "../../core/game-server.ts";
import type {
  AuditEntry,
  AuditNote,
  Block,
  Clock,
  DeletedServer,
  KeyChange,
  KeyDetails,
  KeyDraft,
  Log,
  Page,
  PageRequest,
  PortableItem,
  PortableStore,
  ServerDraft,
  TidyTimes,
  UsageCell,
  UsageCount,
} from "../../core/ports.ts";
import type { Verdict } from "../../core/rate-limit.ts";
import { randomBase62 } from "../../core/token.ts";
import type { Sealer } from "../sealer.ts";
import { isRightSecret, SECRET_CHECK, sealSecretCheck } from "../secret-check.ts";
import { AuditLog } from "./audit-log.ts";
import { listDurabilityProblems } from "./check-durability.ts";
import { RedisCommandQueue } from "./command-queue.ts";
import { Directory } from "./directory.ts";
import { Heart } from "./heart.ts";
import { KeyTable } from "./key-table.ts";
import { NAMES } from "./names.ts";
import { RedisClock } from "./redis-clock.ts";
import { ANSWER_WITHIN_MS, type RedisAddress, RedisLink } from "./redis-link.ts";
import { RedisRelayShare } from "./relay-share.ts";
import { ServerTable } from "./server-table.ts";
import { SharedLimits } from "./shared-limits.ts";
import { UsageTable } from "./usage-table.ts";

const LEASE_TOKEN_LENGTH = 20;
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
  /** Redis's clock, as well as it is known here. */
  readonly clock: Clock;
  readonly #link: RedisLink;
  readonly #sealer: Sealer;
  readonly #directory: Directory;
  readonly #limits: SharedLimits;
  readonly #usage: UsageTable;
  readonly #audit: AuditLog;
  readonly #keys: KeyTable;
  readonly #servers: ServerTable;
  readonly #heart: Heart;

  constructor(link: RedisLink, settings: RedisStoreSettings) {
    const { sealer, log, commandLeaseMs, answerWithinMs = ANSWER_WITHIN_MS, clock: ownClock } = settings;
    const clock = new RedisClock(answerWithinMs, ownClock);
    const { times } = clock;
    const directory = new Directory(link, times, log);
    const limits = new SharedLimits({ link, times, countInstances: () => this.instances, log });
    const usage = new UsageTable(link, times);
    const commands = new RedisCommandQueue({
      link,
      leaseMs: commandLeaseMs,
      listServerIds: () => [...directory.serverIds(), ...directory.deletedServerIds()],
      time: times,
    });
    const keys = new KeyTable({ link, directory, limits, usage });
    this.commands = commands;
    this.relayShare = new RedisRelayShare(link, times, () => randomBase62(LEASE_TOKEN_LENGTH, randomBytes));
    this.clock = clock.now;
    this.#link = link;
    this.#sealer = sealer;
    this.#directory = directory;
    this.#limits = limits;
    this.#usage = usage;
    this.#audit = new AuditLog(link, times);
    this.#keys = keys;
    this.#servers = new ServerTable({ link, directory, sealer, keys, limits, commands });
    this.#heart = new Heart({ link, clock, directory, limits, commands, log });
  }

  /** What endangers the store's promise, in sentences. */
  listDurabilityProblems(): Promise<string[]> {
    return listDurabilityProblems(this.#link);
  }

  get isReachable(): boolean {
    return this.#link.isUp;
  }

  /** How many share this store, as far as is known. */
  get instances(): number {
    return this.#heart.instances;
  }

  async start(): Promise<void> {
    await this.#checkSecret();
    await this.#directory.load();
    await this.#limits.load(this.clock());
    await this.#heart.start();
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

  createServer(draft: ServerDraft, now: number, note?: AuditNote): Promise<GameServer> {
    return this.#servers.create(draft, now, note);
  }

  async findServerByName(name: string): Promise<GameServer | undefined> {
    return this.#directory.findServerByName(name);
  }

  updateServer(
    serverId: string,
    change: Partial<ServerDraft>,
    note?: AuditNote,
  ): Promise<GameServer | undefined> {
    return this.#servers.update(serverId, change, note);
  }

  deleteServer(serverId: string, now: number, note?: AuditNote): Promise<DeletedServer | undefined> {
    return this.#servers.delete(serverId, now, note);
  }

  listServers(page: PageRequest): Promise<Page<GameServer>> {
    return this.#servers.list(page);
  }

  readServerKey(serverId: string): Promise<string | undefined> {
    return this.#servers.readServerKey(serverId);
  }

  createKey(draft: KeyDraft, now: number, note?: AuditNote): Promise<KeyDetails | undefined> {
    return this.#keys.create(draft, now, note);
  }

  findKeyDetails(keyId: string): Promise<KeyDetails | undefined> {
    return this.#keys.findDetails(keyId);
  }

  listKeys(page: PageRequest & { serverId?: string }): Promise<Page<KeyDetails>> {
    return this.#keys.list(page);
  }

  updateKey(keyId: string, change: KeyChange, note?: AuditNote): Promise<KeyDetails | undefined> {
    return this.#keys.update(keyId, change, note);
  }

  rotateKey(
    keyId: string,
    tokenHash: string,
    oldValidUntil: number,
    now: number,
    note?: AuditNote,
  ): Promise<boolean> {
    return this.#keys.rotate(keyId, tokenHash, oldValidUntil, now, note);
  }

  revokeKey(keyId: string, now: number, note?: AuditNote): Promise<boolean> {
    return this.#keys.revoke(keyId, now, note);
  }

  listBlocks(now: number): Promise<readonly Block[]> {
    return this.#limits.listBlocks(now);
  }

  async liftBlock(keyId: string, now: number, note?: AuditNote): Promise<void> {
    const serverId = this.#directory.serverOf(keyId);
    if (!(await this.#limits.isBlocked(keyId, serverId, now))) return;
    // The list and the note in one step; then the block itself, which holds until it is gone too.
    await this.#directory.make({
      steps: [["HDEL", NAMES.blocks, keyId]],
      changed: [],
      audit: note && { target: keyId, note },
    });
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
    await this.#directory.make({ steps: [], changed: [], audit: { target, note } });
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
    await this.#servers.forgetDeletedBefore(audit);
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
    await this.saveSetting("last-health-check", this.#heart.instanceId);
  }

  async *readItems(): AsyncGenerator<PortableItem> {
    for await (const found of this.#servers.readAll()) yield { kind: "server", ...found };
    for await (const found of this.#keys.readAll()) yield { kind: "key", ...found };
    const blocks = await this.listBlocks(this.clock());
    for (const block of blocks.toSorted((a, b) => (a.keyId < b.keyId ? -1 : 1)))
      yield { kind: "block", block };
    for (const serverId of this.#directory.serverIds().sort()) {
      for (const command of await this.commands.listWaiting(serverId)) yield { kind: "command", command };
    }
  }

  async writeItems(items: readonly PortableItem[]): Promise<void> {
    for (const item of items) {
      if (item.kind === "server") await this.#servers.adopt(item.server, item.serverKey);
      else if (item.kind === "key") await this.#keys.adopt(item.key, item.tokens);
      else if (item.kind === "command") await this.commands.adopt(item.command);
      else await this.#limits.adopt(item.block, this.#directory.serverOf(item.block.keyId));
    }
  }

  async countOtherInstances(): Promise<number> {
    await this.#heart.beat();
    return this.#heart.instances - 1;
  }

  async close(): Promise<void> {
    this.relayShare.close();
    await this.#heart.stop();
    this.#link.close();
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
}
