// Rights that keys and roles have in common. A set of names is a bit mask, like a set of sections: bit i stands for the i-th name.
import { type SectionSet, toSectionNames } from "../sections.ts";

/** Fields that may be hidden from a key or a role. */
export const HIDEABLE_FIELDS = ["JoinKey", "Location"] as const;
export type HideableField = (typeof HIDEABLE_FIELDS)[number];
export type HiddenSet = number;

/** What somebody may do beside reading sections and sending commands. */
export const ABILITIES = ["claim", "notes", "exports", "alerts", "webhooks", "keys", "status", "people"] as const;
export type Ability = (typeof ABILITIES)[number];
export type AbilitySet = number;

export const HIDES_NOTHING: HiddenSet = 0;
export const HIDES_JOIN_KEY: HiddenSet = toHiddenSet(["JoinKey"]);
export const HIDES_LOCATION: HiddenSet = toHiddenSet(["Location"]);
export const NO_ABILITIES: AbilitySet = 0;
export const ALL_ABILITIES: AbilitySet = (1 << ABILITIES.length) - 1;
/** What a key may do that may send any command. */
const SENDER_ABILITIES: AbilitySet = toAbilitySet(["claim", "notes"]);
/** What a key may be given besides. */
export const KEY_ABILITIES = ["webhooks"] as const satisfies readonly Ability[];

/** What a role has, and a key as far as it can. */
export type Rights = {
  readonly sections: SectionSet;
  readonly hide: HiddenSet;
  readonly commands: readonly string[];
  readonly may: AbilitySet;
};

export function toHiddenSet(names: readonly string[]): HiddenSet {
  return toMask(HIDEABLE_FIELDS, names);
}

export function toHiddenNames(set: HiddenSet): HideableField[] {
  return HIDEABLE_FIELDS.filter((_, bit) => set & (1 << bit));
}

export function toAbilitySet(names: readonly string[]): AbilitySet {
  return toMask(ABILITIES, names);
}

export function toAbilityNames(set: AbilitySet): Ability[] {
  return ABILITIES.filter((_, bit) => set & (1 << bit));
}

export function hasAbility(set: AbilitySet, ability: Ability): boolean {
  return (set & (1 << ABILITIES.indexOf(ability))) !== 0;
}

/** All that a key may do besides reading and commands: what it was given, and what comes with commands. */
export function abilitiesOfKey({ commands, may }: Pick<Rights, "commands" | "may">): AbilitySet {
  return commands.length > 0 ? may | SENDER_ABILITIES : may;
}

/** Whether each right of `inner` is one of `outer`, and nothing that is hidden from `outer` is shown to `inner`. */
export function isWithin(inner: Rights, outer: Rights): boolean {
  if (inner.sections & ~outer.sections || inner.may & ~outer.may || outer.hide & ~inner.hide) return false;
  if (outer.commands.includes("*")) return true;
  const allowed = new Set(outer.commands.map((name) => name.toLowerCase()));
  return inner.commands.every((name) => allowed.has(name.toLowerCase()));
}

/** As the admin API and the audit log show them. */
export function describeRights({ sections, hide, commands, may }: Rights) {
  return {
    sections: toSectionNames(sections),
    hide: toHiddenNames(hide),
    commands,
    may: toAbilityNames(may),
  };
}

function toMask(all: readonly string[], names: readonly string[]): number {
  let mask = 0;
  for (const name of names) {
    const bit = all.indexOf(name);
    if (bit !== -1) mask |= 1 << bit;
  }
  return mask;
}
