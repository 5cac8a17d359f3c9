// The values of the key form: made from a key, and turned into a request.
import type { Version } from "../../../core/api-key.ts";
import { SECTIONS, type Section } from "../../../core/sections.ts";
import type { KeyChange, KeyResource } from "../../api/admin.ts";
import { joinNames } from "./command-names-input.tsx";

const EVERY_COMMAND = "*";

/** Whether a key may send no command, only some, or all. */
export type CommandAccess = "none" | "some" | "all";

export type KeyFormValues = {
  readonly serverId: string;
  readonly label: string;
  readonly versions: readonly string[];
  readonly sections: readonly string[];
  readonly commandAccess: CommandAccess;
  readonly commandNames: readonly string[];
  /** In the input, and not added to the names yet. */
  readonly typedName: string;
  readonly addresses: string;
  /** The value of an input of the type datetime-local: local time to the minute, or "". */
  readonly expiresAt: string;
};

export function toFormValues(key: KeyResource): KeyFormValues {
  const isAll = key.commands.includes(EVERY_COMMAND);
  return {
    serverId: key.server_id,
    label: key.label,
    versions: key.versions,
    sections: key.sections,
    commandAccess: isAll ? "all" : key.commands.length > 0 ? "some" : "none",
    commandNames: key.commands.filter((name) => name !== EVERY_COMMAND),
    typedName: "",
    addresses: key.ip_allow.join("\n"),
    expiresAt: key.expires_at === null ? "" : toLocalInput(key.expires_at),
  };
}

export function toRights(values: KeyFormValues) {
  return {
    versions: values.versions as Version[],
    sections: SECTIONS.filter((name) => values.sections.includes(name)) as Section[],
    commands:
      values.commandAccess === "all"
        ? [EVERY_COMMAND]
        : values.commandAccess === "some"
          ? joinNames(values.commandNames, values.typedName)
          : [],
    ip_allow: values.addresses.split(/[\s,]+/).filter((entry) => entry !== ""),
    expires_at: values.expiresAt === "" ? null : new Date(values.expiresAt).getTime(),
  };
}

/** The fields that differ. An unchanged time is not sent, because the input has cut off its seconds. */
export function findChanges(start: KeyFormValues, values: KeyFormValues): KeyChange {
  const before = toRights(start);
  const after = toRights(values);
  const names = Object.keys(after) as (keyof typeof after)[];
  const changed = names.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
  return {
    ...Object.fromEntries(changed.map((name) => [name, after[name]])),
    ...(values.label.trim() !== start.label && { label: values.label.trim() }),
  };
}

/** Formats a time for an input of the type datetime-local. */
function toLocalInput(ms: number): string {
  const offsetMs = new Date(ms).getTimezoneOffset() * 60_000;
  return new Date(ms - offsetMs).toISOString().slice(0, 16);
}
