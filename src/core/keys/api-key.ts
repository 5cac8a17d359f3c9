// API keys and their rights: the rules of the 403 answers, in the order in which they are checked.
import type { AddressList } from "../address.ts";
import type { Sender } from "../commands/command.ts";
import { ERRORS, type Refusal, refuse } from "../errors.ts";
import type { Who } from "../people/who.ts";
import { ALL_SECTIONS, type SectionSet, toSectionNames } from "../sections.ts";
import {
  type Ability,
  type AbilitySet,
  HIDES_NOTHING,
  type HiddenSet,
  hasAbility,
  NO_ABILITIES,
  toHiddenNames,
} from "./rights.ts";

export const VERSIONS = ["v1", "v2"] as const;
export type Version = (typeof VERSIONS)[number];

/** The rights of a key as operators set and see them. */
export type KeyRights = {
  readonly versions: readonly Version[];
  readonly sections: SectionSet;
  readonly commands: readonly string[];
  readonly hide: HiddenSet;
  /** What it was given, without what comes with commands. */
  readonly may: AbilitySet;
  readonly ipAllow: readonly string[];
};

export const DEFAULT_RIGHTS: KeyRights = {
  versions: ["v2"],
  sections: ALL_SECTIONS,
  commands: [],
  hide: HIDES_NOTHING,
  may: NO_ABILITIES,
  ipAllow: [],
};

/** The rights of a key in the form that requests are checked against. Keys with equal rights share one object. */
export type Grant = {
  readonly versions: readonly Version[];
  readonly sections: SectionSet;
  readonly commands: readonly string[];
  readonly hide: HiddenSet;
  readonly may: AbilitySet;
  /** Null when the key may be used from any address. */
  readonly allowedFrom: AddressList | null;
  readonly isSuspended: boolean;
};

/** What somebody may read. */
export type ReadRights = Pick<Grant, "sections" | "hide">;

export const READS_ALL: ReadRights = { sections: ALL_SECTIONS, hide: HIDES_NOTHING };

export function isSameReading(a: ReadRights, b: ReadRights): boolean {
  return a.sections === b.sections && a.hide === b.hide;
}

/** Held in memory for every key in use, so it has only what checking a request needs. */
export type ApiKey = {
  readonly keyId: string;
  readonly serverId: string;
  readonly label: string;
  readonly grant: Grant;
  readonly expiresAt: number | null;
  /** Set when a person's session is used instead of a key. Then `keyId` is callerIdOf the person, and `label` the name. */
  readonly person: CallingPerson | null;
};

export type CallingPerson = { readonly personId: string; readonly playerId: string | null };

/** Who claims a call or writes a note. */
export function whoOf({ keyId, label, person }: ApiKey): Who & { readonly kind: "person" | "key" } {
  return person ? { kind: "person", id: person.personId, name: label } : { kind: "key", id: keyId, name: label };
}

/** Who sends a command. */
export function senderOf(key: ApiKey): Sender {
  const { playerId } = key.person ?? {};
  return playerId ? { ...whoOf(key), playerId } : whoOf(key);
}

export type KeyIdentity = Pick<ApiKey, "keyId" | "serverId">;

export type Access = {
  readonly version: Version;
  /** The `<community>` segment of the path, if it has one. */
  readonly community: string | undefined;
  readonly serverCommunity: string | null;
  readonly sections: SectionSet;
  /** Fields without which the answer would be nothing, so that they may not be hidden. */
  readonly fields?: HiddenSet;
  /** Whether the request is about commands, which need a right of their own. */
  readonly isCommand?: boolean;
  /** What the caller must be able to do beside reading. */
  readonly ability?: Ability | undefined;
  /** Whether a person asks, whose role decides that. */
  readonly isPerson?: boolean;
  /** The client's address. May be empty for a key without an address list, because finding it is expensive. */
  readonly address: string;
};

/** Why a request is forbidden, in the order in which the reasons are checked. */
export const FORBIDDEN_REASONS = ["origin", "role", "suspended", "address", "community", "command"] as const;
type ForbiddenReason = (typeof FORBIDDEN_REASONS)[number];

const SUSPENDED = refuseForbidden("suspended");
const OTHER_COMMUNITY = refuseForbidden("community");
export const COMMAND_FORBIDDEN = refuseForbidden("command");
/** A person's role, or the lack of one, or what a key may do besides, does not allow it. */
export const ROLE_FORBIDDEN = refuseForbidden("role");
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
  if (grant.allowedFrom && !grant.allowedFrom.has(access.address)) return refuseForbidden("address", access.address);
  const { community, serverCommunity } = access;
  if (community !== undefined && serverCommunity !== null && community !== serverCommunity) return OTHER_COMMUNITY;
  if (access.isCommand && grant.commands.length === 0) return COMMAND_FORBIDDEN;
  if (access.ability && !hasAbility(grant.may, access.ability))
    return access.isPerson ? ROLE_FORBIDDEN : COMMAND_FORBIDDEN;
  const forbidden = access.sections & ~grant.sections;
  if (forbidden) return refuseSections(forbidden);
  const hidden = (access.fields ?? HIDES_NOTHING) & grant.hide;
  return hidden ? refuseHidden(access.sections, hidden) : undefined;
}

/** With the section that has the fields, as every refusal of this code has it. */
function refuseHidden(sections: SectionSet, hidden: HiddenSet): Refusal {
  const details = { sections: toSectionNames(sections), hidden: toHiddenNames(hidden) };
  return refuse(ERRORS.sectionForbidden, { details });
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
