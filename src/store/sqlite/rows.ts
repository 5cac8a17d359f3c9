// Converts rows of the tables to servers and keys.
import type { ApiKey, Version } from "../../core/api-key.ts";
import type { GameServer } from "../../core/game-server.ts";
import type { KeyDetails } from "../../core/ports/keys.ts";
import { parseGrant } from "../parse-grant.ts";

export type ServerRow = {
  seq: number;
  server_id: string;
  name: string;
  community: string | null;
  key_revision: number;
  created_at: number;
  simulated: number;
  watch: number;
  status_slug: string | null;
  status_join_key: number;
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

/** The columns that checking a request needs. */
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
    isSimulated: row.simulated !== 0,
    isWatched: row.watch !== 0,
    publicStatus:
      row.status_slug === null ? null : { slug: row.status_slug, showsJoinKey: row.status_join_key !== 0 },
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
  const { versions, sections, commands, ip_allow, suspended } = row;
  const grant = parseGrant(`[${versions},${sections},${commands},${ip_allow},${suspended !== 0}]`);
  return { keyId: row.key_id, serverId, grant, expiresAt: row.expires_at };
}
