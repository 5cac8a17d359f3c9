// Converts rows of the tables to servers, keys, people and roles, and makes their ids and pages of them. A cursor is the `seq`
// of the last item on a page.
import { randomBytes } from "node:crypto";
import { createAddressList } from "../../core/address.ts";
import type { GameServer, ServerSettings } from "../../core/game-server.ts";
import type { ApiKey, Grant, Version } from "../../core/keys/api-key.ts";
import type { KeySettings } from "../../core/keys/key-settings.ts";
import { type AbilitySet, abilitiesOfKey, type HiddenSet } from "../../core/keys/rights.ts";
import { randomBase62 } from "../../core/keys/token.ts";
import { memoize } from "../../core/memoize.ts";
import type { Person, ServerRole } from "../../core/people/person.ts";
import type { Role } from "../../core/people/role.ts";
import type { KeyDetails } from "../../core/ports/keys.ts";
import type { Page } from "../../core/ports/pages.ts";
import type { SectionSet } from "../../core/sections.ts";
import type { Value } from "../sql.ts";

const ID_LENGTH = 20;
const GRANTS_MAX = 1_000;
const TEXT_LENGTH_MAX = 2_000;

/** The columns of what an operator sets. */
export function toServerColumns(server: ServerSettings) {
  return {
    name: server.name,
    community: server.community,
    watch: +server.isWatched,
    status_slug: server.publicStatus?.slug ?? null,
    status_join_key: +(server.publicStatus?.showsJoinKey ?? false),
    owners_sign_in: +server.ownersSignIn,
  };
}

export type ServerRow = ReturnType<typeof toServerColumns> & {
  seq: number;
  server_id: string;
  sealed_key: string;
  key_revision: number;
  created_at: number;
  simulated: number;
};

/** The columns of what an operator sets. */
export function toKeyColumns(key: KeySettings) {
  return {
    label: key.label,
    versions: JSON.stringify(key.versions),
    sections: key.sections,
    commands: JSON.stringify(key.commands),
    hide: key.hide,
    may: key.may,
    ip_allow: JSON.stringify(key.ipAllow),
    expires_at: key.expiresAt,
  };
}

export type KeyRow = ReturnType<typeof toKeyColumns> & {
  seq: number;
  key_id: string;
  server_id: string;
  suspended: number;
  created_at: number;
  last_used_at: number | null;
  revoked_at: number | null;
};

/** The columns that checking a request needs. */
export const API_KEY_COLUMNS =
  "key_id, server_id, label, versions, sections, commands, hide, may, ip_allow, keys.expires_at, suspended";
export type ApiKeyRow = Omit<KeyRow, "seq" | "created_at" | "last_used_at" | "revoked_at">;

/** Beside the server, which goes to many places: its key goes to few. */
const sealedKeys = new WeakMap<GameServer, string>();

export function findSealedKey(server: GameServer): string | undefined {
  return sealedKeys.get(server);
}

export function toGameServer(row: ServerRow): GameServer {
  const server = {
    serverId: row.server_id,
    name: row.name,
    community: row.community,
    createdAt: row.created_at,
    keyRevision: row.key_revision,
    isSimulated: row.simulated !== 0,
    isWatched: row.watch !== 0,
    publicStatus: row.status_slug === null ? null : { slug: row.status_slug, showsJoinKey: row.status_join_key !== 0 },
    ownersSignIn: row.owners_sign_in !== 0,
  };
  sealedKeys.set(server, row.sealed_key);
  return server;
}

export function toKeyDetails(row: KeyRow): KeyDetails {
  return {
    keyId: row.key_id,
    serverId: row.server_id,
    label: row.label,
    versions: JSON.parse(row.versions) as Version[],
    sections: row.sections,
    commands: JSON.parse(row.commands) as string[],
    hide: row.hide,
    may: row.may,
    ipAllow: JSON.parse(row.ip_allow) as string[],
    expiresAt: row.expires_at,
    isSuspended: row.suspended !== 0,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
    revokedAt: row.revoked_at,
  };
}

export function toApiKey(row: ApiKeyRow, serverId: string): ApiKey {
  const { versions, sections, commands, hide, may, ip_allow, suspended } = row;
  const grant = parseGrant(`[${versions},${sections},${commands},${hide},${may},${ip_allow},${suspended !== 0}]`);
  return { keyId: row.key_id, serverId, label: row.label, grant, expiresAt: row.expires_at, person: null };
}

type Parts = [
  Version[],
  SectionSet,
  commands: string[],
  HiddenSet,
  AbilitySet,
  ipAllow: string[],
  isSuspended: boolean,
];

/** The rights of a key, memoized, so that all keys with the same rights share one object. The text is a JSON list: versions, sections, commands, hidden fields, abilities, addresses, whether the key is suspended. */
const parseGrant = memoize<Grant>(
  (text) => {
    const [versions, sections, commands, hide, given, ipAllow, isSuspended] = JSON.parse(text) as Parts;
    const allowedFrom = ipAllow.length === 0 ? null : createAddressList(ipAllow);
    const may = abilitiesOfKey({ commands, may: given });
    return { versions, sections, commands, hide, may, allowedFrom, isSuspended };
  },
  GRANTS_MAX,
  TEXT_LENGTH_MAX,
);

export type PersonRow = {
  seq: number;
  person_id: string;
  name: string;
  operator: number;
  player_id: string | null;
  chat_id: string | null;
  disabled: number;
  created_at: number;
  last_seen_at: number | null;
};

export type ServerRoleRow = { person_id: string; server_id: string; role: string };

/** `servers` by the id of the person. */
export function toPerson(row: PersonRow, servers: ReadonlyMap<string, readonly ServerRole[]>): Person {
  return {
    personId: row.person_id,
    name: row.name,
    isOperator: row.operator !== 0,
    servers: servers.get(row.person_id) ?? [],
    playerId: row.player_id,
    chatId: row.chat_id,
    isDisabled: row.disabled !== 0,
    createdAt: row.created_at,
  };
}

/** By the id of the person, in the order of the servers' ids. */
export function toServerRoles(rows: readonly ServerRoleRow[]): ReadonlyMap<string, readonly ServerRole[]> {
  const sorted = rows.toSorted((a, b) => (a.server_id < b.server_id ? -1 : 1));
  const grouped = Map.groupBy(sorted, ({ person_id }) => person_id);
  const toRoles = (of: readonly ServerRoleRow[]) => of.map(({ server_id, role }) => ({ serverId: server_id, role }));
  return new Map(Array.from(grouped, ([personId, of]) => [personId, toRoles(of)]));
}

export type RoleRow = {
  name: string;
  title: string;
  sections: number;
  hide: number;
  commands: string;
  may: number;
};

export function toRole({ commands, ...row }: RoleRow): Role {
  return { ...row, commands: JSON.parse(commands) as string[] };
}

export const INSERT_ROLE = `INSERT INTO roles (name, title, sections, hide, commands, may)
  VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (name)`;

export function toRoleValues({ name, title, sections, hide, commands, may }: Role): Value[] {
  return [name, title, sections, hide, JSON.stringify(commands), may];
}

export function newId(prefix: "srv_" | "key_" | "per_"): string {
  return prefix + randomBase62(ID_LENGTH, randomBytes);
}

/** Pagination by `seq`. A cursor is the `seq` of the last item on the page. */
export function toSeq(cursor: string | undefined): number {
  const seq = cursor === undefined ? 0 : Number.parseInt(cursor, 36) || 0;
  return Math.min(seq, Number.MAX_SAFE_INTEGER);
}

export function toCursor(seq: number): string {
  return seq.toString(36);
}

/** `rows` has one row more than `limit` when there is a next page. */
export function toPage<Row extends { seq: number }, T>(
  rows: readonly Row[],
  limit: number,
  toItem: (row: Row) => T,
): Page<T> {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const next = rows.length > limit && last ? toCursor(last.seq) : null;
  return { items: shown.map(toItem), next };
}
