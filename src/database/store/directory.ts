// What requests need of servers, people, roles, keys and blocks: all of them are in memory, of keys those in use, and only
// with a remote database. The version in the database tells when they are out of date.
import type { GameServer } from "../../core/game-server.ts";
import type { ApiKey } from "../../core/keys/api-key.ts";
import type { MaybePromise } from "../../core/maybe-promise.ts";
import type { Person } from "../../core/people/person.ts";
import type { Role } from "../../core/people/role.ts";
import type { Driver, Sql, Value } from "../sql.ts";
import {
  API_KEY_COLUMNS,
  type ApiKeyRow,
  type PersonRow,
  type RoleRow,
  type ServerRoleRow,
  type ServerRow,
  toApiKey,
  toGameServer,
  toPerson,
  toRole,
  toServerRoles,
} from "./rows.ts";

/** More keys than these are not remembered; the oldest are looked up again. */
const KEYS_MAX = 200_000;
/** So many versions are listed with what they have changed. An instance that knows an older one reads everything. */
export const VERSIONS_KEPT = 10_000;
/** Lookups and changes are read in lists of this length. */
const LIST_MAX = 1_000;
/** Changed roles are listed under their names with this before them. */
const ROLE_ID = "role_";

type TokenRow = ApiKeyRow & { token_hash: string; valid_until: number | null };
type BlockRow = { key_id: string; blocked_until: number };

/** A token in use. `validUntil` is null for the current token of its key. */
export type KnownToken = { readonly key: ApiKey; readonly validUntil: number | null };

/** The rows of some ids as they are at a version. What has no row is gone. */
export type News = {
  readonly version: number;
  /** Null: all there are. */
  readonly ids: readonly string[] | null;
  readonly servers: readonly GameServer[];
  readonly people: readonly Person[];
  readonly roles: readonly Role[];
  readonly blocks: readonly BlockRow[];
  readonly tokens: readonly TokenRow[];
};

export type DirectoryDeps = {
  readonly driver: Driver;
  /** Of a database in this process: a token is read at once. Otherwise tokens in use are kept in memory. */
  readonly getNow?: (<T>(text: string, ...values: readonly Value[]) => T | undefined) | undefined;
};

export class Directory {
  readonly #servers = new Map<string, GameServer>();
  /** The ids of the servers with a public status, by slug. */
  readonly #bySlug = new Map<string, string>();
  readonly #people = new Map<string, Person>();
  readonly #byChatId = new Map<string, Person>();
  readonly #roles = new Map<string, Role>();
  readonly #blocks = new Map<string, number>();
  readonly #tokens = new Map<string, KnownToken>();
  /** The hashes of the known tokens of a key. */
  readonly #tokensOf = new Map<string, Set<string>>();
  /** Lookups that wait for the next query. */
  #waiting = new Map<string, PromiseWithResolvers<KnownToken | undefined>>();
  readonly #listeners: ((ids: readonly string[] | null) => void)[] = [];
  /** Everything up to this version is known. */
  #version = -1;
  /** The newest version of which something is known: the last change of this instance. */
  #newest = -1;
  #keysVersion = 0;
  #catchingUp: Promise<void> | undefined;

  constructor(private readonly deps: DirectoryDeps) {}

  get version(): number {
    return this.#version;
  }

  /** Changes whenever a key, session, person, role or server changes that a request may have been judged by. */
  get keysVersion(): number {
    return this.#keysVersion;
  }

  get servers(): ReadonlyMap<string, GameServer> {
    return this.#servers;
  }

  get people(): ReadonlyMap<string, Person> {
    return this.#people;
  }

  get roles(): ReadonlyMap<string, Role> {
    return this.#roles;
  }

  get blocks(): ReadonlyMap<string, number> {
    return this.#blocks;
  }

  findBySlug(slug: string): GameServer | undefined {
    const serverId = this.#bySlug.get(slug);
    return serverId === undefined ? undefined : this.#servers.get(serverId);
  }

  findByChatId(chatId: string): Person | undefined {
    return this.#byChatId.get(chatId);
  }

  /** Whether both the person and the server exist. */
  isKnown({ personId, serverId }: { readonly personId: string; readonly serverId: string }): boolean {
    return this.#people.has(personId) && this.#servers.has(serverId);
  }

  /** Called with the ids that have changed; null: any may have. */
  onChange(listener: (ids: readonly string[] | null) => void): void {
    this.#listeners.push(listener);
  }

  /** The token, at once if it can be. All lookups of one turn of the event loop share a query. */
  findToken(tokenHash: string): MaybePromise<KnownToken | undefined> {
    const { getNow } = this.deps;
    if (getNow) {
      const row = getNow<TokenRow>(SELECT_TOKEN, tokenHash);
      return row && this.#toToken(row);
    }
    const known = this.#tokens.get(tokenHash);
    if (known) return known;
    const waiting = this.#waiting.get(tokenHash);
    if (waiting) return waiting.promise;
    if (this.#waiting.size === 0) setImmediate(() => this.#lookUpWaiting());
    const lookup = Promise.withResolvers<KnownToken | undefined>();
    this.#waiting.set(tokenHash, lookup);
    return lookup.promise;
  }

  /** Reads everything that requests need at once. Throws StoreUnavailable. */
  async load(): Promise<void> {
    await this.catchUp();
  }

  /** Resolves when every change that was committed before this call is known. Throws StoreUnavailable. */
  async catchUp(): Promise<void> {
    // One that is under way may have read before the change.
    await this.#catchingUp?.catch(() => {});
    this.#catchingUp ??= this.#catchUpNow().finally(() => {
      this.#catchingUp = undefined;
    });
    await this.#catchingUp;
  }

  /** The database was away and may be another one now, such as a replica that missed the last changes: all is read again. */
  distrust(): void {
    this.#version = -1;
  }

  /** Reads the rows of these ids within the transaction that has changed them. */
  async read(sql: Sql, version: number, ids: readonly string[] | null): Promise<News> {
    const serverIds = ids?.filter((id) => id.startsWith("srv_"));
    const personIds = ids?.filter((id) => id.startsWith("per_") && !isCallerId(id));
    const roleNames = ids?.filter((id) => id.startsWith(ROLE_ID)).map((id) => id.slice(ROLE_ID.length));
    const callerIds = ids?.filter((id) => id.startsWith("key_") || isCallerId(id));
    const knownKeys = ids ? ids.filter((id) => this.#tokensOf.has(id)) : [...this.#tokensOf.keys()];
    const [servers, people, serverRoles, roles, blocks, tokens] = await Promise.all([
      readAmong<ServerRow>(sql, "SELECT * FROM servers", "server_id", serverIds),
      readAmong<PersonRow>(sql, "SELECT * FROM people", "person_id", personIds),
      readAmong<ServerRoleRow>(sql, "SELECT * FROM person_servers", "person_id", personIds),
      readAmong<RoleRow>(sql, "SELECT * FROM roles", "name", roleNames),
      readAmong<BlockRow>(sql, "SELECT key_id, blocked_until FROM blocks", "key_id", callerIds),
      readAmong<TokenRow>(sql, SELECT_TOKENS, "tokens.key_id", knownKeys),
    ]);
    const rolesOf = toServerRoles(serverRoles);
    return {
      version,
      ids,
      servers: servers.map(toGameServer),
      people: people.map((row) => toPerson(row, rolesOf)),
      roles: roles.map(toRole),
      blocks,
      tokens,
    };
  }

  /** A block that is in the database already. */
  setBlock(keyId: string, blockedUntil: number): void {
    this.#blocks.set(keyId, blockedUntil);
  }

  /** Takes over what this instance has changed, after the commit. */
  applyOwn(news: News): void {
    // The answer of the commit came late, and what others have changed since is known.
    if (news.version <= this.#version) return;
    this.#apply(news);
    this.#newest = Math.max(this.#newest, news.version);
    if (news.version === this.#version + 1) this.#version = news.version;
  }

  async #catchUpNow(): Promise<void> {
    const news = await this.deps.driver.snapshot(async (sql) => {
      const row = await sql.get<{ version: number }>("SELECT version FROM directory");
      const version = row?.version ?? 0;
      // A version that went back is of another database: one that was restored or replaced.
      if (version === this.#version) return undefined;
      const isListed = version > this.#version && version - this.#version <= VERSIONS_KEPT && this.#version >= 0;
      return this.read(sql, version, isListed ? await this.#listChanged(sql) : null);
    });
    if (!news) return;
    // This instance has changed something since the snapshot: read again, so that nothing old is taken over.
    if (news.ids !== null && news.version < this.#newest) return this.#catchUpNow();
    this.#apply(news);
    this.#version = news.version;
    this.#newest = news.version;
  }

  async #listChanged(sql: Sql): Promise<readonly string[]> {
    const query = "SELECT DISTINCT id FROM changes WHERE version > ?1";
    return (await sql.all<{ id: string }>(query, this.#version)).map(({ id }) => id);
  }

  #apply({ ids, servers, people, roles, blocks, tokens }: News): void {
    for (const id of ids ?? this.#listKnown()) this.#forget(id);
    for (const server of servers) this.#addServer(server);
    for (const person of people) this.#addPerson(person);
    for (const role of roles) this.#roles.set(role.name, role);
    for (const { key_id, blocked_until } of blocks) this.#blocks.set(key_id, blocked_until);
    for (const row of tokens) this.#addToken(row);
    this.#keysVersion++;
    for (const listener of this.#listeners) listener(ids);
  }

  #listKnown(): string[] {
    const known = [this.#servers, this.#people, this.#blocks, this.#tokensOf].flatMap((map) => [...map.keys()]);
    return [...known, ...Array.from(this.#roles.keys(), roleIdOf)];
  }

  #forget(id: string): void {
    if (id.startsWith(ROLE_ID)) this.#roles.delete(id.slice(ROLE_ID.length));
    const chatId = this.#people.get(id)?.chatId;
    if (chatId) this.#byChatId.delete(chatId);
    this.#people.delete(id);
    const slug = this.#servers.get(id)?.publicStatus?.slug;
    if (slug !== undefined) this.#bySlug.delete(slug);
    this.#servers.delete(id);
    this.#blocks.delete(id);
    for (const tokenHash of this.#tokensOf.get(id) ?? []) this.#tokens.delete(tokenHash);
    this.#tokensOf.delete(id);
  }

  #addServer(server: GameServer): void {
    this.#servers.set(server.serverId, server);
    if (server.publicStatus) this.#bySlug.set(server.publicStatus.slug, server.serverId);
  }

  #addPerson(person: Person): void {
    this.#people.set(person.personId, person);
    if (person.chatId !== null) this.#byChatId.set(person.chatId, person);
  }

  #toToken(row: TokenRow): KnownToken {
    // All keys of a server share one string of its id, to save memory.
    const serverId = this.#servers.get(row.server_id)?.serverId ?? row.server_id;
    return { key: toApiKey(row, serverId), validUntil: row.valid_until };
  }

  #addToken(row: TokenRow): KnownToken {
    const known = this.#toToken(row);
    if (this.#tokens.size >= KEYS_MAX) this.#forgetOldest();
    this.#tokens.set(row.token_hash, known);
    const hashes = this.#tokensOf.get(row.key_id);
    if (hashes) hashes.add(row.token_hash);
    else this.#tokensOf.set(row.key_id, new Set([row.token_hash]));
    return known;
  }

  #forgetOldest(): void {
    for (const { key } of this.#tokens.values()) {
      for (const tokenHash of this.#tokensOf.get(key.keyId) ?? []) this.#tokens.delete(tokenHash);
      this.#tokensOf.delete(key.keyId);
      return;
    }
  }

  #lookUpWaiting(): void {
    const waiting = [...this.#waiting];
    this.#waiting = new Map();
    for (let from = 0; from < waiting.length; from += LIST_MAX) void this.#lookUp(waiting.slice(from, from + LIST_MAX));
  }

  async #lookUp(lookups: readonly (readonly [string, PromiseWithResolvers<KnownToken | undefined>])[]): Promise<void> {
    const hashes = lookups.map(([tokenHash]) => tokenHash);
    try {
      const found = await this.#readTokens(hashes);
      for (const [tokenHash, { resolve }] of lookups) resolve(found.get(tokenHash));
    } catch (error) {
      for (const [, { reject }] of lookups) reject(error);
    }
  }

  async #readTokens(hashes: readonly string[]): Promise<ReadonlyMap<string, KnownToken>> {
    const rows = await this.deps.driver.query((sql) =>
      readAmong<TokenRow & { version: number }>(
        sql,
        SELECT_TOKENS.replace("FROM", ", (SELECT version FROM directory) AS version FROM"),
        "token_hash",
        hashes,
      ),
    );
    // The rows are newer or older than what is known: another one may have made the key's server, or changed the key since.
    if (rows.some(({ version }) => version !== this.#version || version < this.#newest)) {
      await this.catchUp();
      return this.#readTokens(hashes);
    }
    return new Map(rows.map((row) => [row.token_hash, this.#addToken(row)]));
  }
}

/** The id under which the change of a role is listed. */
export function roleIdOf(name: string): string {
  return ROLE_ID + name;
}

/** That of a person on a server, see `callerIdOf`. */
function isCallerId(id: string): boolean {
  return id.includes("@");
}

const SELECT_TOKENS = `SELECT token_hash, valid_until, ${API_KEY_COLUMNS} FROM tokens JOIN keys USING (key_id)`;

const SELECT_TOKEN = `${SELECT_TOKENS} WHERE token_hash = ?1`;

/** All rows when no values are given. */
async function readAmong<T>(
  sql: Sql,
  select: string,
  column: string,
  values: readonly string[] | undefined,
): Promise<T[]> {
  if (!values) return sql.all<T>(select);
  if (values.length === 0) return [];
  return sql.all<T>(`${select} WHERE ${sql.dialect.isAmong(column, "?1", "text")}`, JSON.stringify(values));
}
