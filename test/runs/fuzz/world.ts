// The servers, keys and other things that fuzzed requests are about. Destructive requests get only things that the run itself
// has made and can lose; what is made is deleted again, so that nothing grows without end.
import type { Random } from "../../../src/simulator/random.ts";
import { PNG_HEADER } from "../../journeys/openapi-stage.ts";
import type { ReadAnswer } from "../../journeys/openapi-witness.ts";
import type { HookSigner } from "../../signed-hooks.ts";
import { letters } from "./values.ts";

/** Part of every server key and of the master key, so that a leak is found by looking for one text. */
export const SECRET_MARK = "Zq9FuzzSecretZq9";
export const MASTER_KEY = `master-${SECRET_MARK}-0123456789abcdef`;
export const HOMES = 6;
const COMMUNITY = "cedar";
/** Below the limit of 120, because requests are also made with keys that were mutated. */
const REQUESTS_PER_KEY = 110;
const WINDOW_MS = 61_000;
const DISPOSABLE_SERVERS_MAX = 12;
const LEARNED_LENGTH_MAX = 100_000;
const POOL_MAX = 40;

/** Sends a request of an operator, with JSON or a picture, and returns the body of its answer. */
export type Ask = (method: string, path: string, body?: unknown) => Promise<Record<string, unknown>>;
export type Key = {
  readonly home: number;
  readonly keyId: string;
  readonly token: string;
  readonly facadeKey: string;
};
/** A command, a player, a note or a call of one of the servers that stay, with the ids in its path. */
export type Owned = { readonly home: number; readonly ids: Readonly<Record<string, unknown>> };
export type Session = { readonly sessionId: string; readonly cookie: string; readonly token: string };
/** What a request was sent with, and what it was about. */
type Asked = { readonly key: Key | undefined; readonly owned?: Owned | undefined };
type CountedKey = Key & { used: number; since: number };

/** A game server that stays for the whole run. */
export type Home = { readonly serverId: string; readonly slug: string; readonly hookName: string };

export class World {
  readonly signer: HookSigner;
  /** The session of an operator that stays for the whole run. */
  readonly resident: Session;
  readonly homes: Home[] = [];
  /** Keys that are refused or may do little. */
  readonly oddKeys: Key[] = [];
  readonly #random: Random;
  readonly #ask: Ask;
  readonly #keys: CountedKey[][] = [];
  readonly #pools = new Map<string, unknown[]>();
  /** Given out for deletion. */
  readonly #takenServers: string[] = [];
  #made = 0;

  constructor(random: Random, { signer, resident }: Pick<World, "signer" | "resident">, ask: Ask) {
    this.#random = random;
    this.signer = signer;
    this.resident = resident;
    this.#ask = ask;
  }

  get community(): string {
    return COMMUNITY;
  }

  async build(): Promise<void> {
    for (let home = 0; home < HOMES; home++) {
      const slug = `town-${home}`;
      const hookName = `${SECRET_MARK}${letters(this.#random, 8)}`;
      const { server_id } = await this.#ask("POST", "/admin/servers", {
        name: `Town ${home}`,
        server_key: `town${home}-${hookName}`,
        community: COMMUNITY,
        public_status: { slug },
      });
      this.homes.push({ serverId: String(server_id), slug, hookName });
      await this.#ask("PUT", `/admin/servers/${server_id}/map-image?left=-9&top=-9&right=9&bottom=9`, PNG_HEADER);
      this.#keys.push([]);
      await this.#addKey(home);
    }
    const now = Date.now();
    const odd: object[] = [
      { sections: [] },
      { sections: ["Players"], commands: [":h"] },
      { versions: ["v1"] },
      { versions: [] },
      { ip_allow: ["192.0.2.1"] },
      { ip_allow: ["127.0.0.0/8", "10.0.0.0/8"], commands: ["*"] },
      { expires_at: now + 1_500 },
      { expires_at: now + 15_000 },
      {},
    ];
    for (const rights of odd) this.oddKeys.push(await this.#makeKey(0, rights));
    const [suspended, revoked] = [await this.#makeKey(1, {}), await this.#makeKey(1, {})];
    await this.#ask("PATCH", `/admin/keys/${suspended.keyId}`, { suspended: true });
    await this.#ask("DELETE", `/admin/keys/${revoked.keyId}`);
    this.oddKeys.push(suspended, revoked);
  }

  /** A full key of this server, or of any, whose limit is not used up. */
  async takeKey(home = this.#random.integer(0, HOMES - 1)): Promise<Key> {
    const now = Date.now();
    const keys = this.#keys[home] ?? [];
    for (const key of keys) {
      if (now - key.since > WINDOW_MS) Object.assign(key, { used: 0, since: now });
      if (key.used >= REQUESTS_PER_KEY) continue;
      key.used++;
      return key;
    }
    return this.#addKey(home);
  }

  async #addKey(home: number): Promise<Key> {
    const key = { ...(await this.#makeKey(home, { commands: ["*"] })), used: 1, since: Date.now() };
    this.#keys[home]?.push(key);
    return key;
  }

  async #makeKey(home: number, rights: object): Promise<Key> {
    const server_id = this.homes[home]?.serverId;
    const body = { server_id, label: `key ${++this.#made}`, ...rights };
    const { key_id, token, facade_key } = await this.#ask("POST", "/admin/keys", body);
    return { home, keyId: String(key_id), token: String(token), facadeKey: String(facade_key) };
  }

  /** Keeps what later requests can use of a successful answer. */
  learn(id: string, { key, owned }: Asked, { headers, body }: ReadAnswer): void {
    const etag = headers.get("etag");
    if (etag !== undefined) this.#put("etag", etag);
    if (headers.get("content-type") !== "application/json" || body.length > LEARNED_LENGTH_MAX) return;
    const value = parseObject(body);
    if (id === "createServer") this.#put("server", value.server_id);
    else if (id === "createKey") this.#put("key", value.key_id);
    else if (id === "createWebhook") this.#put("webhook", value.webhook_id);
    else if (id.startsWith("submitCommand")) this.#putOwned("command", key, { command_id: value.command_id });
    else if (id.startsWith("addNote")) this.#putOwned("note", key, { ...owned?.ids, note_id: value.note_id });
    else if (id.startsWith("listPlayers"))
      for (const item of itemsOf(value)) this.#putOwned("player", key, { player_id: item.id });
    else if (id.startsWith("listModCalls"))
      for (const item of itemsOf(value)) this.#putOwned("call", key, { call_id: item.id });
    else if (id === "createPerson") this.#put("person", value.person_id);
    else if (id === "invitePerson") this.#put("invitation", String(value.url).split("/").at(-1));
    else if (id === "listAudit") for (const { id: entry } of itemsOf(value)) this.#put("entry", entry);
    else if (id === "redeemInvitation" || id === "grantToken") {
      const cookie = /gatehouse_session=([^;]+)/.exec(headers.get("set-cookie") ?? "")?.[1];
      const isResident = value.session_id === this.resident.sessionId;
      if (!isResident) this.#put("session", { sessionId: value.session_id, cookie, token: value.token });
    } else if (typeof value.next === "string") this.#put("has_more" in value ? "cursor" : "page", value.next);
  }

  #putOwned(pool: string, key: Key | undefined, ids: Owned["ids"]): void {
    if (key) this.#put(pool, { home: key.home, ids });
  }

  #put(pool: string, value: unknown): void {
    const values = this.#pools.get(pool) ?? [];
    this.#pools.set(pool, values);
    values.push(value);
    if (values.length > POOL_MAX) values.shift();
  }

  /** One of the pool, mostly of the newest; undefined when it is empty. */
  find<T>(pool: string): T | undefined {
    const values = this.#pools.get(pool);
    if (!values?.length) return undefined;
    const back = this.#random.chance(0.5) ? 1 : this.#random.integer(1, values.length);
    return values[values.length - back] as T;
  }

  /** As find, and it is not given out again. */
  take<T>(pool: string): T | undefined {
    const value = this.#pools.get(pool)?.pop();
    // The request that is to delete it may be refused, and the simulator has only so many towns.
    if (pool === "server" && value !== undefined) this.#takenServers.push(String(value));
    return value as T | undefined;
  }

  /** The oldest server that the run has made, when there are more than it keeps. It may be deleted already. */
  takeExcessServer(): string | undefined {
    if (this.#takenServers.length > DISPOSABLE_SERVERS_MAX) return this.#takenServers.shift();
    const servers = this.#pools.get("server") ?? [];
    return servers.length > DISPOSABLE_SERVERS_MAX ? String(servers.shift()) : undefined;
  }
}

/** Empty for what is no JSON: the judge reports that. */
function parseObject(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return {};
  }
}

function itemsOf({ items }: Record<string, unknown>): Record<string, unknown>[] {
  return Array.isArray(items) ? items.slice(0, 5) : [];
}
