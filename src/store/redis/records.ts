// How servers and keys are written in Redis, as JSON, and how they become the things the rules know.
import { createAddressList } from "../../core/address.ts";
import type { ApiKey } from "../../core/api-key.ts";
import type { GameServer } from "../../core/game-server.ts";
import type { KeptToken, KeyDetails } from "../../core/ports.ts";

export type ServerRecord = GameServer & {
  /** Its place in lists. */
  readonly seq: number;
  /** The upstream key, sealed, in base64. */
  readonly sealedKey: string;
};

/** `lastUsedAt` is kept elsewhere: it changes all the time. */
export type KeyRecord = Omit<KeyDetails, "lastUsedAt"> & {
  readonly seq: number;
  readonly tokens: readonly KeptToken[];
};

export function toGameServer({ seq: _, sealedKey: __, ...server }: ServerRecord): GameServer {
  return server;
}

export function toKeyDetails(
  { seq: _, tokens: __, ...key }: KeyRecord,
  lastUsedAt: number | null,
): KeyDetails {
  return { ...key, lastUsedAt };
}

export function toApiKey(record: KeyRecord): ApiKey {
  return {
    keyId: record.keyId,
    serverId: record.serverId,
    versions: record.versions,
    sections: record.sections,
    commands: record.commands,
    allowedFrom: record.ipAllow.length === 0 ? null : createAddressList(record.ipAllow),
    expiresAt: record.expiresAt,
    isSuspended: record.isSuspended,
  };
}
