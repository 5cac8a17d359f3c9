// How servers and keys look in the tables, and how they become the things the rules know.
import { createAddressList } from "../../core/address.ts";
import type { ApiKey, Version } from "../../core/api-key.ts";
import type { GameServer } from "../../core/game-server.ts";
import type { KeyDetails } from "../../core/ports.ts";

export type ServerRow = {
  seq: number;
  server_id: string;
  name: string;
  community: string | null;
  key_revision: number;
  created_at: number;
};

export type KeyRow = {
  seq: number;
  key_id: string;
  server_id: string;
  label: string;
  versions: string;
  sections: number;
  commands: string;
  ip_allow: string;
  expires_at: number | null;
  suspended: number;
  created_at: number;
  last_used_at: number | null;
  revoked_at: number | null;
};

/** What judging a request needs of a key's row. */
export type ApiKeyRow = Pick<
  KeyRow,
  "key_id" | "server_id" | "versions" | "sections" | "commands" | "ip_allow" | "expires_at" | "suspended"
>;

export function toGameServer(row: ServerRow): GameServer {
  return {
    serverId: row.server_id,
    name: row.name,
    community: row.community,
    createdAt: row.created_at,
    keyRevision: row.key_revision,
  };
}

export function toKeyDetails(row: KeyRow): KeyDetails {
  return {
    keyId: row.key_id,
    serverId: row.server_id,
    label: row.label,
    versions: JSON.parse(row.versions) as Version[],
    sections: row.sections,
    commands: JSON.parse(row.commands) as string[],
    ipAllow: JSON.parse(row.ip_allow) as string[],
    expiresAt: row.expires_at,
    isSuspended: row.suspended !== 0,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
    revokedAt: row.revoked_at,
  };
}

export function toApiKey(row: ApiKeyRow, serverId: string): ApiKey {
  return {
    keyId: row.key_id,
    serverId,
    versions: readList(row.versions) as readonly Version[],
    sections: row.sections,
    commands: readList(row.commands),
    allowedFrom: row.ip_allow === "[]" ? null : createAddressList(JSON.parse(row.ip_allow) as string[]),
    expiresAt: row.expires_at,
    isSuspended: row.suspended !== 0,
  };
}

/** Most of a hundred thousand keys have the same lists; each distinct list is kept once. */
const LISTS_MAX = 1_000;
const lists = new Map<string, readonly string[]>();

function readList(json: string): readonly string[] {
  const kept = lists.get(json);
  if (kept) return kept;
  const list = JSON.parse(json) as string[];
  if (lists.size < LISTS_MAX) lists.set(json, list);
  return list;
}
