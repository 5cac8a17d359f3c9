// The records of servers and keys in Redis, which are JSON, and their conversion to core types. revoke-keys.lua edits key
// records as text.
import type { ApiKey } from "../../core/api-key.ts";
import type { GameServer, PublicStatus } from "../../core/game-server.ts";
import type { DeviceDraft, LinkDraft } from "../../core/ports/devices.ts";
import type { KeyDetails } from "../../core/ports/keys.ts";
import type { KeptToken } from "../../core/ports/portable-store.ts";
import { parseGrant } from "../parse-grant.ts";

export type ServerRecord = Omit<GameServer, "isSimulated" | "isWatched" | "publicStatus"> & {
  /** These three are missing in the records of older versions. */
  readonly isSimulated?: boolean;
  readonly isWatched?: boolean;
  readonly publicStatus?: PublicStatus | null;
  /** The position in lists. */
  readonly seq: number;
  /** The encrypted upstream key, in base64. */
  readonly sealedKey: string;
};

/** `lastUsedAt` is stored elsewhere, because it changes with every request. */
export type KeyRecord = Omit<KeyDetails, "lastUsedAt"> & {
  readonly seq: number;
  readonly tokens: readonly KeptToken[];
  /** Both are missing in records that never had any. Expired ones stay until the next change of either. */
  readonly devices?: readonly DeviceRecord[];
  readonly links?: readonly LinkDraft[];
};

/** Its last use is stored elsewhere, because it changes often. */
export type DeviceRecord = DeviceDraft & { readonly createdAt: number };

export function toGameServer(record: ServerRecord): GameServer {
  const { seq: _, sealedKey: __, isSimulated, isWatched, publicStatus, ...server } = record;
  return {
    ...server,
    isSimulated: isSimulated ?? false,
    isWatched: isWatched ?? true,
    publicStatus: publicStatus ?? null,
  };
}

export function toKeyDetails(
  { seq: _, tokens: __, devices: ___, links: ____, ...key }: KeyRecord,
  lastUsedAt: number | null,
): KeyDetails {
  return { ...key, lastUsedAt };
}

export function toRevoked(record: KeyRecord, now: number): KeyRecord {
  const { devices: _, links: __, ...rest } = record;
  return { ...rest, tokens: [], revokedAt: now };
}

export function toApiKey(record: KeyRecord, serverId: string): ApiKey {
  const { keyId, versions, sections, commands, ipAllow, isSuspended, expiresAt } = record;
  const grant = parseGrant(JSON.stringify([versions, sections, commands, ipAllow, isSuspended]));
  return { keyId, serverId, grant, expiresAt };
}
