// The store that several instances share: Redis or Valkey. Every instance caches all servers and keys, Redis counts the
// limits, and its clock is the clock of all instances.
import { randomBytes } from "node:crypto";
import { NotReadyToStart, StartRefused } from "../../core/errors.ts";
import type { Clock } from "../../core/ports/clock.ts";
import type { Log } from "../../core/ports/log.ts";
import type { PortableItem, PortableStore } from "../../core/ports/portable-store.ts";
import type { TidyTimes } from "../../core/ports/store.ts";
import { findFaultWords } from "../../core/system-faults.ts";
import { randomBase62 } from "../../core/token.ts";
import type { Sealer } from "../sealer.ts";
import { AuditLog } from "./audit-log.ts";
import { AuditOutbox } from "./audit-outbox.ts";
import { listDurabilityProblems } from "./check-durability.ts";
import { RedisCommandQueue } from "./command-queue.ts";
import { DeviceTable } from "./device-table.ts";
import { Directory, type SignedCounts } from "./directory.ts";
import { Heartbeat } from "./heartbeat.ts";
import { RedisInstanceLease } from "./instance-lease.ts";
import { KeyTable } from "./key-table.ts";
import { NAMES } from "./names.ts";
import { RedisClock } from "./redis-clock.ts";
import { REPLY_DEADLINE_MS, type RedisAddress, RedisLink } from "./redis-link.ts";
import { RedisRelayShare } from "./relay-share.ts";
import { ServerTable } from "./server-table.ts";
import { SettingsTable } from "./settings-table.ts";
import { SharedLimits } from "./shared-limits.ts";
import { UsageTable } from "./usage-table.ts";

const LEASE_TOKEN_LENGTH = 20;
/** Errors that no retry can solve: wrong password, user or database, or an untrusted certificate. */
const PERMANENT_ERRORS = /^(WRONGPASS|NOAUTH|NOPERM|ERR) |certificate/;

const UNSIGNED =
  "the servers and keys in this Redis have no signatures, because an older version of Gatehouse has written them — " +
  "stop all instances, run `gatehouse sign-records` once, and start again";

export type RedisStoreSettings = {
  readonly address: RedisAddress;
  readonly sealer: Sealer;
  readonly log: Log;
  /** How long an instance may take to send a command it has claimed. */
  readonly commandLeaseMs: number;
  /** The deadline of a reply of Redis, when it is not the one for requests. */
  readonly replyDeadlineMs?: number;
  /** Starts although no record is signed, in order to sign them. */
  readonly signsRecords?: boolean;
  /** Replaces Redis's clock in tests. */
  readonly clock?: Clock;
};

/** Refuses to start when Redis does not answer, or when its contents were encrypted with another secret. */
export async function openRedisStore(settings: RedisStoreSettings): Promise<RedisStore> {
  let link: RedisLink | undefined;
  try {
    link = await RedisLink.open(settings.address, settings.log, settings.replyDeadlineMs);
    const store = new RedisStore(link, settings);
    await store.start();
    return store;
  } catch (error) {
    link?.close();
    if (error instanceof StartRefused) throw error;
    const message = error instanceof Error ? error.message : String(error);
    const reason = findFaultWords(error) ?? message;
    const Failure = PERMANENT_ERRORS.test(message) ? StartRefused : NotReadyToStart;
    throw new Failure(`GATEHOUSE_STORE cannot be used: ${reason} — check that Redis runs, and its address`);
  }
}

export class RedisStore implements PortableStore {
  readonly servers: ServerTable;
  readonly keys: KeyTable;
  readonly devices: DeviceTable;
  readonly limits: SharedLimits;
  readonly usage: UsageTable;
  readonly audit: AuditLog;
  readonly settings: SettingsTable;
  readonly commands: RedisCommandQueue;
  /** What the instances share about the game API. */
  readonly relayShare: RedisRelayShare;
  /** One of the instances watches for all. */
  readonly watchLease: RedisInstanceLease;
  /** One of the instances delivers to webhooks for all. */
  readonly deliveryLease: RedisInstanceLease;
  /** An estimate of Redis's clock. */
  readonly clock: Clock;
  readonly #link: RedisLink;
  readonly #sealer: Sealer;
  readonly #directory: Directory;
  readonly #heartbeat: Heartbeat;
  readonly #signsRecords: boolean;

  constructor(link: RedisLink, settings: RedisStoreSettings) {
    const { sealer, log, commandLeaseMs, replyDeadlineMs = REPLY_DEADLINE_MS, clock: ownClock } = settings;
    const clock = new RedisClock(replyDeadlineMs, ownClock);
    const { times } = clock;
    const directory = new Directory({ link, times, sealer, log });
    const limits = new SharedLimits({ link, times, directory, countInstances: () => this.instances, log });
    const usage = new UsageTable(link, directory, times);
    const commands = new RedisCommandQueue({
      link,
      leaseMs: commandLeaseMs,
      listServerIds: () => [...directory.cache.serverIds(), ...directory.cache.deletedServerIds()],
      outbox: new AuditOutbox(link, directory, clock),
      times,
    });
    const keys = new KeyTable({ link, directory, limits, usage, catchUp: () => this.#heartbeat.catchUp() });
    this.servers = new ServerTable({ link, times, directory, sealer, limits, commands });
    this.keys = keys;
    this.devices = new DeviceTable({ link, directory, catchUp: () => this.#heartbeat.catchUp() });
    this.limits = limits;
    this.usage = usage;
    this.audit = new AuditLog(link, times);
    this.settings = new SettingsTable(link, directory);
    this.commands = commands;
    const makeToken = () => randomBase62(LEASE_TOKEN_LENGTH, randomBytes);
    this.relayShare = new RedisRelayShare({ link, times, makeToken, sealer, log });
    this.watchLease = new RedisInstanceLease(link, times, NAMES.watchLease, makeToken());
    this.deliveryLease = new RedisInstanceLease(link, times, NAMES.deliveryLease, makeToken());
    this.clock = clock.now;
    this.#link = link;
    this.#sealer = sealer;
    this.#directory = directory;
    this.#signsRecords = settings.signsRecords ?? false;
    this.#heartbeat = new Heartbeat({ link, clock, directory, limits, commands, log });
    link.renewDeadline = async () => {
      await this.#heartbeat.catchUp();
      return times()[1];
    };
  }

  /** One sentence for each setting of Redis that can lose data. */
  listDurabilityProblems(): Promise<string[]> {
    return listDurabilityProblems(this.#link);
  }

  /** Signs the servers and keys that an older version has written. */
  signRecords(): Promise<SignedCounts> {
    return this.#directory.signRecords();
  }

  get isReachable(): boolean {
    return this.#link.isUp;
  }

  /** How many instances shared this store at the last heartbeat. */
  get instances(): number {
    return this.#heartbeat.instances;
  }

  async start(): Promise<void> {
    await this.settings.checkSecret(this.#sealer);
    await this.#directory.load();
    if (this.#directory.isUnsigned && !this.#signsRecords) throw new StartRefused(UNSIGNED);
    await this.limits.load(this.clock());
    await this.#heartbeat.start();
  }

  async tidy({ now, usage, audit, commands }: TidyTimes): Promise<void> {
    await this.limits.tidy(now);
    await this.devices.forgetUses(now);
    await this.usage.forgetBefore(usage);
    await this.commands.forgetBefore(commands, now);
    await this.servers.forgetDeletedBefore(audit);
    await this.audit.forgetBefore(audit, now);
    // Last: it fails while the cluster node of such a server is down.
    await this.servers.finishDeletions(now);
  }

  async checkHealth(): Promise<void> {
    await this.settings.save("last-health-check", this.#heartbeat.instanceId);
  }

  async *readItems(): AsyncGenerator<PortableItem> {
    for await (const found of this.servers.readAll()) yield { kind: "server", ...found };
    for await (const found of this.keys.readAll(this.clock())) yield { kind: "key", ...found };
    const blocks = await this.limits.listBlocks(this.clock());
    for (const block of blocks.toSorted((a, b) => (a.keyId < b.keyId ? -1 : 1)))
      yield { kind: "block", block };
    for (const serverId of this.#directory.cache.serverIds().sort()) {
      for (const command of await this.commands.listWaiting(serverId)) yield { kind: "command", command };
    }
  }

  async writeItems(items: readonly PortableItem[]): Promise<void> {
    for (const item of items) {
      if (item.kind === "server") await this.servers.adopt(item.server, item.serverKey);
      else if (item.kind === "key") await this.keys.adopt(item.key, item.tokens, item.devices);
      else if (item.kind === "command") await this.commands.adopt(item.command);
      else await this.limits.adopt(item.block, this.#directory.cache.serverOf(item.block.keyId));
    }
  }

  countIgnored(): number {
    return this.#directory.ignored;
  }

  async countOtherInstances(): Promise<number> {
    await this.#heartbeat.beat();
    return this.#heartbeat.instances - 1;
  }

  async close(): Promise<void> {
    this.relayShare.close();
    await this.#heartbeat.stop();
    this.#link.close();
  }
}
