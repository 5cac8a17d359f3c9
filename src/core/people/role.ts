// Roles: what a person may do on a server. Five are there at first; they can be changed and never deleted.
import {
  ALL_ABILITIES,
  HIDES_JOIN_KEY,
  HIDES_NOTHING,
  NO_ABILITIES,
  type Rights,
  toAbilitySet,
} from "../keys/rights.ts";
import { ALL_SECTIONS } from "../sections.ts";

export const ROLES_MAX = 20;
export const ROLE_NAME_SHAPE = /^[a-z][a-z0-9-]{0,31}$/;
/** The role of a server's owners, when they may sign in by themselves. */
export const OWNER_ROLE = "manager";

export type Role = Rights & { readonly name: string; readonly title: string };

const HELPING = [":h", ":m", ":pm"];
/** The usual commands on one player. */
const MODERATING = [
  ...HELPING,
  ...[":kick", ":jail", ":unjail", ":tp", ":to", ":bring", ":heal", ":refresh", ":respawn", ":load"],
  ...[":wanted", ":unwanted", ":view", ":kill", ":down"],
];

export const FIRST_ROLES: readonly Role[] = [
  {
    name: "viewer",
    title: "Viewer",
    sections: ALL_SECTIONS,
    hide: HIDES_JOIN_KEY,
    commands: [],
    may: NO_ABILITIES,
  },
  {
    name: "trial",
    title: "Trial moderator",
    sections: ALL_SECTIONS,
    hide: HIDES_JOIN_KEY,
    commands: HELPING,
    may: toAbilitySet(["claim", "notes"]),
  },
  {
    name: "moderator",
    title: "Moderator",
    sections: ALL_SECTIONS,
    hide: HIDES_NOTHING,
    commands: MODERATING,
    may: toAbilitySet(["claim", "notes", "exports"]),
  },
  {
    name: "head",
    title: "Head moderator",
    sections: ALL_SECTIONS,
    hide: HIDES_NOTHING,
    commands: ["*"],
    may: toAbilitySet(["claim", "notes", "exports", "alerts"]),
  },
  {
    name: "manager",
    title: "Manager",
    sections: ALL_SECTIONS,
    hide: HIDES_NOTHING,
    commands: ["*"],
    may: ALL_ABILITIES,
  },
];

/** What an operator may do on every server. */
export const OPERATOR_RIGHTS: Rights = {
  sections: ALL_SECTIONS,
  hide: HIDES_NOTHING,
  commands: ["*"],
  may: ALL_ABILITIES,
};

export function isFirstRole(name: string): boolean {
  return FIRST_ROLES.some((role) => role.name === name);
}
