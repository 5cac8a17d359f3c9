// An API key and what it may do. The rules of the 403 answers, in the order in which they are judged.
import type { AddressList } from "./address.ts";
import { ERRORS, type Refusal, refuse } from "./errors.ts";
import { ALL_SECTIONS, type SectionSet } from "./sections.ts";

export const VERSIONS = ["v1", "v2"] as const;
export type Version = (typeof VERSIONS)[number];

/** The rights of a key as they are given and shown. */
export type KeyRights = {
  readonly versions: readonly Version[];
  readonly sections: SectionSet;
  readonly commands: readonly string[];
  readonly ipAllow: readonly string[];
};

export const DEFAULT_RIGHTS: KeyRights = {
  versions: ["v2"],
  sections: ALL_SECTIONS,
  commands: [],
  ipAllow: [],
};

/** What a key may do, as requests are judged by it. Most keys may do the same, and share it. */
export type Grant = {
  readonly versions: readonly Version[];
  readonly sections: SectionSet;
  readonly commands: readonly string[];
  /** Null when the key may be used from anywhere. */
  readonly allowedFrom: AddressList | null;
  readonly isSuspended: boolean;
};

/** What a request is judged by. Held in memory for every key in use, so it has nothing that judging does not need. */
export type ApiKey = {
  readonly keyId: string;
  readonly serverId: string;
  readonly grant: Grant;
  readonly expiresAt: number | null;
};

/** Which key, and whose. */
export type KeyIdentity = Pick<ApiKey, "keyId" | "serverId">;

export type Access = {
  readonly version: Version;
  /** The `<community>` segment of the path, if it has one. */
  readonly community: string | undefined;
  readonly serverCommunity: string | null;
  readonly sections: SectionSet;
  /** Whether this is about commands, which a key must have been given rights for. */
  readonly isCommand?: boolean;
  /** Where the request comes from. Empty will do for a key without an address list: finding it costs more than the rest. */
  readonly address: string;
};

export function isExpired(key: ApiKey, now: number): boolean {
  return key.expiresAt !== null && now >= key.expiresAt;
}

/** The key as a token knows it that is valid until then; null for a token without an end of its own. */
export function endingWith(key: ApiKey, validUntil: number | null): ApiKey {
  if (validUntil === null || (key.expiresAt !== null && key.expiresAt <= validUntil)) return key;
  return { ...key, expiresAt: validUntil };
}

/** The first rule that says no, or undefined when the key may do this. */
export function findForbidden(grant: Grant, access: Access): Refusal | undefined {
  if (!grant.versions.includes(access.version)) return refuse(ERRORS.versionForbidden);
  if (grant.isSuspended) return refuse(ERRORS.forbidden);
  if (grant.allowedFrom && !grant.allowedFrom.has(access.address)) return refuse(ERRORS.forbidden);
  const { community, serverCommunity } = access;
  if (community !== undefined && serverCommunity !== null && community !== serverCommunity) {
    return refuse(ERRORS.forbidden);
  }
  if (access.isCommand && grant.commands.length === 0) return refuse(ERRORS.forbidden);
  if (access.sections & ~grant.sections) return refuse(ERRORS.sectionForbidden);
  return undefined;
}
