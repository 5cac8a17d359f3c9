// The directory of servers and keys in Redis, cached as a whole in every instance. A change is one script, which also adds to
// the list of changes; the heartbeat of every instance reads that list several times a second.
import { randomBytes } from "node:crypto";
import { StoreUnavailable } from "../../core/errors.ts";
import type { AuditNote } from "../../core/ports/audit.ts";
import type { Log } from "../../core/ports/log.ts";
import { createThrottle } from "../../core/throttle.ts";
import { randomBase62 } from "../../core/token.ts";
import type { Sealer } from "../sealer.ts";
import { DirectoryCache } from "./directory-cache.ts";
import { NAMES } from "./names.ts";
import { type KeyRecord, type ServerRecord, toRevoked } from "./records.ts";
import type { ScriptTimes } from "./redis-clock.ts";
import type { RedisLink, Reply } from "./redis-link.ts";
import { createScript } from "./script.ts";
import changeText from "./scripts/change.lua" with { type: "text" };
import {
  checkSignature,
  parseRevoked,
  parseSigned,
  type SignatureState,
  scanRecords,
  signRecord,
} from "./signed-record.ts";

const CHANGE = createScript(changeText);
/** An instance that has missed more changes than this reads everything again. */
export const VERSIONS_KEPT = 10_000;
const READ_AT_ONCE = 500;
const IGNORED_LOG_MS = 60_000;
const IGNORED =
  "a record in Redis has no valid signature and is ignored: an older version or somebody else has written it";
const CHANGE_ID_LENGTH = 12;
/** Stands in the list of changes for a change that nobody needs to read again. */
const NOTHING = "-";
/** When two operators change the same record at once, the second change is prepared again from what the first has left. */
const ATTEMPTS_MAX = 5;

/** A field of a hash as it was read. The change is made only if the field is unchanged. */
export type Check = readonly [key: string, field: string, expected: string | false];
export type Step = readonly [command: string, key: string, ...rest: (string | number)[]];
export type Change = {
  readonly checks: readonly Check[];
  readonly steps: readonly Step[];
  /** The servers and keys that instances must read again. */
  readonly changed: readonly string[];
  readonly audit?: { readonly target: string; readonly note: AuditNote } | undefined;
};

/** A record with its text, which a change is checked against. */
export type Found<T> = { readonly record: T; readonly text: string };

export type DirectoryParts = {
  readonly link: RedisLink;
  readonly times: ScriptTimes;
  readonly sealer: Sealer;
  readonly log: Log;
};

export type SignedCounts = { readonly servers: number; readonly keys: number; readonly altered: number };

export class Directory {
  readonly cache = new DirectoryCache();
  readonly #link: RedisLink;
  readonly #sealer: Sealer;
  readonly #times: ScriptTimes;
  readonly #log: Log;
  readonly #throttleIgnored = createThrottle(IGNORED_LOG_MS);
  /** What the last load found. */
  #loaded: Record<SignatureState, number> = { signed: 0, unsigned: 0, altered: 0 };
  #version = 0;
  #changeId = "";

  constructor({ link, times, sealer, log }: DirectoryParts) {
    this.#link = link;
    this.#times = times;
    this.#sealer = sealer;
    this.#log = log;
  }

  /** The id of the change that made `version`. */
  get changeId(): string {
    return this.#changeId;
  }

  get version(): number {
    return this.#version;
  }

  /** Whether the last load found records, and none with a signature: an older version has written them. */
  get isUnsigned(): boolean {
    return this.#loaded.signed === 0 && this.#loaded.unsigned > 0;
  }

  /** How many records the last load ignored. */
  get ignored(): number {
    return this.#loaded.unsigned + this.#loaded.altered;
  }

  /** The step that stores a server or a key. */
  stepToStore(name: string, id: string, record: object): Step {
    return ["HSET", name, id, signRecord(this.#sealer, id, record)];
  }

  /** Signs the records of an older version. Those with a wrong signature are counted and left alone. */
  async signRecords(): Promise<SignedCounts> {
    const counts = { servers: 0, keys: 0, altered: 0 };
    for (const name of [NAMES.servers, NAMES.keys]) {
      for await (const pairs of scanRecords(this.#link, name)) {
        const unsigned = pairs.filter(([id, text]) => this.#checkSignature(id, text) === "unsigned");
        counts.altered += pairs.filter(([id, text]) => this.#checkSignature(id, text) === "altered").length;
        counts[name === NAMES.servers ? "servers" : "keys"] += unsigned.length;
        if (unsigned.length > 0) await this.#sign(name, unsigned);
      }
    }
    return counts;
  }

  async #sign(name: string, unsigned: readonly [id: string, text: string][]): Promise<void> {
    const change: Change = {
      checks: unsigned.map(([id, text]) => [name, id, text]),
      steps: unsigned.map(([id, text]) => this.stepToStore(name, id, JSON.parse(text) as object)),
      changed: unsigned.map(([id]) => id),
    };
    if (!(await this.#apply(change))) throw new StoreUnavailable("somebody else is changing the records");
    await this.#readAgain(change.changed);
  }

  /** Reads everything, and drops what is no longer there. */
  async load(): Promise<void> {
    // The version first: what changes during the load is then read again.
    const range = ["ZRANGE", NAMES.changes, 0, 0, "REV", "WITHSCORES"];
    const [newest = "", version = "0"] = (await this.#link.send(NAMES.changes, ...range)) as string[];
    await this.#loadDeleted();
    const seen = new Set<string>();
    this.#loaded = { signed: 0, unsigned: 0, altered: 0 };
    for (const name of [NAMES.servers, NAMES.keys]) {
      for await (const pairs of scanRecords(this.#link, name)) {
        for (const [id, text] of pairs) {
          seen.add(id);
          const state = this.#learn(id, text);
          if (state) this.#loaded[state]++;
        }
      }
    }
    const gone = this.cache.ids().filter((id) => !seen.has(id));
    if (gone.length > 0 && seen.size === 0)
      this.#log.error({ gone: gone.length }, "Redis is empty: the servers and keys that were known are gone");
    for (const id of gone) this.#learn(id, null);
    this.#version = Number(version);
    this.#changeId = newest.split(" ")[1] ?? "";
  }

  /** Reads what others have changed. */
  async catchUp(ids: readonly string[], version: number, changeId: string): Promise<void> {
    await this.#readAgain(ids);
    this.#version = version;
    this.#changeId = changeId;
  }

  /** Servers first, because a key is cached only if its server is. */
  async #readAgain(ids: readonly string[]): Promise<void> {
    const unique = [...new Set(ids)].filter((id) => id !== NOTHING);
    const [serverIds, keyIds] = [unique.filter(isServerId), unique.filter((id) => !isServerId(id))];
    await this.#readAgainFrom(NAMES.servers, serverIds);
    await this.#readAgainFrom(NAMES.keys, keyIds);
  }

  async #readAgainFrom(name: string, ids: readonly string[]): Promise<void> {
    for (let done = 0; done < ids.length; done += READ_AT_ONCE) {
      const batch = ids.slice(done, done + READ_AT_ONCE);
      const texts = (await this.#link.send(name, "HMGET", name, ...batch)) as (string | null)[];
      for (const [index, id] of batch.entries()) this.#learn(id, texts[index] ?? null);
    }
  }

  async readServer(serverId: string): Promise<Found<ServerRecord> | undefined> {
    const [found] = await this.readServers([serverId]);
    return found;
  }

  /** From the cache, and from Redis for a server that is not cached: it may be new, or deleted. */
  async readSealedKey(serverId: string): Promise<string | undefined> {
    return this.cache.sealedKeyOf(serverId) ?? (await this.readServer(serverId))?.record.sealedKey;
  }

  async readKey(keyId: string): Promise<Found<KeyRecord> | undefined> {
    const [found] = await this.readKeys([keyId]);
    return found;
  }

  /** A key of a deleted server reads as revoked, also before its batch was revoked. */
  async readKeys(keyIds: readonly string[]): Promise<Found<KeyRecord>[]> {
    const keys = await this.#readMany<KeyRecord>(NAMES.keys, keyIds);
    const orphans = keys.filter(({ record }) => !record.revokedAt && !this.cache.findServer(record.serverId));
    if (orphans.length === 0) return keys;
    const serverIds = [...new Set(orphans.map(({ record }) => record.serverId))];
    const name = NAMES.deletedServers;
    const times = (await this.#link.send(name, "ZMSCORE", name, ...serverIds)) as (string | null)[];
    const deletedAt = new Map(serverIds.map((serverId, index) => [serverId, times[index] ?? null]));
    return keys.map(({ record, text }) => {
      const time = record.revokedAt === null ? (deletedAt.get(record.serverId) ?? null) : null;
      return { text, record: time === null ? record : toRevoked(record, Number(time)) };
    });
  }

  readServers(serverIds: readonly string[]): Promise<Found<ServerRecord>[]> {
    return this.#readMany<ServerRecord>(NAMES.servers, serverIds);
  }

  /**
   * Makes the change that `prepare` returns; undefined means that there is nothing to do. When another instance has changed
   * the same record meanwhile, the change is prepared again.
   */
  async change<T>(prepare: () => Promise<{ change: Change; result: T } | undefined>): Promise<T | undefined> {
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const prepared = await prepare();
      if (!prepared) return undefined;
      if (await this.#apply(prepared.change)) {
        // The change is made. If reading it back fails, the next heartbeat reads it.
        await this.#readAgain(prepared.change.changed).catch(() => {});
        return prepared.result;
      }
    }
    throw new StoreUnavailable("other instances keep changing the same record");
  }

  /** Makes a change without checks. */
  async write(change: Omit<Change, "checks">): Promise<void> {
    await this.change(async () => ({ change: { ...change, checks: [] }, result: true }));
  }

  /** Adds an entry about the target to the audit log, unless this was done before. */
  async addNoteOnce(
    target: string,
    note: AuditNote,
    now: number,
    times: ReturnType<ScriptTimes>,
  ): Promise<void> {
    const change: Change = {
      checks: [[NAMES.deliveredNotes, target, false]],
      steps: [["HSET", NAMES.deliveredNotes, target, now]],
      changed: [],
      audit: { target, note },
    };
    await this.#apply(change, times);
  }

  async #readMany<T>(name: string, ids: readonly string[]): Promise<Found<T>[]> {
    if (ids.length === 0) return [];
    const replies = (await this.#link.send(name, "HMGET", name, ...ids)) as Reply[];
    const found = replies.map((reply, index) => this.#parse<T>(ids[index] ?? "", reply));
    return found.filter((one) => one !== undefined);
  }

  /** Undefined for a record that is missing, or not signed by an instance with our secret. */
  #parse<T>(id: string, reply: Reply): Found<T> | undefined {
    if (typeof reply !== "string") return undefined;
    const isSigned = checkSignature(this.#sealer, id, reply) === "signed";
    const record = isSigned ? parseSigned<T>(reply) : (parseRevoked(id, reply) as T | undefined);
    if (!record) this.#logIgnored(id);
    return record && { record, text: reply };
  }

  /** Undefined for a revoked key, which needs no signature. */
  #checkSignature(id: string, text: string): SignatureState | undefined {
    const state = checkSignature(this.#sealer, id, text);
    return state !== "signed" && parseRevoked(id, text) ? undefined : state;
  }

  #logIgnored(id: string): void {
    this.#throttleIgnored(performance.now(), (unlogged) => this.#log.warn({ id, unlogged }, IGNORED));
  }

  async #loadDeleted(): Promise<void> {
    const name = NAMES.deletedServers;
    const ids = (await this.#link.send(name, "ZRANGE", name, 0, -1)) as string[];
    this.cache.setDeleted(ids);
  }

  /** False when a check failed: then nothing was changed. */
  async #apply({ checks, steps, changed, audit }: Change, times = this.#times()): Promise<boolean> {
    const fixed = [NAMES.version, NAMES.changes, NAMES.audit];
    const keys = [...new Set([...fixed, ...checks.map(([key]) => key), ...steps.map(([, key]) => key)])];
    const indexOf = (key: string) => keys.indexOf(key) + 1;
    const program = {
      id: randomBase62(CHANGE_ID_LENGTH, randomBytes),
      checks: checks.map(([key, ...rest]) => [indexOf(key), ...rest]),
      steps: steps.map(([command, key, ...rest]) => [command, indexOf(key), ...rest.map(String)]),
      // Every version needs at least one entry in the list of changes.
      changed: changed.length > 0 ? changed : [NOTHING],
      entry: audit ? JSON.stringify(toEntry(audit)) : false,
      kept: VERSIONS_KEPT,
    };
    return (await this.#link.run(CHANGE, keys, [...times, JSON.stringify(program)])) !== 0;
  }

  /** Whether the record is signed; undefined when that does not matter, because there is none or it is revoked. */
  #learn(id: string, text: string | null): SignatureState | undefined {
    const state = text === null ? undefined : this.#checkSignature(id, text);
    if (state === "unsigned" || state === "altered") this.#logIgnored(id);
    const signed = state === "signed" ? text : null;
    if (isServerId(id))
      this.cache.learnServer(id, signed === null ? undefined : parseSigned<ServerRecord>(signed));
    else this.cache.learnKey(id, signed === null ? undefined : parseSigned<KeyRecord>(signed));
    return state;
  }
}

function isServerId(id: string): boolean {
  return id.startsWith("srv_");
}

/** With the fields in the order in which the admin API shows them. */
function toEntry({ target, note }: NonNullable<Change["audit"]>) {
  const { at, action, actor, details } = note;
  return { at, action, actor, target, details };
}
