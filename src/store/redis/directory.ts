// Servers and keys: kept in Redis, and known by heart in every instance. A change is one script, which also tells the other
// instances what to read again; their heartbeat asks for that several times a second.
import { randomBytes } from "node:crypto";
import { type ApiKey, isExpired, limitExpiry } from "../../core/api-key.ts";
import { StoreUnavailable } from "../../core/errors.ts";
import type { GameServer } from "../../core/game-server.ts";
import type { AuditNote } from "../../core/ports/audit.ts";
import type { Log } from "../../core/ports/log.ts";
import { randomBase62 } from "../../core/token.ts";
import { NAMES } from "./names.ts";
import { type KeyRecord, type ServerRecord, toApiKey, toGameServer } from "./records.ts";
import type { ScriptTimes } from "./redis-clock.ts";
import type { RedisLink, Reply } from "./redis-link.ts";
import { createScript } from "./script.ts";
import changeText from "./scripts/change.lua" with { type: "text" };

const CHANGE = createScript(changeText);
/** Whoever has missed more changes than this reads everything again. */
export const VERSIONS_KEPT = 10_000;
const READ_AT_ONCE = 500;
const CHANGE_ID_LENGTH = 12;
const NOTHING = "-";
/** Two operators who change the same thing at once: one of them is tried again with what the other has left. */
const TRIES_MAX = 5;

/** A value of a hash as it was read; a change is only made while it is still so. */
type Check = readonly [key: string, field: string, expected: string | false];
type Step = readonly [command: string, key: string, ...rest: (string | number)[]];
export type Change = {
  readonly checks: readonly Check[];
  readonly steps: readonly Step[];
  /** The servers and keys that others must read again. */
  readonly changed: readonly string[];
  readonly audit?: { readonly target: string; readonly note: AuditNote } | undefined;
};

/** A record with its text, which a change is checked against. */
export type Found<T> = { readonly record: T; readonly text: string };

export class Directory {
  readonly #link: RedisLink;
  readonly #times: ScriptTimes;
  /** By the hash of each token that leads to them. */
  readonly #keys = new Map<string, ApiKey>();
  readonly #servers = new Map<string, GameServer>();
  readonly #log: Log;
  readonly #sealedKeys = new Map<string, string>();
  readonly #deleted = new Set<string>();
  /** What of each key is in `#keys`, so that it can be taken out again: the hashes of its tokens in one text, mostly of one. */
  readonly #known = new Map<string, { readonly key: ApiKey; readonly tokenHashes: string }>();
  #keysVersion = 0;
  #version = 0;
  #changeId = "";

  constructor(link: RedisLink, times: ScriptTimes, log: Log) {
    this.#link = link;
    this.#times = times;
    this.#log = log;
  }

  /** The change that made the version which is known here. */
  get changeId(): string {
    return this.#changeId;
  }

  get version(): number {
    return this.#version;
  }

  findKey(tokenHash: string, now: number): ApiKey | undefined {
    const key = this.#keys.get(tokenHash);
    return key && !isExpired(key, now) ? key : undefined;
  }

  hasToken(tokenHash: string): boolean {
    return this.#keys.has(tokenHash);
  }

  get keysVersion(): number {
    return this.#keysVersion;
  }

  findServer(serverId: string): GameServer | undefined {
    return this.#servers.get(serverId);
  }

  findServerByName(name: string): GameServer | undefined {
    return this.#servers.values().find((server) => server.name === name);
  }

  serverIds(): string[] {
    return [...this.#servers.keys()];
  }

  /** Those that were deleted as long ago as that is remembered: their commands are still told of. */
  deletedServerIds(): string[] {
    return [...this.#deleted].filter((id) => !this.#servers.has(id));
  }

  forgetDeleted(serverIds: readonly string[]): void {
    for (const id of serverIds) this.#deleted.delete(id);
  }

  /** The server that a key belongs to; undefined for keys that cannot be used. */
  serverOf(keyId: string): string | undefined {
    return this.#known.get(keyId)?.key.serverId;
  }

  /** Reads everything. What was known and is no longer there is forgotten. */
  async load(): Promise<void> {
    // Noted first: what changes while we read will be read again.
    const range = ["ZRANGE", NAMES.changes, 0, 0, "REV", "WITHSCORES"];
    const [newest = "", version = "0"] = (await this.#link.send(NAMES.changes, ...range)) as string[];
    await this.#loadDeleted();
    const seen = new Set<string>();
    for (const name of [NAMES.servers, NAMES.keys]) {
      let cursor = "0";
      do {
        const reply = await this.#link.send(name, "HSCAN", name, cursor, "COUNT", READ_AT_ONCE);
        const [next, pairs] = reply as [string, string[]];
        for (let i = 0; i < pairs.length; i += 2) {
          seen.add(pairs[i] ?? "");
          this.#learn(pairs[i] ?? "", pairs[i + 1] ?? null);
        }
        cursor = next;
      } while (cursor !== "0");
    }
    const gone = [...this.#servers.keys(), ...this.#known.keys()].filter((id) => !seen.has(id));
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

  async #readAgain(ids: readonly string[]): Promise<void> {
    const unique = [...new Set(ids)].filter((id) => id !== NOTHING);
    for (let done = 0; done < unique.length; done += READ_AT_ONCE) {
      const some = unique.slice(done, done + READ_AT_ONCE);
      await Promise.all(
        some.map(async (id) => {
          const name = id.startsWith("srv_") ? NAMES.servers : NAMES.keys;
          this.#learn(id, (await this.#link.send(name, "HGET", name, id)) as string | null);
        }),
      );
    }
  }

  async readServer(serverId: string): Promise<Found<ServerRecord> | undefined> {
    return parseRecord<ServerRecord>(await this.#link.send(NAMES.servers, "HGET", NAMES.servers, serverId));
  }

  /** From memory, where it is as new as the server itself; a server that is not known here may be new, or gone. */
  async readSealedKey(serverId: string): Promise<string | undefined> {
    return this.#sealedKeys.get(serverId) ?? (await this.readServer(serverId))?.record.sealedKey;
  }

  async readKey(keyId: string): Promise<Found<KeyRecord> | undefined> {
    return parseRecord<KeyRecord>(await this.#link.send(NAMES.keys, "HGET", NAMES.keys, keyId));
  }

  readKeys(keyIds: readonly string[]): Promise<Found<KeyRecord>[]> {
    return this.#readMany<KeyRecord>(NAMES.keys, keyIds);
  }

  readServers(serverIds: readonly string[]): Promise<Found<ServerRecord>[]> {
    return this.#readMany<ServerRecord>(NAMES.servers, serverIds);
  }

  /**
   * Makes a change that `prepare` works out from what it reads; undefined from it means that there is nothing to do.
   * Prepared anew when somebody else was faster.
   */
  async change<T>(prepare: () => Promise<{ change: Change; result: T } | undefined>): Promise<T | undefined> {
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      const prepared = await prepare();
      if (!prepared) return undefined;
      if (await this.#apply(prepared.change)) {
        // It is made. Should it not be readable now, the next heartbeat brings it.
        await this.#readAgain(prepared.change.changed).catch(() => {});
        return prepared.result;
      }
    }
    throw new StoreUnavailable("others change the same thing all the time");
  }

  /** Makes a change that does not depend on what is there. */
  async make(change: Omit<Change, "checks">): Promise<void> {
    await this.change(async () => ({ change: { ...change, checks: [] }, result: true }));
  }

  async #readMany<T>(name: string, ids: readonly string[]): Promise<Found<T>[]> {
    if (ids.length === 0) return [];
    const replies = (await this.#link.send(name, "HMGET", name, ...ids)) as Reply[];
    return replies.map((reply) => parseRecord<T>(reply)).filter((found) => found !== undefined);
  }

  async #loadDeleted(): Promise<void> {
    const name = NAMES.deletedServers;
    const ids = (await this.#link.send(name, "ZRANGE", name, 0, -1)) as string[];
    this.#deleted.clear();
    for (const id of ids) this.#deleted.add(id);
  }

  async #apply({ checks, steps, changed, audit }: Change): Promise<boolean> {
    const fixed = [NAMES.version, NAMES.changes, NAMES.audit];
    const keys = [...new Set([...fixed, ...checks.map(([key]) => key), ...steps.map(([, key]) => key)])];
    const indexOf = (key: string) => keys.indexOf(key) + 1;
    const program = {
      id: randomBase62(CHANGE_ID_LENGTH, randomBytes),
      checks: checks.map(([key, ...rest]) => [indexOf(key), ...rest]),
      steps: steps.map(([command, key, ...rest]) => [command, indexOf(key), ...rest.map(String)]),
      // A change that nobody needs to read again is one of the history all the same.
      changed: changed.length > 0 ? changed : [NOTHING],
      entry: audit ? JSON.stringify(toEntry(audit)) : false,
      kept: VERSIONS_KEPT,
    };
    return (await this.#link.run(CHANGE, keys, [...this.#times(), JSON.stringify(program)])) !== 0;
  }

  #learn(id: string, text: string | null): void {
    if (id.startsWith("srv_")) {
      const record = text === null ? undefined : (JSON.parse(text) as ServerRecord);
      if (record) this.#servers.set(id, toGameServer(record));
      else this.#servers.delete(id);
      if (record) this.#sealedKeys.set(id, record.sealedKey);
      else this.#sealedKeys.delete(id);
      if (!record) this.#deleted.add(id);
      return;
    }
    const known = this.#known.get(id);
    if (known) {
      for (const tokenHash of known.tokenHashes.split(" ")) this.#keys.delete(tokenHash);
      this.#known.delete(id);
      this.#keysVersion++;
    }
    const record = text === null ? undefined : (JSON.parse(text) as KeyRecord);
    if (!record || record.revokedAt !== null) return;
    // With the server's own spelling of its id: a hundred thousand keys need not each keep a copy.
    const key = toApiKey(record, this.#servers.get(record.serverId)?.serverId ?? record.serverId);
    const tokenHashes = record.tokens.map(({ tokenHash }) => tokenHash).join(" ");
    this.#known.set(key.keyId, { key, tokenHashes });
    for (const { tokenHash, validUntil } of record.tokens)
      this.#keys.set(tokenHash, limitExpiry(key, validUntil));
  }
}

function parseRecord<T>(reply: Reply): Found<T> | undefined {
  return typeof reply === "string" ? { record: JSON.parse(reply) as T, text: reply } : undefined;
}

/** In the order in which an entry is told. */
function toEntry({ target, note }: NonNullable<Change["audit"]>) {
  const { at, action, actor, details } = note;
  return { at, action, actor, target, details };
}
