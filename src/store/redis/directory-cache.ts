// What every instance knows of the servers and keys in Redis, all of it in memory: a request is answered from here.
import { type ApiKey, isExpired, limitExpiry } from "../../core/api-key.ts";
import type { GameServer } from "../../core/game-server.ts";
import type { LinkDraft, SignedInDevice } from "../../core/ports/devices.ts";
import { type DeviceRecord, type KeyRecord, type ServerRecord, toApiKey, toGameServer } from "./records.ts";

/** How many cached keys are checked at a time when those of a deleted server are dropped. */
const CHECKED_AT_ONCE = 2_000;

/** A cached key with the hashes of its tokens, separated by spaces: one text takes less memory than a list. */
type KnownKey = {
  readonly key: ApiKey;
  readonly label: string;
  readonly tokenHashes: string;
  /** Undefined for most keys. */
  readonly devices: readonly DeviceRecord[] | undefined;
  readonly links: readonly LinkDraft[] | undefined;
};

type KnownLink = { readonly key: ApiKey; readonly expiresAt: number };

export class DirectoryCache {
  /** By the hash of each of their tokens. */
  readonly #keys = new Map<string, ApiKey>();
  readonly #devices = new Map<string, SignedInDevice>();
  readonly #devicesBySecret = new Map<string, SignedInDevice>();
  readonly #links = new Map<string, KnownLink>();
  readonly #servers = new Map<string, GameServer>();
  /** The ids of the servers with a public status, by slug. */
  readonly #bySlug = new Map<string, string>();
  readonly #sealedKeys = new Map<string, string>();
  readonly #deleted = new Set<string>();
  /** By key id. */
  readonly #known = new Map<string, KnownKey>();
  /** Goes through all cached keys after a server was deleted. */
  #orphanSearch: Iterator<KnownKey, undefined> | undefined;
  /** Another server was deleted during the search. */
  #isSearchDue = false;
  #keysVersion = 0;

  findKey(tokenHash: string, now: number): ApiKey | undefined {
    const key = this.#keys.get(tokenHash);
    // The keys of a deleted server are dropped in batches, and refused from the beginning.
    const isUsable = key && !isExpired(key, now) && this.#servers.has(key.serverId);
    return isUsable ? key : undefined;
  }

  hasToken(tokenHash: string): boolean {
    return this.#keys.has(tokenHash);
  }

  findDevice(deviceId: string, now: number): SignedInDevice | undefined {
    return this.#ifUsable(this.#devices.get(deviceId), now);
  }

  findDeviceBySecret(secretHash: string, now: number): SignedInDevice | undefined {
    return this.#ifUsable(this.#devicesBySecret.get(secretHash), now);
  }

  /** Also true for a device that has expired and is not forgotten yet. */
  hasDevice(deviceId: string): boolean {
    return this.#devices.has(deviceId);
  }

  findLinkKey(secretHash: string, now: number): ApiKey | undefined {
    return this.#ifUsable(this.#links.get(secretHash), now)?.key;
  }

  #ifUsable<T extends KnownLink>(known: T | undefined, now: number): T | undefined {
    const isUsable =
      known && known.expiresAt > now && !isExpired(known.key, now) && this.#servers.has(known.key.serverId);
    return isUsable ? known : undefined;
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

  findServerBySlug(slug: string): GameServer | undefined {
    return this.#servers.get(this.#bySlug.get(slug) ?? "");
  }

  servers(): Iterable<GameServer> {
    return this.#servers.values();
  }

  serverIds(): string[] {
    return [...this.#servers.keys()];
  }

  /** The recently deleted servers: their commands are still listed. */
  deletedServerIds(): string[] {
    return [...this.#deleted].filter((id) => !this.#servers.has(id));
  }

  forgetDeleted(serverIds: readonly string[]): void {
    for (const id of serverIds) this.#deleted.delete(id);
  }

  /** The server of a key; undefined for a key that cannot be used. */
  serverOf(keyId: string): string | undefined {
    return this.#known.get(keyId)?.key.serverId;
  }

  /** Undefined for a key that cannot be used. */
  labelOf(keyId: string): string | undefined {
    const known = this.#known.get(keyId);
    return known && this.#servers.has(known.key.serverId) ? known.label : undefined;
  }

  sealedKeyOf(serverId: string): string | undefined {
    return this.#sealedKeys.get(serverId);
  }

  /** The ids of all servers and keys. */
  ids(): string[] {
    return [...this.#servers.keys(), ...this.#known.keys()];
  }

  setDeleted(serverIds: readonly string[]): void {
    this.#deleted.clear();
    for (const id of serverIds) this.#deleted.add(id);
  }

  /** Drops cached keys of deleted servers. Checks a bounded number of keys, so that requests do not wait for it. */
  dropOrphans(): void {
    for (let checked = 0; checked < CHECKED_AT_ONCE && this.#orphanSearch; checked++) {
      const { value: known } = this.#orphanSearch.next();
      if (known) {
        if (!this.#servers.has(known.key.serverId)) this.#forgetKey(known);
      } else {
        this.#orphanSearch = this.#isSearchDue ? this.#known.values() : undefined;
        this.#isSearchDue = false;
      }
    }
  }

  /** `record` is undefined when the server is deleted or its record is ignored. */
  learnServer(id: string, record: ServerRecord | undefined): void {
    const slug = this.#servers.get(id)?.publicStatus?.slug ?? "";
    // Another server may have got the slug and may have been read before this one.
    if (this.#bySlug.get(slug) === id) this.#bySlug.delete(slug);
    if (record) {
      const server = toGameServer(record);
      this.#servers.set(id, server);
      if (server.publicStatus) this.#bySlug.set(server.publicStatus.slug, id);
      this.#sealedKeys.set(id, record.sealedKey);
      return;
    }
    this.#deleted.add(id);
    this.#sealedKeys.delete(id);
    if (!this.#servers.delete(id)) return;
    // Its keys are refused from now on, so callers must not use earlier lookups any more.
    this.#keysVersion++;
    this.#isSearchDue = this.#orphanSearch !== undefined;
    this.#orphanSearch ??= this.#known.values();
  }

  /** `record` is undefined when the key is deleted or its record is ignored. */
  learnKey(id: string, record: KeyRecord | undefined): void {
    const known = this.#known.get(id);
    if (known) {
      this.#forgetKey(known);
      this.#keysVersion++;
    }
    // A key without its server cannot be used. If the server is new, the next catch-up reads both.
    const server = record && this.#servers.get(record.serverId);
    if (!server || record.revokedAt !== null) return;
    // All keys of a server share one copy of its id: there may be a hundred thousand keys.
    const key = toApiKey(record, server.serverId);
    const tokenHashes = record.tokens.map(({ tokenHash }) => tokenHash).join(" ");
    const { label, devices, links } = record;
    this.#known.set(key.keyId, { key, label, tokenHashes, devices, links });
    for (const { tokenHash, validUntil } of record.tokens)
      this.#keys.set(tokenHash, limitExpiry(key, validUntil));
    for (const { deviceId, secretHash, expiresAt } of devices ?? []) {
      const device = { deviceId, expiresAt, key };
      this.#devices.set(deviceId, device);
      this.#devicesBySecret.set(secretHash, device);
    }
    for (const { secretHash, expiresAt } of links ?? []) this.#links.set(secretHash, { key, expiresAt });
  }

  #forgetKey({ key, tokenHashes, devices, links }: KnownKey): void {
    for (const tokenHash of tokenHashes.split(" ")) this.#keys.delete(tokenHash);
    for (const { deviceId, secretHash } of devices ?? []) {
      this.#devices.delete(deviceId);
      this.#devicesBySecret.delete(secretHash);
    }
    for (const { secretHash } of links ?? []) this.#links.delete(secretHash);
    this.#known.delete(key.keyId);
  }
}
