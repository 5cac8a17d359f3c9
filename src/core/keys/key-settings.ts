// What an operator sets of a key: as it is kept, and as the admin API names it.
import { toCommandName } from "../commands/command.ts";
import { toSectionNames, toSectionSet } from "../sections.ts";
import type { KeyUpdate } from "../wire/key.ts";
import { DEFAULT_RIGHTS, type KeyRights } from "./api-key.ts";
import { hasAbility, KEY_ABILITIES, toAbilitySet, toHiddenNames, toHiddenSet } from "./rights.ts";

export type KeySettings = KeyRights & { readonly label: string; readonly expiresAt: number | null };

/** Only the label has to be given. */
export const DEFAULT_SETTINGS: Omit<KeySettings, "label"> = { ...DEFAULT_RIGHTS, expiresAt: null };

export function describeSettings(key: KeySettings) {
  return {
    label: key.label,
    versions: key.versions,
    sections: toSectionNames(key.sections),
    commands: key.commands,
    hide: toHiddenNames(key.hide),
    may: KEY_ABILITIES.filter((ability) => hasAbility(key.may, ability)),
    ip_allow: key.ipAllow,
    expires_at: key.expiresAt,
  };
}

/** Only the settings that a request has. */
export function toSettings(request: KeyUpdate): Partial<KeySettings> {
  const { label, versions, sections, commands, hide, may, ip_allow: ipAllow, expires_at: expiresAt } = request;
  return {
    ...(label !== undefined && { label }),
    ...(versions && { versions }),
    ...(sections && { sections: toSectionSet(sections) }),
    ...(commands && { commands: commands.map(toCommandName) }),
    ...(hide && { hide: toHiddenSet(hide) }),
    ...(may && { may: toAbilitySet(may) }),
    ...(ipAllow && { ipAllow }),
    ...(expiresAt !== undefined && { expiresAt }),
  };
}
