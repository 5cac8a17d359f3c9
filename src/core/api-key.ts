// API keys and their rights: the rules of the 403 answers, in the order in which they are checked.
import type { AddressList } from "./address.ts";
import { ERRORS, type Refusal, refuse } from "./errors.ts";
import { ALL_SECTIONS, type SectionSet, toSectionNames } from "./sections.ts";

export const VERSIONS = ["v1", "v2"] as const;
export type Version = (typeof VERSIONS)[number];

/** The rights of a key as operators set and see them. */
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

/** The rights of a key in the form that requests are checked against. Keys with equal rights share one object. */
export type Grant = {
  readonly versions: readonly Version[];
  readonly sections: SectionSet;
  readonly commands: readonly string[];
  /** Null when the key may be used from any address. */
  readonly allowedFrom: AddressList | null;
  readonly isSuspended: boolean;
};

/** Held in memory for every key in use, so it has only what checking a request needs. */
export type ApiKey = {
  readonly keyId: string;
  readonly serverId: string;
  readonly grant: Grant;
  readonly expiresAt: number | null;
};

export type KeyIdentity = Pick<ApiKey, "keyId" | "serverId">;

export type Access = {
  readonly version: Version;
  /** The `<community>` segment of the path, if it has one. */
  readonly community: string | undefined;
  readonly serverCommunity: string | null;
  readonly sections: SectionSet;
  /** Whether the request is about commands, which need a right of their own. */
  readonly isCommand?: boolean;
  /** The client's address. May be empty for a key without an address list, because finding it is expensive. */
  readonly address: string;
};

/** Why a request is forbidden, in the order in which the reasons are checked. */
export const FORBIDDEN_REASONS = ["suspended", "address", "community", "command", "origin"] as const;
type ForbiddenReason = (typeof FORBIDDEN_REASONS)[number];

const SUSPENDED = refuseForbidden("suspended");
const OTHER_COMMUNITY = refuseForbidden("community");
export const COMMAND_FORBIDDEN = refuseForbidden("command");
/** Made once for each set of sections, because bots repeat the same request. */
const SECTIONS_FORBIDDEN = new Map<SectionSet, Refusal>();

export function isExpired(key: ApiKey, now: number): boolean {
  return key.expiresAt !== null && now >= key.expiresAt;
}

/** The key as seen through a token in its grace period: it expires with the token. `validUntil` is null for the current token. */
export function limitExpiry(key: ApiKey, validUntil: number | null): ApiKey {
  if (validUntil === null || (key.expiresAt !== null && key.expiresAt <= validUntil)) return key;
  return { ...key, expiresAt: validUntil };
}

/** The refusal of the first rule that forbids the access; undefined when it is allowed. */
export function findForbidden(grant: Grant, access: Access): Refusal | undefined {
  if (!grant.versions.includes(access.version)) {
    return refuse(ERRORS.versionForbidden, { details: { versions: grant.versions } });
  }
  if (grant.isSuspended) return SUSPENDED;
  if (grant.allowedFrom && !grant.allowedFrom.has(access.address)) {
    return refuseForbidden("address", access.address);
  }
  const { community, serverCommunity } = access;
  if (community !== undefined && serverCommunity !== null && community !== serverCommunity) {
    return OTHER_COMMUNITY;
  }
  if (access.isCommand && grant.commands.length === 0) return COMMAND_FORBIDDEN;
  const forbidden = access.sections & ~grant.sections;
  return forbidden ? refuseSections(forbidden) : undefined;
}

function refuseForbidden(reason: ForbiddenReason, seen?: string): Refusal {
  return refuse(ERRORS.forbidden, { details: seen === undefined ? { reason } : { reason, seen } });
}

export function refuseSections(sections: SectionSet): Refusal {
  const known = SECTIONS_FORBIDDEN.get(sections);
  if (known) return known;
  const refusal = refuse(ERRORS.sectionForbidden, { details: { sections: toSectionNames(sections) } });
  SECTIONS_FORBIDDEN.set(sections, refusal);
  return refusal;
}
